"""Whether a variant builds, asked of programs that show it only when they run.

Nothing builds a Python program before its test starts. Where the test failed because the rest needs
what was undone, the variant "does not build", and Algorithm 4 looks for what must go along. Each of
its questions is a test run then, which counts as one, so there are few of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from afterd.causality.complaint import has_crashed
from afterd.execution.failures import native
from afterd.execution.oracle import Oracle
from afterd.model.change import NOTHING, ChangeSet
from afterd.model.outcome import Outcome, Unresolved, Verdict

Missing = Callable[[ChangeSet, Outcome], str]
"""What a variant's run failed for want of, read from its outcome; empty: it did build."""
Clashing = Callable[[ChangeSet, Outcome, Outcome], ChangeSet]
"""The changes that a variant's failure speaks of, read from its outcome and from the bad version's."""
_MOST = 3
"""One, two and four changes that go along. With eight runs and the search going on behind them,
attrs' releases took hundreds of questions that nothing could answer.
"""


Further = Callable[[Outcome, Outcome], bool]
"""Whether an outcome shows a failure that is later in the test than that of another."""


def never_further(outcome: Outcome, than: Outcome) -> bool:  # noqa: ARG001 - it answers a Further's question
    """The answer where failures do not tell how far the test came."""
    return False


def nothing_missing(reverted: ChangeSet, outcome: Outcome) -> str:  # noqa: ARG001 - it answers a Missing's question
    """The answer for programs whose build tells."""
    return ""


def nothing_clashes(reverted: ChangeSet, outcome: Outcome, bad: Outcome) -> ChangeSet:  # noqa: ARG001 - it answers a Clashing's question
    """The answer for programs whose failures name no lines."""
    return NOTHING


class RefusedVariantError(Exception):
    """A variant was not built for a ``warning`` alone: what is half undone leaves variables and functions that nobody
    uses, and whether these are errors says nothing of the test.
    """

    def __init__(self, warning: str) -> None:
        super().__init__(warning)
        self.warning = warning


class RunsAsBuilds:
    """An oracle's answers, with what ``missing`` says of them; at most ``most`` runs ask for builds in
    vain, one after the other. One that finds the variant built is the run that was wanted anyway.

    ``ends_on_warnings``: RefusedVariantError is raised where one is not built for a warning alone.
    """

    def __init__(
        self,
        oracle: Oracle,
        missing: Missing,
        clashing: Callable[[ChangeSet, Outcome], ChangeSet] = lambda _reverted, _outcome: NOTHING,
        further: Callable[[Outcome], bool] = lambda _outcome: False,
        most: int = _MOST,
        *,
        ends_on_warnings: bool = False,
    ) -> None:
        self._ends_on_warnings = ends_on_warnings
        self._oracle = oracle
        self._missing = missing
        self._clashes = clashing
        self._further = further
        self._came_further: set[ChangeSet] = set()
        self._clashing: dict[ChangeSet, ChangeSet] = {}
        self._most = self._left = most

    def outcome(self, reverted: ChangeSet) -> Outcome:
        """The outcome; UNRESOLVED, does not build, where something is missing and no line tells where. A build that
        ended as a program crashed that it had made, was a run: nobody is asked for what goes along (QuickJS).
        """
        return self._read(reverted, self._oracle.outcome(reverted))

    def outcomes(self, candidates: Sequence[ChangeSet]) -> list[Outcome]:
        """The outcomes of several variants, tried side by side."""
        return [
            self._read(reverted, outcome)
            for reverted, outcome in zip(candidates, self._oracle.outcomes(candidates), strict=True)
        ]

    def _read(self, reverted: ChangeSet, outcome: Outcome) -> Outcome:
        if outcome.reason is Unresolved.BUILD:
            self._see_warnings(outcome.detail)
        if outcome.reason is Unresolved.BUILD and has_crashed(outcome.detail):
            return replace(outcome, reason=Unresolved.DIFFERENT_FAILURE)
        self._clashing[reverted] = self._clashes(reverted, outcome)
        if self._further(outcome):
            self._came_further.add(reverted)
        missing = self._missing(reverted, outcome)
        if not missing or self._clashing[reverted]:
            return outcome
        return replace(outcome, verdict=Verdict.UNRESOLVED, reason=Unresolved.BUILD, detail=missing)

    def _see_warnings(self, said: str) -> None:
        """Raises RefusedVariantError where that is wanted and a build ``said`` nothing but warnings."""
        if self._ends_on_warnings and (warning := native.refused_for_warnings(said)):
            raise RefusedVariantError(warning.strip())

    def clashing(self, reverted: ChangeSet) -> ChangeSet:
        """The changes that a variant's run, which was made, clashed with; empty: not known."""
        return self._clashing.get(reverted, NOTHING)

    def came_further(self, reverted: ChangeSet) -> bool:
        """Whether a variant, which was run, failed later in the test than the bad version."""
        return reverted in self._came_further

    def refused(self, reverted: ChangeSet) -> str:
        """What the build said against a variant that was built in vain; empty where a run tells."""
        return self._oracle.refused(reverted) if self._missing is nothing_missing else ""

    def builds(self, reverted: ChangeSet) -> bool:
        """Whether the program can be built, and runs without missing anything; a test run."""
        if self._missing is nothing_missing:
            built = self._oracle.builds(reverted)
            if not built:
                self._see_warnings(self._oracle.refused(reverted))
            return built
        if self._left <= 0:
            return False
        outcome = self.outcome(reverted)
        built = outcome.built and outcome.reason is not Unresolved.NOT_RUN
        self._left = self._most if built else self._left - 1
        return built
