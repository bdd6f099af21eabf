"""``afterd rank`` on a repository: count a suite test by test, and rank its lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from afterd.config import Settings, command_line
from afterd.errors import AfterdError, TestError, TraceError, UsageError
from afterd.localization.examination import Line
from afterd.localization.spectrum import Entity, Spectrum
from afterd.localization.suite.c_suite import NothingCountedError, counted_spectrum
from afterd.localization.suite.counting import Counting, Ran, tell_nobody
from afterd.localization.suite.python_suite import python_counts, python_spectrum
from afterd.localization.suite.spectrum import narrowed_spectrum
from afterd.localization.votes import (
    FUSED,
    VOTERS,
    Counted,
    Memory,
    NoVoteError,
    RankedPlace,
    VoteOptions,
    changed_lines,
    emit,
    ranked_lines,
    voted,
)
from afterd.model.change import FileKind
from afterd.model.progress import Progress
from afterd.store.suite_rankings import SuiteRanking, save_ranking
from afterd.vcs.kinds import kind_of
from afterd.vcs.repository import resolve
from afterd.vcs.trees import TreeReader
from afterd.workspace import (
    Suite,
    Workspace,
    is_python_suite,
    is_uncounted_suite,
    opened_workspace,
    suite_of,
    wanted_range,
)

Rankings = Mapping[str, Sequence[RankedPlace]]


@dataclass(frozen=True, slots=True)
class RankRequest:
    """What ``afterd rank`` was asked for beside the settings.

    ``techniques`` are names of VOTERS; one that lacks something is left out, and it is an error where none is
    left, unless all there are were asked for (``optional``). ``in_range``: a range was given, its changes come first.
    ``emit``: where generated tests are written, in which ``form`` (empty: the usual one); ``options`` are the voters'.
    """

    techniques: tuple[str, ...]
    optional: bool = False
    in_range: bool = False
    jobs: int = 1
    bits: int = 32
    each: str = ""
    ran: Ran = tell_nobody
    emit: Path | None = None
    form: str = ""
    options: VoteOptions = field(default_factory=VoteOptions)


@dataclass(frozen=True, slots=True, eq=False)
class RankedSuite:
    """The answer; ``id`` is the store's. Without a failed test there are no rankings."""

    id: int
    suite: str
    good: str
    bad: str
    spectrum: Spectrum
    rankings: Rankings
    lacking: Mapping[str, str]
    notes: tuple[str, ...] = ()


def rank_suite(settings: Settings, request: RankRequest, progress: Progress) -> RankedSuite:
    """Count the suite of the bad version (HEAD where no range is given), rank, and store it.

    Raises the AfterdError leaf that says why nothing can be ranked.
    """
    with opened_workspace(settings, doing="ranks lines", waiting=progress) as workspace:
        wanted = wanted_range(workspace, settings) if request.in_range else None
        head = str(resolve(workspace.repository, "HEAD"))
        bad = wanted.revisions.bad if wanted else head
        tree = wanted.variants.bad if wanted else str(workspace.repository[head].tree.id)
        suite = suite_of(workspace, settings, tree, progress)
        counting = Counting(
            workspace.state,
            workspace.objects,
            progress,
            request.jobs,
            request.bits,
            request.each,
            request.ran,
        )
        spectrum = suite_spectrum(workspace, suite, tree, counting)
        with closing(Memory()) as memory:
            counted = Counted(
                workspace, suite, tree, spectrum, bad, wanted, request.options, memory
            )
            rankings, lacking = rankings_of(counted, request)
            said = _said_of_fusion(rankings, counted)
            emitted = () if request.emit is None else (emit(counted, request.emit, request.form),)
        found = RankedSuite(
            0,
            command_line(suite.recipe.test),
            wanted.revisions.good if wanted else "",
            bad,
            spectrum,
            rankings,
            lacking,
            (*_notes(spectrum), *said, *emitted),
        )
        return replace(
            found, id=save_ranking(workspace.store, workspace.name, _stored_ranking(found))
        )


def suite_spectrum(workspace: Workspace, suite: Suite, tree: str, counting: Counting) -> Spectrum:
    """The spectrum of a suite at a version, without the tests' own files.

    Raises TestError where fewer than two tests were told apart.
    """
    program = _of_program(workspace, _counted_spectrum(workspace, suite, tree, counting))
    if not program.units.size and suite.recipe.build and is_python_suite(suite):
        with suppress(NothingCountedError):  # nor do Python's tests start what was built
            program = _of_program(workspace, counted_spectrum(suite, tree, counting))
    if len(program.runs) < 2:
        if is_python_suite(suite):
            raise TestError(
                "Only one test was run: a ranking compares failed tests with passed ones."
            )
        raise TestError(
            f"Only one test could be told apart ({command_line(suite.recipe.test)}): a ranking"
            " compares failed tests with passed ones. Let the suite report each test (TAP, or lines"
            " such as `PASS: name`), or give --each PATTERN to run it file by file."
        )
    if not program.units.size:
        raise TestError(
            "The tests executed no statement outside test files: nothing can be ranked."
        )
    return program


def _of_program(workspace: Workspace, spectrum: Spectrum) -> Spectrum:
    """Without the tests' own files."""

    def is_program(entity: Entity) -> bool:
        return kind_of(entity.location.file, workspace.rules) is not FileKind.TEST

    return narrowed_spectrum(spectrum, is_program)


def _counted_spectrum(
    workspace: Workspace, suite: Suite, tree: str, counting: Counting
) -> Spectrum:
    """By the language of the suite; a given command that runs no C may start Python somewhere."""
    if suite.found is not None and is_uncounted_suite(suite):
        raise TestError(
            f"The tests that were found are {suite.found.runner}'s: only C, C++ and Python can be"
            " ranked."
        )
    if is_python_suite(suite):
        return python_spectrum(python_counts(workspace, suite, tree, counting))
    try:
        return counted_spectrum(suite, tree, counting)
    except NothingCountedError as nothing:
        if suite.found is not None:
            raise
        try:
            return python_spectrum(python_counts(workspace, suite, tree, counting))
        except TraceError:  # nor does it: the first sentence says more
            raise nothing from None


def rankings_of(counted: Counted, request: RankRequest) -> tuple[Rankings, Mapping[str, str]]:
    """The lines by technique, and what the techniques that could not rank lack.

    Where none of those that were asked for by name can rank, raises what the first one lacks.
    """
    lacks = {name: VOTERS[name].lacks(counted) for name in request.techniques}
    lacking = {name: what for name, what in lacks.items() if what}
    if not counted.spectrum.failed.any():
        return {}, lacking
    changed = changed_lines(counted.wanted.changes.live) if counted.wanted else {}
    text = source_text(counted.workspace, counted.tree)
    refused: list[AfterdError] = [
        UsageError(f"{name} needs {what}, which this suite does not have.")
        for name, what in lacking.items()
    ]
    rankings = {}
    for name in request.techniques:
        if name in lacking:
            continue
        try:
            rankings[name] = ranked_lines(
                counted.spectrum, voted(name, VOTERS[name], counted), changed, text
            )
        except NoVoteError as nothing:
            refused.append(nothing)
            lacking[name] = f"a vote, and has none: {nothing}"
    if refused and not rankings and not request.optional:
        raise refused[0]
    return rankings, lacking


def _said_of_fusion(rankings: Rankings, counted: Counted) -> tuple[str, ...]:
    """Which techniques the fusion has no vote of, and why; which have a part of one."""
    if FUSED not in rankings:
        return ()
    votes = voted(FUSED, VOTERS[FUSED], counted)
    missing = (f"{FUSED} has no vote of {name}: {why}." for name, why in votes.missing.items())
    parts = (
        f"{FUSED} counts {share:.1%} of the vote of {name}, which is about so much of the failed tests' runs;"
        " the techniques that are about more of them have the rest."
        for name, share in votes.shares.items()
    )
    return (*missing, *parts)


class _Text:
    """Source lines of a version, each file read once."""

    def __init__(self, workspace: Workspace, tree: str) -> None:
        reader = TreeReader(workspace.objects)

        @cache
        def lines(path: str) -> list[str]:
            entry = reader.lookup(tree, path.encode(errors="surrogateescape"))
            if entry is None or not entry.is_file:
                return []  # a generated file is in no tree
            return reader.read(entry.id).decode(errors="replace").splitlines()

        self._lines = lines

    def __call__(self, line: Line) -> str:
        """The text of a line, stripped; empty where it is not known."""
        file, number = line
        lines = self._lines(file)
        return lines[number - 1].strip() if 0 < number <= len(lines) else ""


def source_text(workspace: Workspace, tree: str) -> _Text:
    """The source lines of a version."""
    return _Text(workspace, tree)


def _notes(spectrum: Spectrum) -> tuple[str, ...]:
    if spectrum.failed.all():
        return (
            "No test passed: what all failed tests executed is equally suspicious to most techniques.",
        )
    return ()


def _stored_ranking(found: RankedSuite) -> SuiteRanking:
    return SuiteRanking(
        good=found.good,
        bad=found.bad,
        suite=found.suite,
        tests=len(found.spectrum.runs),
        failed=int(found.spectrum.failed.sum()),
        entities=len(found.spectrum.entities),
        notes=found.notes,
        lines={name: tuple(places) for name, places in found.rankings.items()},
    )
