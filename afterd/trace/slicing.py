"""The dynamic backward slice, collected lazily from the failure backwards."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable

from afterd.logic import distinct_reads
from afterd.model.term import Read, StepId, Term
from afterd.model.trace import Execution, Step, StepKind


class BackwardSlice:
    """The steps that some terms depend on, nearest first.

    Definitions lie before their uses, so a heap over step ids gives the slice in backward execution
    order: what was taken so far is exactly the slice within a suffix of the run.

    The branch that decided that a step was executed belongs to the slice. What that branch read
    does so only with ``through_branches``: otherwise it is the business of critical predicates
    (AFTER, section II-C). ``expand`` says which steps are followed further back at all.
    """

    def __init__(
        self,
        execution: Execution,
        terms: Iterable[Term],
        controls: Iterable[StepId] = (),
        *,
        expand: Callable[[Step], bool],
        through_branches: bool = False,
    ) -> None:
        self._execution = execution
        self._expand = expand
        self._through_branches = through_branches
        self._heap: list[StepId] = []
        self._seen: set[StepId] = set()
        self._reads: dict[StepId, Read] = {}
        for term in terms:
            self._follow(term)
        for control in controls:
            self._push(control)

    @property
    def exhausted(self) -> bool:
        """Whether the whole slice was taken."""
        return not self._heap

    def pending(self) -> list[Read]:
        """Reads whose definitions were not taken yet, nearest first."""
        steps = sorted((-step for step in self._heap), reverse=True)
        return [self._reads[step] for step in steps if step in self._reads]

    def take(self, count: int, enough: Callable[[], bool] = lambda: False) -> list[Step]:
        """The next ``count`` steps; fewer where the slice ends, or as soon as it is ``enough``."""
        taken: list[Step] = []
        while self._heap and len(taken) < count and not enough():
            step = self._execution.step(-heapq.heappop(self._heap))
            taken.append(step)
            self._go_on_from(step)
        return taken

    def _go_on_from(self, step: Step) -> None:
        read = step.id in self._reads
        if step.kind is StepKind.BRANCH and not (read or self._through_branches):
            return
        if not self._expand(step):
            return
        self._follow(step.term)
        if step.control is not None:
            self._push(step.control)

    def _follow(self, term: Term) -> None:
        for read in distinct_reads(term):
            self._reads.setdefault(read.step, read)
            self._push(read.step)

    def _push(self, step: StepId) -> None:
        if step not in self._seen:
            self._seen.add(step)
            heapq.heappush(self._heap, -step)
