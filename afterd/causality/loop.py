"""The synergistic loop (AFTER, Algorithm 1), with what the paper lacks.

Take a predicate from P; semantic analysis gives its cause; dynamic analysis reverts the changes met;
if no root is found, the cause's critical predicates go into P. When P runs dry, or the budget of
causes does, the search goes on over all changes, those nearest to the trace first, so that there is
an answer wherever delta debugging has one.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from afterd.causality.auxiliary import AuxiliarySearch
from afterd.causality.cause import Cause, Link
from afterd.causality.critical_predicates import extract_critical_predicates
from afterd.causality.reversion import Reversion, one_minimal, smallest_prefix
from afterd.causality.semantic import Core, semantic_analysis
from afterd.causality.suspicion import STRONG, Suspicion
from afterd.causality.tree import causal_tree
from afterd.model.change import Change, ChangeId, ChangeSet
from afterd.model.explanation import CauseNode, Evidence
from afterd.model.outcome import Outcome
from afterd.model.progress import Progress
from afterd.model.term import StepId
from afterd.model.trace import Alignment, Execution, Predicate

MOST_CAUSES = 40
_LARGEST_UNION = 24
"""Changes of causes that are reverted together in one go; beyond it only the most suspicious."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """What the loop found. ``minimal`` is None where the budget ran out before it was checked."""

    root: ChangeSet
    auxiliary: ChangeSet
    minimal: bool | None
    verified: bool
    tree: CauseNode | None
    executed: int
    notes: tuple[str, ...] = ()
    failure: Predicate | None = None


@dataclass(frozen=True, slots=True)
class Oracles:
    """How the loop reaches the world: outcomes of variants, whether they build, and the solver."""

    outcome: Callable[[ChangeSet], Outcome]
    builds: Callable[[ChangeSet], bool]
    core: Core


class Loop:
    """One run of Algorithm 1. ``changes`` are those that may matter, ``everything`` all that can be
    reverted (reverting it gives the good version)."""

    def __init__(self, execution: Execution, changes: Mapping[ChangeId, Change], everything: ChangeSet, oracles: Oracles, progress: Progress) -> None:
        self._execution = execution
        self._changes = changes
        self._oracles = oracles
        self._progress = progress
        auxiliary = AuxiliarySearch(oracles.builds, changes, everything)
        self._reversion = Reversion(oracles.outcome, auxiliary.find)
        self._suspicion = Suspicion(execution)
        self._links: list[Link] = []
        self._waiting: list[tuple[tuple[float, int], int, Predicate, int | None, Evidence]] = []
        self._seen: set[tuple[StepId, bool]] = set()
        self._attempted: set[ChangeSet] = set()

    def explain(self) -> Analysis:
        """Run until a root is found, or nothing is left to try."""
        failures = self._execution.failures()
        for predicate in failures:
            self._put(predicate, None, Evidence.OBSERVED, first=True)
        root = self._upstream()
        if root is None and not self._reversion.spent:
            self._progress.stage("searching all changes", "nearest to the trace first")
            root = self._anywhere()
        return self._concluded(root, failures[0] if failures else None)

    def _upstream(self) -> ChangeSet | None:
        """The while loop of Algorithm 1."""
        while self._waiting and len(self._links) < MOST_CAUSES and not self._reversion.spent:
            _, _, predicate, parent, evidence = heapq.heappop(self._waiting)
            self._progress.stage("solving", predicate.text)
            cause = semantic_analysis(self._execution, predicate, self._oracles.core)
            self._links.append(Link(cause, parent, evidence))
            self._suspicion.meet(cause)
            root = self._dynamic(cause)
            if root is not None:
                return root
            for critical, kind in extract_critical_predicates(self._execution, cause):
                self._put(critical, len(self._links) - 1, kind)
        return None

    def _put(self, predicate: Predicate, parent: int | None, evidence: Evidence, *, first: bool = False) -> None:
        key = (predicate.step, predicate.kind is None)
        if key in self._seen and not first:
            return
        self._seen.add(key)
        number = len(self._seen) + len(self._waiting)
        priority = (self._urgency(predicate, number, first=first), -predicate.step)
        heapq.heappush(self._waiting, (priority, number, predicate, parent, evidence))

    def _urgency(self, predicate: Predicate, number: int, *, first: bool) -> float:
        """Failed assertions in their order after everything upstream of an earlier one that green
        did not do; branches that went as in green come last."""
        if first:
            return -1.0 if number <= 1 else 3.0
        step = self._execution.step(predicate.step)
        infected = {Alignment.DIFFERENT: 0.0, Alignment.ABSENT: 1.0, Alignment.UNKNOWN: 2.0}
        rank = infected.get(step.green.alignment, 4.0)
        return rank - 0.5 if step.changes else rank

    def _dynamic(self, cause: Cause) -> ChangeSet | None:
        """Revert what the causes so far suggest: the strongest new suspect alone, then all together."""
        ordered = [change for change in self._suspicion.ordered() if change in self._changes]
        self._progress.suspects(ordered)
        here = {change for step in cause.steps for change in step.changes}
        strong = [change for change in ordered if self._suspicion.rank(change) <= STRONG]
        for change in [c for c in strong if c in here or len(strong) <= 2][:2]:
            if self._attempt(frozenset({change})):
                return frozenset({change})
        union = strong[:_LARGEST_UNION] or []
        if len(union) > 1 and self._attempt(frozenset(union)):
            return smallest_prefix(self._reversion.passes, union)
        return None

    def _attempt(self, reverted: ChangeSet) -> bool:
        """Try a set once; nothing is run when it has not grown since."""
        if not reverted or reverted in self._attempted or self._reversion.spent:
            return False
        self._attempted.add(reverted)
        return self._reversion.passes(reverted)

    def _anywhere(self) -> ChangeSet | None:
        """All changes in the order of their distance from the trace."""
        met = [change for change in self._suspicion.ordered() if change in self._changes]
        executed = [change for change in self._execution.executed_changes() if change in self._changes]
        ordered = list(dict.fromkeys((*met, *executed, *self._changes)))
        return smallest_prefix(self._reversion.passes, ordered)

    def _concluded(self, root: ChangeSet | None, failure: Predicate | None) -> Analysis:
        executed = len([c for c in self._execution.executed_changes() if c in self._changes])
        notes = (*self._execution.notes(), *dict.fromkeys(link.cause.note for link in self._links if link.cause.note))
        if root is None:
            return Analysis(frozenset(), frozenset(), None, False, self._tree(frozenset()), executed, notes, failure)
        root, minimal = self._minimal(root)
        tried = self._reversion.try_(root)
        return Analysis(root, tried.auxiliary, minimal, tried.passed, self._tree(root), executed, notes, failure)

    def _minimal(self, root: ChangeSet) -> tuple[ChangeSet, bool | None]:
        """Put back one change of the root at a time; None when the budget ran out on the way."""
        reduced = one_minimal(self._reversion.passes, root)
        return reduced, None if self._reversion.spent else True

    def _tree(self, root: ChangeSet) -> CauseNode | None:
        return causal_tree(self._links, root)


