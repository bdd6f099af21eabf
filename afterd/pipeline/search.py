"""Running the strategy that was asked for, over the oracle."""

from __future__ import annotations

from dataclasses import dataclass

from afterd.causality.loop import Analysis, Loop, Oracles
from afterd.config import Settings
from afterd.execution.oracle import Oracle
from afterd.logic.solver import Solver
from afterd.model.change import ChangeSet
from afterd.model.explanation import CauseNode, Failure
from afterd.model.outcome import FailureKind
from afterd.model.progress import Progress
from afterd.model.trace import Execution, Predicate
from afterd.pipeline.tracing import Tracing
from afterd.pipeline.workspace import Range, Workspace


@dataclass(frozen=True, slots=True)
class Found:
    """The answer of a strategy, before it is put into an explanation."""

    root: ChangeSet = frozenset()
    auxiliary: ChangeSet = frozenset()
    minimal: bool | None = None
    verified: bool = False
    tree: CauseNode | None = None
    failure: Failure | None = None
    executed: int = 0
    strategy: str = "after"
    smt_calls: int = 0
    solve_seconds: float = 0.0
    notes: tuple[str, ...] = ()
    reason: str = ""


def search(
    settings: Settings, workspace: Workspace, wanted: Range, oracle: Oracle, tracing: Tracing, progress: Progress
) -> Found:
    """Find the root with the strategy of the settings."""
    with Solver(workspace.limits.solver) as solver:
        oracles = Oracles(oracle.outcome, oracle.builds, solver.core)
        live = {change.id: change for change in wanted.changes.live}
        execution = tracing.execution or _Untraced()
        analysis = Loop(execution, live, wanted.everything, oracles, progress).explain()
        return _found(analysis, oracle, execution, solver)


def _found(analysis: Analysis, oracle: Oracle, execution: Execution, solver: Solver) -> Found:
    reason = ""
    if not analysis.root:
        reason = (
            "The budget was spent before a set of changes was seen to make the test pass."
            if oracle.spent
            else "No set of changes that was tried makes the test pass."
        )
    return Found(
        root=analysis.root,
        auxiliary=analysis.auxiliary,
        minimal=analysis.minimal,
        verified=analysis.verified,
        tree=analysis.tree,
        failure=_failure(analysis.failure, execution),
        executed=analysis.executed,
        smt_calls=solver.calls,
        solve_seconds=solver.seconds,
        notes=analysis.notes,
        reason=reason,
    )


def _failure(predicate: Predicate | None, execution: Execution) -> Failure | None:
    """The failed assertion as the trace knows it."""
    if predicate is None:
        return None
    place = execution.step(predicate.step).location
    kind = predicate.kind or FailureKind.ASSERTION
    return Failure(kind, predicate.message or predicate.text, place.file, place.line, predicate.observed, predicate.expected)


class _Untraced:
    """The execution of a test that could not be traced: it has nothing to say."""

    def failures(self) -> tuple[()]:
        return ()

    def executed_changes(self) -> tuple[()]:
        return ()

    def notes(self) -> tuple[()]:
        return ()
