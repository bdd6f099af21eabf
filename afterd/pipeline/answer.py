"""What a search found, put together as an Explanation."""

from __future__ import annotations

from dataclasses import replace

from afterd.execution.oracle import Oracle
from afterd.model.change import Change, ChangeSet, in_order
from afterd.model.explanation import ChangeCounts, Explanation, Failure, Status
from afterd.model.revision import RevisionRange
from afterd.pipeline.search import Found
from afterd.pipeline.tracing import Tracing
from afterd.workspace import Range


def unanswered(test: str, status: Status, revisions: RevisionRange, reason: str) -> Explanation:
    """An explanation that names no change, with the sentence that says why."""
    return Explanation(id=0, test=test, status=status, range=revisions, reason=reason)


def answered(
    test: str,
    wanted: Range,
    oracle: Oracle,
    found: Found,
    tracing: Tracing,
    failure: Failure | None,
    total: float,
) -> Explanation:
    """The explanation of a confirmed failure; inconclusive where no root was seen to repair it."""
    counts = oracle.counts()
    seconds = replace(
        counts.seconds,
        total=total,
        trace=tracing.seconds,
        solve=found.solve_seconds,
        story=found.story_seconds,
    )
    pruned = sum(1 for change in wanted.changes.changes if change.pruned)
    return Explanation(
        id=0,
        test=test,
        status=Status.EXPLAINED if found.verified and not found.reason else Status.INCONCLUSIVE,
        range=wanted.revisions,
        failure=found.failure or failure,
        root=_listed(wanted, found.root),
        auxiliary=_listed(wanted, found.auxiliary),
        minimal=found.minimal,
        verified=found.verified,
        changes=ChangeCounts(len(wanted.changes.changes), pruned, found.executed),
        tree=found.tree,
        runs=replace(counts, smt_calls=found.smt_calls, seconds=seconds),
        strategy=found.strategy,
        notes=tuple(
            dict.fromkeys((*wanted.changes.notes, *filter(None, [tracing.reason]), *found.notes))
        ),
        reason=found.reason,
    )


def _listed(wanted: Range, chosen: ChangeSet) -> tuple[Change, ...]:
    known = wanted.changes.by_id()
    return tuple(known[identifier] for identifier in in_order(chosen))
