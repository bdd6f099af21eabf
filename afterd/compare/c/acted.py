"""What a change did, what it kept from happening, and what the calls around that gave.

Where no step leads from the failure back to a change, both runs still show what its statements did, or
that only green executed them, and what each call gave in which that was (Shapiro's question, asked of both).
"""

from __future__ import annotations

from collections.abc import Iterator

from afterd.compare.c.alignment import Alignment
from afterd.compare.c.conduct import doing, sampled_executions, step_of
from afterd.compare.c.coverage import executed_blocks
from afterd.compare.c.ties import Ties
from afterd.limits import C_PAIR, WORK
from afterd.model.change import ChangeId
from afterd.model.term import StepId
from afterd.trace.c.read import FunctionView, Instance, Process
from afterd.trace.c.window import records

_CALLS = frozenset({"call", "invoke"})
_STORES = frozenset({records.LSTORE, records.STORE})


class Acted:
    """Finds executions of a change's statements; ``backward`` tells what of green the failing run has."""

    def __init__(self, bad: Process, green: Process, backward: Alignment, ties: Ties) -> None:
        self._bad, self._green = bad, green
        self._backward, self._ties = backward, ties

    def altered(self, change: ChangeId) -> Iterator[StepId]:
        """Some executions of a change's statements, in the blocks executed last first."""
        for view, block, numbers in self._blocks(self._bad, change):
            for instance in sampled_executions(self._bad, view, block):
                steps = (step_of(self._bad, instance, number) for number in numbers)
                yield from (step for step in steps if step is not None)

    def missed(self, change: ChangeId) -> StepId | None:
        """The step of green's that was executed last of those that a change removed or altered, and that
        the failing run did not come to.
        """
        for view, block, numbers in self._blocks(self._green, change):
            for instance in reversed(list(sampled_executions(self._green, view, block))):
                for number in reversed(numbers):
                    if not self._stood(instance, number):
                        step = _step_or_call(self._green, instance, number)
                        if step is not None:
                            return step
        return None

    def calling(self, step: StepId) -> StepId | None:
        """What the call gave in which a step was: the value that it returned, else what its caller did
        next. None where it never came back.
        """
        instance = self._bad.frames.instance(self._bad.ids.position(step))
        for _ in range(C_PAIR.returned):
            caller = self._bad.frames.caller(instance.position) if instance else None
            if caller is None:
                return None
            instance, _, call = caller
            back = self._bad.frames.returned(call)
            if back < 0:
                return None
            if self._bad.values.returned_term(back, call) is not None:
                return self._bad.ids.of(back)
            following = self._after(instance, back)
            if following is not None:
                return following
        return None

    def _blocks(
        self, process: Process, change: ChangeId
    ) -> Iterator[tuple[FunctionView, int, list[int]]]:
        """The executed blocks with statements of a change, the last executed first, and those statements."""
        left, until = C_PAIR.statements, process.recording.work() + WORK.conduct
        for view, block in executed_blocks(process):
            if left <= 0 or process.recording.work() > until:
                return
            numbers = [
                n for n in doing(view, block) if change in self._tied(process, view, block, n)
            ]
            if numbers:
                left -= len(numbers)
                yield view, block, numbers

    def _tied(
        self, process: Process, view: FunctionView, block: int, number: int
    ) -> tuple[ChangeId, ...]:
        place = view.place(block, number)
        if process is self._bad:
            return self._ties.of_line(view, place.file, place.line)
        return self._ties.removed_at(view, place)

    def _stood(self, instance: Instance, number: int) -> bool:
        """Whether the failing run executed what corresponds to an instruction of green's."""
        blocks = self._backward.blocks(instance.view)
        if blocks is None or blocks.instruction(instance.block, number) < 0:
            return False
        return self._backward.instance(instance).instance is not None

    def _after(self, instance: Instance, position: int) -> StepId | None:
        """The next step of an activation after a record: a store of the block instance, or its branch."""
        frames, recording = self._bad.frames, self._bad.recording
        for own in frames.own_records(instance):
            if own > position and recording.tag(own) in _STORES:
                return self._bad.ids.of(own)
        decides = len(instance.view.targets(instance.instructions[-1])) > 1
        taken = frames.taken(instance) if decides else -1
        return self._bad.ids.of(taken) if taken >= 0 else None


def _step_or_call(process: Process, instance: Instance, number: int) -> StepId | None:
    """The step of an instruction; of a call what it returned, or that it was made."""
    if instance.instructions[number].opcode not in _CALLS:
        return step_of(process, instance, number)
    call = process.frames.record_of(instance, number)
    if call < 0 or process.recording.tag(call) != records.CALL:
        return None
    back = process.frames.returned(call)
    traced = back >= 0 and process.frames.entered(call) is not None
    valued = traced and process.values.returned_term(back, call) is not None
    return process.ids.of(back if valued else call)
