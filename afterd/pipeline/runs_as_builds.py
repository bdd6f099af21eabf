"""Whether a variant builds, asked of programs that show it only when they run.

Nothing builds a Python program before its test starts. Where the test failed because the rest needs
what was undone, the variant "does not build", and Algorithm 4 looks for what must go along. Each of
its questions is a test run then, which counts as one, so there are few of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from afterd.execution.oracle import Oracle
from afterd.model.change import ChangeSet
from afterd.model.outcome import Outcome, Unresolved, Verdict

Missing = Callable[[ChangeSet, Outcome], str]
"""What a variant's run failed for want of, read from its outcome; empty: it did build."""
_MOST = 3
"""One, two and four changes that go along. With eight runs and the search going on behind them,
attrs' releases took hundreds of questions that nothing could answer.
"""


def nothing_missing(reverted: ChangeSet, outcome: Outcome) -> str:  # noqa: ARG001 - it answers a Missing's question
    """The answer for programs whose build tells."""
    return ""


class RunsAsBuilds:
    """An oracle's answers, with what ``missing`` says of them; at most ``most`` runs ask for builds in
    vain, one after the other. One that finds the variant built is the run that was wanted anyway.
    """

    def __init__(self, oracle: Oracle, missing: Missing, most: int = _MOST) -> None:
        self._oracle = oracle
        self._missing = missing
        self._most = self._left = most

    def outcome(self, reverted: ChangeSet) -> Outcome:
        """The outcome; UNRESOLVED, does not build, where something is missing."""
        outcome = self._oracle.outcome(reverted)
        missing = self._missing(reverted, outcome)
        if not missing:
            return outcome
        return replace(outcome, verdict=Verdict.UNRESOLVED, reason=Unresolved.BUILD, detail=missing)

    def builds(self, reverted: ChangeSet) -> bool:
        """Whether the program can be built, and runs without missing anything; a test run."""
        if self._missing is nothing_missing:
            return self._oracle.builds(reverted)
        if self._left <= 0:
            return False
        outcome = self.outcome(reverted)
        built = outcome.built and outcome.reason is not Unresolved.NOT_RUN
        self._left = self._most if built else self._left - 1
        return built
