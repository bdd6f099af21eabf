"""The branch at which the failing run went past what stands in the place of a call that only green made.

Where the branch above a call was rewritten, none of the failing run went another way than its like in
green: it has no like. A loop that took the place of one ``write`` and is not entered is what kept
the rest of the output from being written, and its condition says why. Where the function that made the call is
gone, it may be its caller that makes it.
"""

from __future__ import annotations

from afterd.compare.c.alignment import Alignment
from afterd.limits import C_PAIR
from afterd.model.term import StepId
from afterd.model.trace import StepKind
from afterd.trace.c.build.source import Sources
from afterd.trace.c.failure import call_at
from afterd.trace.c.ir.ir import Instruction
from afterd.trace.c.ir.recorded import callee
from afterd.trace.c.read import Call, FunctionView, Instance, Process


class Replaced:
    """Reads the failing run for what green's calls were replaced by; ``backward`` aligns green's
    activations with the failing run's. ``sources`` are those of the bad and of the good version.
    """

    def __init__(
        self, bad: Process, green: Process, backward: Alignment, sources: tuple[Sources, Sources]
    ) -> None:
        self._bad, self._green, self._backward = bad, green, backward
        self._here, self._there = sources

    def passed(self, event: int) -> StepId | None:
        """The branch that went past the like of a call of green's, which left the record ``event``."""
        calls = self._up_to_both(event)
        if not calls:
            return None
        entry = self._backward.entry(calls[-1].instance.position)
        entered = self._bad.frames.instance_at(entry)
        if entered is None:
            return None
        block = self._like(calls[-1], entered.view)
        for call in reversed(calls[:-1] if block is None else []):
            block = self._taken_over(call, entered.view) if block is None else block
        return self._last_way_past(block, entry) if block is not None else None

    def _up_to_both(self, event: int) -> list[Call]:
        """The call, and those of its callers up to the one that was made in an activation that both runs have;
        none where no caller was.
        """
        found: list[Call] = []
        call = call_at(self._green, event)
        while call is not None and len(found) < C_PAIR.levels:
            found.append(call)
            if self._backward.is_indexed(call.instance.position):
                return found
            caller = self._green.frames.caller(call.instance.position)
            call = Call(*caller) if caller else None
        return []

    def _taken_over(self, call: Call, view: FunctionView) -> int | None:
        """The one block of a function that makes a call which another one made in green, by the same words."""
        name, place = callee(call.instruction), call.location
        words = self._there.text(place.file, place.line)
        found = [
            block
            for block in _calling(view, name)
            if any(
                _calls(each, name) and self._here.text(at.file, at.line) == words
                for index, each in enumerate(view.function.blocks[block].instructions)
                for at in [view.place(block, index)]
            )
        ]
        return found[0] if len(found) == 1 and words else None

    def _like(self, call: Call, view: FunctionView) -> int | None:
        """The block in which the other version makes the call: the one that corresponds, else of those
        that correspond to no block and call the same function the one of its rank, or the only one.
        """
        name, own = callee(call.instruction), call.instance
        blocks = self._backward.blocks(own.view)
        there = _calling(view, name)
        if blocks is None or not name.startswith("@"):
            return None
        if own.block in blocks.to_good:
            found = blocks.to_good[own.block]
            return found if found in there else None
        left = [block for block in there if block not in blocks.to_bad]
        mine = [block for block in _calling(own.view, name) if block not in blocks.to_good]
        if len(left) == len(mine):
            return left[mine.index(own.block)]
        return left[0] if len(left) == 1 else None

    def _last_way_past(self, block: int, entry: int) -> StepId | None:
        """The last branch in an activation that decided against a block."""
        frames = self._bad.frames
        entered = frames.instance_at(entry)
        if entered is None:
            return None
        end, flow = frames.end(entry), entered.view.flow
        done = frames.latest(entered, block, end)
        above, seen = flow.depends[block], {block}
        while above:
            executed = [found for b in above if (found := frames.latest(entered, b, end))]
            if executed:
                last = max(executed, key=lambda one: one.position)
                return self._branch(last) if done is None or done.position < last.position else None
            seen |= above
            above = frozenset[int]().union(*(flow.depends[b] for b in above)) - seen
        return None

    def _branch(self, instance: Instance) -> StepId | None:
        taken = self._bad.frames.taken(instance)
        step = self._bad.ids.of(taken) if taken >= 0 else None
        is_branch = (
            step is not None and self._bad.statements.statement(step).kind is StepKind.BRANCH
        )
        return step if is_branch else None


def _calling(view: FunctionView, name: str) -> list[int]:
    """The blocks of a function that call another one."""
    return [
        number
        for number, block in enumerate(view.function.blocks)
        if any(_calls(each, name) for each in block.instructions)
    ]


def _calls(instruction: Instruction, name: str) -> bool:
    return instruction.opcode in {"call", "invoke"} and callee(instruction) == name
