"""What an answer's changes, undone, do to other tests: those that they repair, and those that they spoil.

Undoing what a feature rests on can make a test of that feature pass. Tests that pass at both ends tell
such a repair from a real one: they pass with the real one as well.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from afterd.execution.failures.text import without_values
from afterd.execution.failures.values import told_failure
from afterd.execution.told import THE_END
from afterd.limits import REPORT
from afterd.model.change import ChangeSet
from afterd.model.outcome import Verdict
from afterd.model.progress import Progress
from afterd.model.wording import first_names
from afterd.pipeline.older_tests import telling_line
from afterd.pipeline.suite_run import run_tests
from afterd.workspace import Range, Suite, Workspace, file_of_test

_TRYING = "trying the answer on other tests"


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Tests that broke and pass with the changes undone; tests that pass at both ends and fail then."""

    repaired: tuple[str, ...] = ()
    spoiled: tuple[str, ...] = ()

    def note(self) -> str:
        """A sentence on what is spoiled; empty where nothing is."""
        if not self.spoiled:
            return ""
        fail, needed = "1 test that passes at both ends fails", "it needs"
        if len(self.spoiled) > 1:
            fail = f"{len(self.spoiled)} tests that pass at both ends fail"
            needed = "they need"
        return (
            f"With this undone {fail} ({first_names(self.spoiled, REPORT.named)}): it takes away what {needed}, and the"
            " defect may be elsewhere."
        )


def outcomes_elsewhere(
    workspace: Workspace,
    wanted: Range,
    suite: Suite,
    reverted: ChangeSet,
    test: str,
    broken: Sequence[str],
    green: Collection[str],
    progress: Progress,
) -> Elsewhere:
    """One run of the other ``broken`` tests and of those in the file of ``test`` that were ``green`` at the
    bad version, with ``reverted`` undone; another of what fails there, at the good version.

    Where the runner does not report each test as it ends, of the ``broken`` ones alone, if they are several: a single
    one is asked by itself, and has a story of its own.
    """
    if suite.found is None:
        return Elsewhere()
    if not suite.found.reported:
        several = broken if len(broken) > 1 else ()
        tree = wanted.variants.tree(reverted)
        return Elsewhere(_passing(workspace, suite, tree, several, progress))
    neighbours = [name for name in sorted(green) if file_of_test(name) == file_of_test(test)]
    neighbours = neighbours[: workspace.limits.search.neighbours]
    names = [*broken, *neighbours]
    if not names:
        return Elsewhere()
    progress.stage(_TRYING, f"{len(names)} of them")
    seen = run_tests(workspace, suite, wanted.variants.tree(reverted), progress, names)
    passed = seen.green or frozenset()
    spoiled = [name for name in neighbours if name in seen.red]
    if spoiled:
        good = wanted.variants.tree(wanted.everything)
        both = run_tests(workspace, suite, good, progress, spoiled).green or frozenset()
        spoiled = [name for name in spoiled if name in both]
    return Elsewhere(tuple(name for name in broken if name in passed), tuple(spoiled))


def repaired_in_part(
    workspace: Workspace,
    part: Range,
    suite: Suite,
    reverted: ChangeSet,
    red: Mapping[str, str],
    progress: Progress,
) -> Elsewhere:
    """Those of the ``red`` tests, with what each says at the bad version, that are red and say so at the bad end of a
    part of the range as well, and pass there with ``reverted`` undone: an answer that a bisection left is theirs too.
    Two runs of them, and of one test, that is asked by itself, none: it has a story of its own.
    """
    asked = suite.found is not None and (suite.found.reported or len(red) > 1)
    if not red or not asked:
        return Elsewhere()
    progress.stage(_TRYING, f"{len(red)} of them")
    seen = run_tests(workspace, suite, part.variants.bad, progress, list(red)).red
    alike = [
        name for name, said in red.items() if name in seen and _says(said) == _says(seen[name])
    ]
    if not alike:
        return Elsewhere()
    if suite.found is not None and suite.found.reported:
        after = run_tests(workspace, suite, part.variants.tree(reverted), progress, alike)
        return Elsewhere(tuple(name for name in alike if name in (after.green or ())))
    return Elsewhere(_passing(workspace, suite, part.variants.tree(reverted), alike, progress))


def _says(said: str) -> str:
    """What a failed test said, as it is compared with another version's words: no values, as those may be others."""
    told = told_failure(said)
    return without_values(told.message if told and told.message else telling_line(said))


def _passing(
    workspace: Workspace, suite: Suite, tree: str, names: Sequence[str], progress: Progress
) -> tuple[str, ...]:
    """Those of several tests that pass in a version, by one run; where the runner names only what fails, those that it
    does not name. None where it came to no end.
    """
    if not names:
        return ()
    progress.stage(_TRYING, f"{len(names)} of them")
    seen = run_tests(workspace, suite, tree, progress, names)
    ended = seen.attempt.outcome.verdict is not Verdict.UNRESOLVED
    if not ended or not seen.red.keys().isdisjoint({suite.recipe.test_id, THE_END}):
        return ()
    green = set(names) - seen.red.keys() if seen.green is None else seen.green
    return tuple(name for name in names if name in green)
