"""One failing test under explanation, and what it said of itself."""

from __future__ import annotations

import time
from dataclasses import dataclass

from afterd.config import Budget, Settings
from afterd.execution.executors.builds_told import BuildsTold
from afterd.execution.failures.values import told_failure
from afterd.execution.flakiness import Prior
from afterd.execution.oracle import Oracle
from afterd.model.explanation import Explanation, Failure
from afterd.model.outcome import FailureKind, Outcome
from afterd.model.progress import Progress
from afterd.workspace import FailingTest, Range, Workspace


@dataclass(frozen=True, slots=True)
class Case:
    """One failing test under explanation; ``began`` is when, on the monotonic clock. ``ends_on_warnings``: who asked
    asks again, with no warning as an error, where a variant is not built for one alone.
    """

    workspace: Workspace
    settings: Settings
    test: FailingTest
    progress: Progress
    began: float
    prior: Prior | None
    ends_on_warnings: bool = False

    @property
    def executor(self) -> BuildsTold:
        """The workspace's, of whose builds the listener hears while they run."""
        return BuildsTold(self.workspace.executor, self.progress, self.workspace.slots)


def told_by_test(outcome: Outcome) -> Failure | None:
    """What the test itself said, until a trace knows more."""
    signature, said = outcome.signature, told_failure(outcome.detail)
    if signature is None:
        return Failure(FailureKind.EXIT, outcome.detail) if outcome.detail else None
    if said is None:
        message = signature.message or outcome.detail
        return Failure(signature.kind, message, signature.file)
    kind = FailureKind.ASSERTION if said.expected else signature.kind
    file = said.file or signature.file
    return Failure(kind, said.message, file, said.line, said.observed, said.expected)


def budget_left(case: Case, found: Explanation) -> Budget | None:
    """What of the budget an answer has left; None: nothing."""
    spent = time.monotonic() - case.began
    left = case.settings.budget.without(spent, found.runs.tests)
    return None if left.is_spent else left


def try_only_change(wanted: Range, oracle: Oracle) -> None:
    """Where one change alone can matter, run the version without it before anything is traced: the answer
    is then known whatever the budget has left for its story.
    """
    live = [change.id for change in wanted.changes.live]
    if len(live) == 1:
        oracle.outcome(frozenset(live))
