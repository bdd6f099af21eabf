"""The ranking of an explanation: its failing test against the tests of its suite that pass.

Most explanations are of a command that is one test: nothing of what counts a suite is imported for those.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from afterd.config import Settings
from afterd.errors import AfterdError
from afterd.execution.cache import key_of_test
from afterd.execution.failures.suites import ran_one_test
from afterd.limits import RANKING
from afterd.model.explanation import THE_BUILD, Explanation, Status
from afterd.model.outcome import FailureKind
from afterd.model.progress import Progress
from afterd.workspace import Range, Suite, Workspace, is_python_suite, is_uncounted_suite

if TYPE_CHECKING:
    from afterd.localization.votes import Counted

_EXPLAINED = frozenset([Status.EXPLAINED, Status.INCONCLUSIVE])
_GIVEN = (
    "No ranking of lines: a test command that is given is one test here; `afterd rank` counts it test"
    " by test, where it tells them apart."
)
_ALONE = "No ranking of lines: only one test was run, and a ranking compares failed tests with passed ones."
_NO_ROOM = "No ranking of lines: the budget has no room for counting the suite."


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
    suite: Suite
    progress: Progress
    tests: Sequence[str] = ()
    began: float = field(default_factory=time.monotonic)
    _counted: Counted | _Without | None = None  # None: nobody asked yet

    def ranked(self, explanation: Explanation, wanted: Range) -> Explanation:
        """The explanation of a test in ``wanted`` with its ranking, where one can be had."""
        if explanation.status not in _EXPLAINED or explanation.test == THE_BUILD:
            return explanation
        failure = explanation.failure
        if failure is not None and failure.kind is FailureKind.HANG:
            return explanation  # a run that does not end has no counts
        if is_uncounted_suite(self.suite):
            return explanation  # nobody misses what there is for two languages alone
        if self._counted is None:
            self._counted = self._count()
        if isinstance(self._counted, _Without):
            return replace(explanation, notes=(*explanation.notes, self._counted.reason))
        from afterd.localization.suite.explained import lines_ranked  # noqa: PLC0415 - counted already

        counted = replace(self._counted, wanted=wanted)
        return replace(explanation, ranking=lines_ranked(counted, explanation.test))

    def _count(self) -> Counted | _Without:
        spent = time.monotonic() - self.began
        budget = self.settings.budget.seconds or math.inf
        seconds = min(max(RANKING.least_seconds, spent), max(budget - spent, 0.0))
        hurried = _hurried(self.workspace, seconds)
        try:
            recipe = replace(self.suite.recipe, limits=hurried.limits)
            suite = replace(self.suite, recipe=recipe)
            if suite.found is None and not is_python_suite(suite):
                return _Without(_GIVEN)
            if self._ran_alone(suite):
                return _Without(_ALONE)
            if spent > RANKING.spare * budget:
                return _Without(_NO_ROOM)
            from afterd.localization.suite.counting import Counting  # noqa: PLC0415 - dear, and seldom needed
            from afterd.localization.suite.explained import counted_suite  # noqa: PLC0415

            counting = Counting(
                self.workspace.state,
                self.workspace.objects,
                self.progress,
                self.settings.jobs,
                until=time.monotonic() + seconds,
            )
            counted = counted_suite(hurried, suite, self.tree, self.tests, counting)
            return replace(counted, workspace=self.workspace)
        except AfterdError as error:
            return _Without(f"No ranking of lines: {error}")

    def _ran_alone(self, suite: Suite) -> bool:
        """Whether a run of this command that is known said that it was of one test."""
        known = self.workspace.remembered(str).get(key_of_test(suite.recipe, self.tree))
        return known is not None and ran_one_test(known.detail)


def _hurried(workspace: Workspace, seconds: float) -> Workspace:
    """The workspace with shorter limits: nobody waits for a ranking as for an answer."""
    limits = workspace.limits
    test = replace(limits.test, timeout=min(limits.test.timeout, seconds))
    build = replace(limits.build, timeout=min(limits.build.timeout, seconds))
    return replace(workspace, limits=replace(limits, test=test, build=build))
