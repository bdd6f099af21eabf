"""``afterd bench formula DIR``: the experiment of Jin and Orso on a folder of faulty versions.

Same layout as ``afterd bench siemens``. Every version's failing tests are explained by BugAssist
and on-demand formulas, with and without clause weights, and by CONBAS's reduced slices; Ochiai ranks
the same tests' spectrum. The fusion is that of ``afterd rank``, but for the loop: there is no range.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from afterd.bench.formula_work import Watched, Work, mean_work
from afterd.bench.siemens import faulty_versions
from afterd.bench.siemens_layout import Sources, Subject
from afterd.execution.toolchain import Toolchain
from afterd.limits import FormulaLimits
from afterd.localization.examination import Line
from afterd.localization.formula.bugassist import bugassist
from afterd.localization.formula.clause_weighting import clause_weights
from afterd.localization.formula.conbas import ReducedSlice, combined_slices, conbas, ranked_slices
from afterd.localization.formula.on_demand import on_demand
from afterd.localization.formula.report import Report, mean_covered, places
from afterd.localization.formula.several_inputs import (
    allotted,
    combined_places,
    explained_runs,
    ranked_inputs,
    ruled_out,
)
from afterd.localization.fusion import Shares, Votes, fused_lines, heard, place_of
from afterd.localization.siemens import FaultyVersion
from afterd.localization.techniques import TECHNIQUES
from afterd.localization.votes import BOUNDS, PARTS, line_votes
from afterd.logic import Corrections, Diagnosis, MaxSat
from afterd.symbolic import FailingRun, Input, NotFollowedError, Program, TooLongError, load

FORMULAS = ("BA", "BA+CW", "OFC", "OFC+CW")
_VOTING = {"BA+CW": "bugassist-cw", "OFC+CW": "ofc-cw"}
CONBAS = "CONBAS"
_C = frozenset([".c"])


@dataclass(frozen=True, slots=True)
class FormulaOptions:
    """``inputs`` failing tests a version, the shortest (0: as ``FormulaLimits`` says); ``seconds`` of CPU
    time that a technique has for all of a version's inputs.
    """

    inputs: int = 0
    seconds: float = 20.0
    jobs: int = 1

    @property
    def limits(self) -> FormulaLimits:
        """How many inputs."""
        if not self.inputs:
            return FormulaLimits()
        return FormulaLimits(inputs=self.inputs, instructions=1 << 62)


@dataclass(frozen=True, slots=True)
class Explained:
    """One technique on one version: the place of the fault (None: not reported) and its cost.

    ``seconds`` is CPU time a failing input, ``work`` what was done in it; ``iterations`` of OFC; ``agrees``
    whether OFC's sets are BugAssist's, as far as both are known; ``said`` why an answer is missing or
    not complete; ``whole`` whether all single statements are known that repair the inputs on any path of their whole
    runs: that takes longer than to ask about a run's end, about few paths, or until the time is up.
    """

    rank: float | None
    seconds: float
    iterations: float = 0.0
    reported: int = 0
    agrees: bool | None = None
    said: str = ""
    work: Work = field(default_factory=Work)
    whole: bool = False


@dataclass(frozen=True, slots=True)
class VersionResult:
    """All techniques on one version of a ``program``. ``votes`` and ``shares`` are what the fusion was made
    from, which is that of ``afterd rank``; ``ruled_out`` are the lines of a technique that it does not hear of.
    """

    version: str
    techniques: Mapping[str, Explained]
    failing: int
    lines: int
    faulty: frozenset[Line] = frozenset()
    votes: Votes = field(default_factory=dict)
    left_out: str = ""
    program: str = ""
    shares: Shares = field(default_factory=dict)
    ruled_out: Mapping[str, frozenset[Line]] = field(default_factory=dict)

    @property
    def heard(self) -> Votes:
        """The votes in a fusion."""
        return {
            name: heard(scores, self.ruled_out.get(name, ())) for name, scores in self.votes.items()
        }


def formula_results(
    found: Subject, toolchain: Toolchain, scratch: Path, options: FormulaOptions
) -> Generator[VersionResult]:
    """Every version, in order; closing it ends the tests that are under way."""
    with closing(faulty_versions(found, toolchain, scratch, options.jobs)) as versions:
        yield from _results_of(versions, found, toolchain, scratch, options)


def _results_of(
    versions: Iterator[FaultyVersion],
    found: Subject,
    toolchain: Toolchain,
    scratch: Path,
    options: FormulaOptions,
) -> Iterator[VersionResult]:
    goldens: dict[Sources, Program] = {}
    for at, (sources, version) in enumerate(zip(found.versions, versions, strict=True)):
        if not version.spectrum.failed.any():
            yield VersionResult(version.name, {}, 0, 0, left_out="no test reveals the fault")
            continue
        if sources.golden not in goldens:
            tree = scratch / f"formula-golden-{at}"
            goldens[sources.golden] = program_in(sources.golden, toolchain, tree, found.flags)
        faulty = program_in(sources.faulty, toolchain, scratch / f"formula-{at}", found.flags)
        yield _version(found, version, goldens[sources.golden], faulty, options)


def program_in(
    sources: Sources, toolchain: Toolchain, tree: Path, flags: Sequence[str] = ()
) -> Program:
    """The program of a version, laid into ``tree``."""
    sources.lay(tree)
    files = sorted(file for file in tree.iterdir() if file.suffix in _C)
    return replace(load(files, toolchain, tree, flags=flags), bounds=BOUNDS)


def input_of(test: str, folder: Path) -> Input:
    """A line of the universe: arguments, and the file behind ``<``."""
    words = shlex.split(test)
    if "<" not in words:
        return Input(tuple(words), folder=folder)
    at = words.index("<")
    given = (folder / words[at + 1]).read_bytes()
    return Input(tuple(words[:at] + words[at + 2 :]), given, folder=folder)


def _version(
    found: Subject,
    version: FaultyVersion,
    golden: Program,
    faulty: Program,
    options: FormulaOptions,
) -> VersionResult:
    spectrum = version.spectrum
    suspicion = line_votes(spectrum, TECHNIQUES["ochiai"](spectrum)).scores
    lines = len(suspicion)
    weights = clause_weights(suspicion)
    ochiai = places({line: -score for line, score in suspicion.items()})
    failing = [run.name for run in spectrum.shortest_failed]
    runs, refused = failing_runs(found, failing, golden, faulty, options.limits)
    results = {"Ochiai": Explained(_first_place(ochiai, version.faulty), 0.0, reported=lines)}
    votes: dict[str, Mapping[Line, float]] = {
        name: line_votes(spectrum, TECHNIQUES[name](spectrum)).scores
        for name in PARTS
        if name in TECHNIQUES
    }
    shares: dict[str, float] = {}
    refuted: dict[str, frozenset[Line]] = {}
    reports: dict[str, list[Report]] = {}
    for name in FORMULAS:
        technique = bugassist if name.startswith("BA") else on_demand
        reports[name], work = _reports(technique, runs, weights if "CW" in name else None, options)
        named = combined_places(reports[name])
        if name in _VOTING:
            votes[_VOTING[name]] = {line: -place for line, place in named.items()}
            shares[_VOTING[name]] = mean_covered(reports[name])
            refuted[_VOTING[name]] = ruled_out(ranked_inputs(reports[name]))
        agrees = _agree(reports["BA"], reports[name]) if name == "OFC" else None
        results[name] = Explained(
            _first_place(places(named), version.faulty), work.seconds,
            sum(len(r.history) for r in reports[name]) / max(1, len(runs)),
            len(named), agrees, refused or "; ".join(dict.fromkeys(r.reason for r in reports[name] if r.reason)),
            work, bool(named) and all(r.finished for r in reports[name]),
        )  # fmt: skip
    slices, seconds = _reduced_slices(runs, options)
    named = combined_slices(slices)
    votes["conbas"] = {line: -place for line, place in named.items()}
    shares["conbas"] = mean_covered(slices)
    refuted["conbas"] = ruled_out(ranked_slices(slices))
    place = _first_place(places(named), version.faulty)
    results[CONBAS] = Explained(place, seconds, reported=len(named))
    result = VersionResult(
        version.name,
        results,
        len(failing),
        lines,
        version.faulty,
        votes,
        shares=shares,
        ruled_out=refuted,
    )
    place = place_of(fused_lines(result.heard, shares=shares), version.faulty, float(lines))
    results["fused"] = Explained(place, 0.0, reported=lines)
    return result


def failing_runs(
    found: Subject, tests: Sequence[str], golden: Program, faulty: Program, limits: FormulaLimits
) -> tuple[list[FailingRun], str]:
    """Failing tests that can be followed in both versions, as many as the limits say; why others not."""
    refused: dict[str, None] = {}
    followed = _followed_runs(found, tests[: limits.tried], golden, faulty, refused)
    runs = explained_runs(followed, limits)
    return runs, "" if runs else "; ".join(refused) or "its failing tests do not fail when executed"


def _followed_runs(
    found: Subject,
    tests: Sequence[str],
    golden: Program,
    faulty: Program,
    refused: dict[str, None],
) -> Iterator[FailingRun]:
    """The tests that can be followed and fail; why others cannot is noted in ``refused``."""
    for test in tests:
        given = input_of(test, found.folder)
        try:
            expectation = golden.run(given).expectation
        except NotFollowedError as reason:
            refused[f"the golden version cannot be followed: {reason}"] = None
            continue
        run = FailingRun(faulty, given, expectation)
        try:
            fails = run.length and run.shown is not None and run.shown.fails(expectation)
        except TooLongError as reason:  # and so are those that follow
            refused[f"it cannot be followed: {reason}"] = None
            return
        except NotFollowedError as reason:
            refused[f"it cannot be followed: {reason}"] = None
            continue
        if fails:
            yield run


def _reports(
    technique: Callable[..., Report],
    runs: Sequence[FailingRun],
    weights: Mapping[Line, int] | None,
    options: FormulaOptions,
) -> tuple[list[Report], Work]:
    """A report an input, and the mean of what was done."""
    found: list[Report] = []
    works: list[Work] = []

    def spent() -> float:
        return time.process_time() + sum(work.solving for work in works)

    for run, seconds, at_last in allotted(runs, options.seconds, spent):
        with Corrections() as solver:
            solver.begin(seconds, at_last)
            began = time.process_time()
            watched = Watched(_own_run(run, solver))
            found.append(technique([watched], solver, weights))
            own = time.process_time() - began
        works.append(
            Work(
                run.length, found[-1].instructions, watched.instructions, found[-1].clauses,
                solver.calls, watched.seconds, own - watched.seconds, solver.seconds,
            )
        )  # fmt: skip
    return found, mean_work(works)


def _own_run(run: FailingRun, solver: Corrections) -> FailingRun:
    """The same input for one technique, with its solver's time: it may ask for less of the run."""
    return FailingRun(run.program, run.given, run.expectation, over=lambda: solver.over)


def _reduced_slices(
    runs: Sequence[FailingRun], options: FormulaOptions
) -> tuple[list[ReducedSlice], float]:
    """Each input's reduced slice, and the mean CPU time."""
    found = []
    solvers: list[Corrections] = []

    def spent() -> float:
        return time.process_time() + sum(solver.seconds for solver in solvers)

    began = spent()
    for run, seconds, _ in allotted(runs, options.seconds, spent):
        with Corrections() as solver, closing(MaxSat()) as hitting:
            solvers.append(solver)
            solver.begin(seconds)
            found.append(conbas(_own_run(run, solver), solver, hitting))
    return found, (spent() - began) / max(1, len(runs))


def _agree(every: Sequence[Report], few: Sequence[Report]) -> bool | None:
    """Whether two techniques gave the same sets, up to the size to which both are complete."""
    compared = None
    for left, right in zip(every, few, strict=True):
        size = min(left.finished, right.finished)
        if size and left.diagnoses and right.diagnoses:
            compared = (compared is not False) and _up_to(left, size) == _up_to(right, size)
    return compared


def _up_to(report: Report, size: int) -> frozenset[frozenset[Line]]:
    def lines(diagnosis: Diagnosis) -> frozenset[Line]:
        return frozenset(statement.line for statement in diagnosis)

    return frozenset(lines(d) for d in report.diagnoses if len(d) <= size)


def _first_place(found: Mapping[Line, float], faulty: frozenset[Line]) -> float | None:
    return min((found[line] for line in faulty if line in found), default=None)
