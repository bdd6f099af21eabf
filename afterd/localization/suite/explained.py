"""The ranking of an explanation: its failing test against the tests of its suite that pass."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from afterd.config import Settings
from afterd.errors import AfterdError, TestError
from afterd.execution.cache import key_of_test
from afterd.execution.failures.suites import ran_one_test
from afterd.localization.spectrum import Spectrum, spectrum_of
from afterd.localization.suite.counting import Counting
from afterd.localization.suite.python_suite import is_python
from afterd.localization.suite.repository import source_text, suite_spectrum
from afterd.localization.votes import VOTERS, Counted, changed_lines, ranked_lines
from afterd.model.explanation import Explanation, RankedLine, Status
from afterd.model.outcome import FailureKind
from afterd.model.progress import Progress
from afterd.workspace import Range, Suite, Workspace, suite_of

SHOWN = 20
"""Lines of an explanation's ranking, at most."""

ORDERED_BY = "ochiai"
_VOTING = (ORDERED_BY, "tarantula", "blockrank")
_EXPLAINED = frozenset([Status.EXPLAINED, Status.INCONCLUSIVE])
_GIVEN = (
    "No ranking of lines: a test command that is given is one test here; `afterd rank` counts it test"
    " by test, where it tells them apart."
)
_ALONE = "No ranking of lines: only one test was run, and a ranking compares failed tests with passed ones."
_LEAST_SECONDS = 30.0
"""A suite may be counted for this long; or, if that is more, for as long as the answer took."""
_SPARE = 0.5  # of the budget; with less left the suite is not counted


@dataclass(frozen=True, slots=True)
class _Without:
    """No ranking, and the sentence that says why."""

    reason: str


@dataclass(slots=True)
class Ranker:
    """Ranks for the explanations of one version; its suite is counted once, when first asked for.

    Where the runner can choose, the test files of the failing ``tests`` are counted, and the whole suite
    only where nothing passes in them: an answer does not wait for a suite that was run already.
    A test command that was given is one test, so there is nothing to compare it with, except where
    it is a Python suite. What cannot be ranked says so in the explanation's notes. Counting ends
    within the budget of ``settings``, which is spent from ``began``.
    """

    workspace: Workspace
    settings: Settings
    tree: str
    progress: Progress
    tests: Sequence[str] = ()
    began: float = field(default_factory=time.monotonic)
    _counted: Counted | _Without | None = None  # None: nobody asked yet

    def ranked(self, explanation: Explanation, wanted: Range) -> Explanation:
        """The explanation of a test in ``wanted`` with its ranking, where one can be had."""
        if explanation.status not in _EXPLAINED:
            return explanation
        failure = explanation.failure
        if failure is not None and failure.kind is FailureKind.HANG:
            return explanation  # a run that does not end has no counts
        if self._counted is None:
            self._counted = self._count()
        if isinstance(self._counted, _Without):
            return replace(explanation, notes=(*explanation.notes, self._counted.reason))
        counted = replace(self._counted, wanted=wanted)
        return replace(explanation, ranking=_ranking(counted, explanation.test))

    def _count(self) -> Counted | _Without:
        spent = time.monotonic() - self.began
        budget = self.settings.budget.seconds or math.inf
        if spent > _SPARE * budget:
            return _Without("No ranking of lines: the budget has no room for counting the suite.")
        seconds = min(max(_LEAST_SECONDS, spent), budget - spent)
        hurried = _hurried(self.workspace, seconds)
        try:
            suite = suite_of(hurried, self.settings, self.tree, self.progress)
            if suite.found is None and not is_python(suite):
                return _Without(_GIVEN)
            if self._ran_alone(suite):
                return _Without(_ALONE)
            counting = Counting(
                self.workspace.state,
                self.workspace.objects,
                self.progress,
                self.settings.jobs,
                until=time.monotonic() + seconds,
            )
            near = self._of_some(hurried, suite, counting)
            spectrum = near or suite_spectrum(hurried, suite, self.tree, counting)
        except AfterdError as error:
            return _Without(f"No ranking of lines: {error}")
        if spectrum.failed.all() or not spectrum.failed.any():
            outcome = "failed" if spectrum.failed.all() else "passed"
            return _Without(f"No ranking of lines: all tests that were counted {outcome}.")
        return Counted(self.workspace, suite, self.tree, spectrum)

    def _ran_alone(self, suite: Suite) -> bool:
        """Whether a run of this command that is known said that it was of one test."""
        known = self.workspace.remembered(str).get(key_of_test(suite.recipe, self.tree))
        return known is not None and ran_one_test(known.detail)

    def _of_some(self, workspace: Workspace, suite: Suite, counting: Counting) -> Spectrum | None:
        """Of the failing tests' own files alone; None where nothing can be told from that."""
        some = _beside(suite, self.tests)
        if some == suite:
            return None
        try:
            spectrum = suite_spectrum(workspace, some, self.tree, counting)
        except TestError:  # one test alone, say
            return None
        told_apart = spectrum.failed.any() and not spectrum.failed.all()
        return spectrum if told_apart else None


def _beside(suite: Suite, tests: Sequence[str]) -> Suite:
    """Of a suite the test files of ``tests``, where its runner can choose them."""
    files = dict.fromkeys(test.partition("::")[0] for test in tests)
    if suite.found is None or not suite.found.reported or not all("::" in test for test in tests):
        return suite
    return replace(suite, recipe=replace(suite.recipe, test=(*suite.recipe.test, *files)))


def _hurried(workspace: Workspace, seconds: float) -> Workspace:
    """The workspace with shorter limits: nobody waits for a ranking as for an answer."""
    limits = workspace.limits
    test = replace(limits.test, timeout=min(limits.test.timeout, seconds))
    build = replace(limits.build, timeout=min(limits.build.timeout, seconds))
    return replace(workspace, limits=replace(limits, test=test, build=build))


def _ranking(counted: Counted, test: str) -> tuple[RankedLine, ...]:
    spectrum = against_passed(counted.spectrum, test)
    alone = replace(counted, spectrum=spectrum)
    votes = {name: VOTERS[name](alone) for name in _VOTING if not VOTERS[name].lacks(alone)}
    wanted = counted.wanted
    changed = changed_lines(wanted.changes.live) if wanted is not None else {}
    text = source_text(counted.workspace, counted.tree)
    places = ranked_lines(spectrum, votes[ORDERED_BY], changed, text)
    return tuple(
        RankedLine(
            place.file,
            place.line,
            place.score,
            {
                name: given.scores[place.file, place.line]
                for name, given in votes.items()
                if (place.file, place.line) in given.scores
            },
            place.text,
        )
        for place in places[:SHOWN]
        if place.score > 0
    )


def against_passed(spectrum: Spectrum, test: str) -> Spectrum:
    """The passed runs and one failed; all failed ones where none has that name."""
    named = [run.failed and run.name == test for run in spectrum.runs]
    if not any(named):
        return spectrum
    rows = np.flatnonzero(np.array(named) | ~spectrum.failed)
    return spectrum_of(
        [spectrum.runs[row] for row in rows],
        spectrum.entities,
        spectrum.executed[rows],
        spectrum.held[rows],
    )
