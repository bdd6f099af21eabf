"""The dual slice: steps of both runs paired along the data flow from the failed assertion.

Two paired steps read the same things: their reads are paired in turn, and so are the activations that
they are in. Where the branch above green's step went another way in the failing run, that branch is
where the two departed.
"""

from __future__ import annotations

from collections.abc import Iterator

from afterd.model.change import ChangeId
from afterd.model.term import Read, StepId, Term, reads
from afterd.model.trace import StepKind
from afterd.tracing.llvm.alignment import Alignment
from afterd.tracing.llvm.process import Process
from afterd.tracing.llvm.ties import Ties

_LEVELS = 8  # branches above green's step that are looked at


class DualSlice:
    """Pairs of steps of one process in the two runs."""

    def __init__(
        self, bad: Process, green: Process, forward: Alignment, backward: Alignment, ties: Ties
    ) -> None:
        self._bad, self._green = bad, green
        self._forward, self._backward = forward, backward
        self._ties = ties
        self._paired: dict[StepId, StepId] = {}

    def partner(self, step: StepId) -> StepId | None:
        """The green step that the data flow paired with a step."""
        return self._paired.get(step)

    def pair_records(self, mine: int, other: int) -> None:
        """Pair the activations of two records."""
        self._forward.pair(mine, other)
        self._backward.pair(other, mine)

    def pair_reads(self, term: Term, green: Term) -> None:
        """Pair what two corresponding terms read, by order where they read equally much, else by name."""
        mine, other = _distinct(term), _distinct(green)
        if len(mine) == len(other):
            found = list(zip(mine, other, strict=True))
        else:
            named = {read.name: read for read in other if read.name}
            found = [(read, named[read.name]) for read in mine if read.name in named]
        for here, there in found:
            self._pair(here.step, there.step)

    def _pair(self, mine: StepId, other: StepId) -> None:
        if mine in self._paired:
            return
        self._paired[mine] = other
        if not self._bad.ids.is_initial(mine) and not self._green.ids.is_initial(other):
            self.pair_records(self._bad.ids.position(mine), self._green.ids.position(other))

    def departed(self, green: StepId, *, besides: StepId) -> Iterator[StepId]:
        """Branches of the failing run that went another way than the ones above green's step went."""
        for branch in self._above(green):
            mine = self._counterpart(branch)
            if mine is not None and mine != besides and self._differs(mine, branch):
                yield mine

    def removed_guards(self, green: StepId) -> Iterator[ChangeId]:
        """Changes of branches above green's step that the failing run has nothing for."""
        for branch in self._above(green):
            found = self._green.statements.statement(branch)
            if found.instance is not None and self._counterpart(branch) is None:
                yield from self._ties.removed_at(found.instance.view, found.location)

    def _above(self, green: StepId) -> Iterator[StepId]:
        current = self._green.statements.control(green)
        for _ in range(_LEVELS):
            if current is None:
                return
            yield current
            current = self._green.statements.control(current)

    def _counterpart(self, branch: StepId) -> StepId | None:
        """The failing run's execution of a branch of the green run."""
        instance = self._green.statements.statement(branch).instance
        found = self._backward.instance(instance).instance if instance else None
        if found is None:
            return None
        position = self._bad.frames.following(found)
        try:
            step = self._bad.ids.of(position)
            kind = self._bad.statements.statement(step).kind
        except KeyError:
            return None
        return step if kind is StepKind.BRANCH else None

    def _differs(self, mine: StepId, branch: StepId) -> bool:
        """Whether two corresponding branches went to different places."""
        here = self._bad.frames.instance_at(self._bad.ids.position(mine))
        there = self._green.frames.instance_at(self._green.ids.position(branch))
        if here is None or there is None:
            return False
        blocks = self._forward.blocks(here.view)
        if blocks is None or here.block not in blocks.to_good:
            return (
                self._bad.statements.statement(mine).value
                != self._green.statements.statement(branch).value
            )
        return blocks.to_good[here.block] != there.block


def _distinct(term: Term) -> list[Read]:
    return list({read.step: read for read in reads(term)}.values())
