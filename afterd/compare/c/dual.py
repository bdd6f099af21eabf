"""The dual slice: steps of both runs paired along the data flow from the failed assertion.

Two paired steps read the same things: their reads are paired in turn, and so are the activations that
they are in. Where the branch above green's step went another way in the failing run, that branch is
where the two departed.
"""

from __future__ import annotations

from collections.abc import Iterator

from afterd.compare.c.alignment import Alignment
from afterd.compare.c.parting import Partings
from afterd.compare.c.ties import Ties
from afterd.limits import C_PAIR
from afterd.model.change import ChangeId
from afterd.model.term import Apply, Op, Read, StepId, Term, reads
from afterd.model.trace import StepKind
from afterd.trace.c.read import Instance, Process
from afterd.trace.c.window import records


class DualSlice:
    """Pairs of steps of one process in the two runs."""

    def __init__(
        self, bad: Process, green: Process, forward: Alignment, backward: Alignment, ties: Ties
    ) -> None:
        self._partings = Partings(bad, green, forward)
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
        mine, other = _distinct_reads(term), _distinct_reads(green)
        if len(mine) == len(other):
            found = list(zip(mine, other, strict=True))
        else:
            named = {read.name: read for read in other if read.name}
            found = [(read, named[read.name]) for read in mine if read.name in named]
        for here, there in found:
            self._pair(here.step, there.step)

    def _pair(self, mine: StepId, other: StepId) -> None:
        """Pair two definitions. Bytes that were only moved in one run, as realloc does when it must,
        are the ones that were stored in the other.
        """
        if mine in self._paired:
            return
        source = _moved_definition(self._bad, mine)
        if source is None:
            other = _stored_definition(self._green, other)
        elif _moved_definition(self._green, other) is None:
            self._pair(source, other)
        self._paired[mine] = other
        if not self._bad.ids.is_initial(mine) and not self._green.ids.is_initial(other):
            self.pair_records(self._bad.ids.position(mine), self._green.ids.position(other))

    def departed(self, green: StepId, *, besides: StepId) -> Iterator[StepId]:
        """Branches of the failing run that went another way than the ones above green's step went.

        Of one that runs again and again, the first execution that did.
        """
        for branch in self._above(green):
            mine = self._counterpart(branch)
            if mine is None or not self._differs(mine, branch):
                continue
            first = self._partings.first(mine)
            departed = mine if first is None or first > mine else first
            if departed != besides:
                yield departed

    def parted(self, branch: StepId) -> StepId | None:
        """The first execution of a branch that went another way than green's, where it can be told."""
        return self._partings.first(branch)

    def removed_guards(self, green: StepId) -> Iterator[ChangeId]:
        """Changes of branches above green's step that the failing run has nothing for."""
        for branch in self._above(green):
            found = self._green.statements.statement(branch)
            if found.instance is not None and self._counterpart(branch) is None:
                yield from self._ties.removed_at(found.instance.view, found.location)

    def _above(self, green: StepId) -> Iterator[StepId]:
        """The branches above green's step, up to the first activation that the failing run has too.

        What decided that one was entered is no reason: it was. A first round taken out of a loop
        made every failure look as if that loop had been left too early.
        """
        below = green
        for _ in range(C_PAIR.levels):
            branch = self._green.statements.control(below)
            if branch is None or (self._entered(below) and not self._together(below, branch)):
                return
            yield branch
            below = branch

    def _entered(self, green: StepId) -> bool:
        """Whether the failing run has the activation that green's step is in."""
        instance = self._green.statements.statement(green).instance
        return instance is not None and self._backward.is_indexed(instance.position)

    def _together(self, one: StepId, other: StepId) -> bool:
        """Whether two green steps are in the same activation."""
        first, second = (self._green.statements.statement(s).instance for s in (one, other))
        if first is None or second is None:
            return False
        entry = self._green.frames.entry
        return entry(first.position) == entry(second.position)

    def _counterpart(self, branch: StepId) -> StepId | None:
        """The failing run's execution of a branch of the green run."""
        instance = self._green.statements.statement(branch).instance
        found = self._backward.instance(instance).instance if instance else None
        if found is None:
            return None
        position = self._left(branch, found)
        try:
            step = self._bad.ids.of(position)
            kind = self._bad.statements.statement(step).kind
        except KeyError:
            return None
        return step if kind is StepKind.BRANCH else None

    def _left(self, branch: StepId, here: Instance) -> int:
        """Where the failing run's execution of a branch went: the record of what it entered."""
        green = self._green.statements.statement(branch)
        if not green.called or green.instance is None:
            return self._bad.frames.following(here)
        blocks = self._backward.blocks(green.instance.view)
        number = blocks.instruction(green.instance.block, green.instruction) if blocks else -1
        call = self._bad.frames.record_of(here, number) if number >= 0 else -1
        entered = self._bad.frames.entered(call) if call >= 0 else None
        return entered.position if entered else self._bad.recording.end

    def _differs(self, mine: StepId, branch: StepId) -> bool:
        """Whether two corresponding branches went to different places."""
        called = self._green.statements.statement(branch).called
        if called:
            return self._bad.statements.statement(mine).called != called
        went = self._bad.frames.instance_at(self._bad.ids.position(mine))
        green = self._green.frames.instance_at(self._green.ids.position(branch))
        bad, good = (
            self._bad.statements.statement(mine),
            self._green.statements.statement(branch),
        )
        if went is None or green is None or bad.instance is None:
            return False
        blocks = self._forward.blocks(went.view)
        same = blocks and blocks.same_outcome(bad.instance.block, went.block, green.block)
        return bad.value != good.value if same is None else not same


def _moved_definition(process: Process, step: StepId) -> StepId | None:
    """The definition whose bytes a copy moved; None where the step is no copy."""
    if process.ids.is_initial(step):
        return None
    if process.recording.tag(process.ids.position(step)) != records.COPY:
        return None
    term = process.statements.statement(step).term
    if isinstance(term, Apply) and term.op is Op.ITE:  # the second argument, if the address was so
        term = term.args[1]
    return term.step if isinstance(term, Read) else None


def _stored_definition(process: Process, step: StepId) -> StepId:
    """The definition that a chain of copies moved."""
    for _ in range(C_PAIR.copies):
        source = _moved_definition(process, step)
        if source is None:
            break
        step = source
    return step


def _distinct_reads(term: Term) -> list[Read]:
    return list({read.step: read for read in reads(term)}.values())
