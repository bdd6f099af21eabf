"""Changes that act through what the failing run did *not* do, removed statements and removed guards, or through a call
that it made and green did not.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from afterd.compare.c.alignment import Alignment
from afterd.compare.c.block_map import BlockMap
from afterd.compare.c.jumps import Jumps
from afterd.compare.c.ties import Ties
from afterd.limits import C_PAIR
from afterd.model.change import ChangeId
from afterd.model.location import Location
from afterd.model.term import StepId, reads
from afterd.trace.c.read import Frames, Instance, Process, Statement
from afterd.trace.c.window import records

_SAME_DEPTH_BLOCK = records.ANY_BLOCK | records.DEPTH_MASK


class Absence:
    """Reads the green run for what stood where a statement was removed."""

    def __init__(
        self,
        green: Process,
        alignment: Alignment,
        backward: Alignment,
        ties: Ties,
        jumps: Jumps,
    ) -> None:
        self._green, self._alignment, self._ties = green, alignment, ties
        self._backward, self._jumps = backward, jumps
        self._guarding: dict[int, tuple[ChangeId, ...]] = {}

    def writers(self, statement: Statement, counterpart: StepId) -> Iterator[ChangeId]:
        """Changes that removed or altered green's definition of something that a step reads otherwise."""
        mine = list(reads(statement.term))
        other = list(reads(self._green.statements.statement(counterpart).term))
        if len(mine) == len(other):
            pairs = zip(mine, other, strict=True)
            unlike = [
                there for here, there in pairs if here.value is None or here.value != there.value
            ]
        else:  # rewritten: it may not read any more what only a removed statement wrote
            values = {here.value for here in mine} - {None}
            unlike = [there for there in other if there.value not in values]
        for there in unlike:
            for definition in (there.step, *self._same_place_before(there.step)):
                yield from self.definition(definition)

    def _same_place_before(self, definition: StepId) -> Iterator[StepId]:
        """The definitions whose bits a store into a bit-field kept, nearest first."""
        for _ in range(C_PAIR.fields):
            at = self._stored_at(definition)
            sources = (
                read.step for read in reads(self._green.statements.statement(definition).term)
            )
            before = next((s for s in sources if at is not None and self._stored_at(s) == at), None)
            if before is None:
                return
            yield before
            definition = before

    def _stored_at(self, step: StepId) -> int | None:
        """The address that a step stored to."""
        if self._green.ids.is_initial(step):
            return None
        word = self._green.recording.word(self._green.ids.position(step))
        is_store = word >> records.TAG_SHIFT == records.STORE
        return word & records.ADDRESS_MASK if is_store else None

    def definition(self, green: StepId) -> Iterator[ChangeId]:
        """Changes that removed or altered a statement of green, a call that led to it, or a jump."""
        definition = self._green.statements.statement(green)
        instance = definition.instance
        if instance is None:
            return
        yield from self._ties.removed_at(instance.view, definition.location)
        yield from self._jumps.led_past(instance)
        yield from self._calls_of_green(instance)

    def _calls_of_green(self, instance: Instance) -> Iterator[ChangeId]:
        """Changes that removed or altered a call that led to an activation which the failing run has not."""
        for caller, place in _calls_to(self._green.frames, self._backward, instance):
            yield from self._ties.removed_at(caller.view, place)

    def thrown(self, instance: Instance) -> Iterator[ChangeId]:
        """Changes of what made green leave a call by an exception, where the failing run went on behind it."""
        before = self._alignment.bad.previous(instance)
        for _ in range(C_PAIR.levels):
            if before is None:
                return
            terminator = before.instructions[-1]
            if terminator.opcode == "invoke":
                yield from self._thrown_by(self._alignment.instance(before).instance)
            elif len(set(before.view.targets(terminator))) > 1:
                return
            before = self._alignment.bad.previous(before)

    def _thrown_by(self, green: Instance | None) -> Iterator[ChangeId]:
        """Changes that removed or altered what was thrown in a call at the end of a block of green's, or why it was."""
        taken = self._green.frames.taken(green) if green is not None else -1
        pad = self._green.frames.instance_at(taken) if taken >= 0 else None
        if pad is None or pad.block not in pad.view.landing_pads:
            return
        thrower = self._green.statements.thrower(pad)
        if thrower is None:
            return
        place = thrower.view.place(thrower.block, len(thrower.instructions) - 1)
        yield from self._ties.removed_at(thrower.view, place)
        decided = self._green.statements.deciding(thrower)
        if decided is not None:
            branch = self._green.statements.statement(decided)
            yield from self._ties.removed_at(thrower.view, branch.location)
        yield from self._calls_of_green(thrower)

    def calls(self, instance: Instance) -> Iterator[ChangeId]:
        """Changes of the calls by which the failing run came to an activation that green has not."""
        for caller, place in _calls_to(self._alignment.bad, self._alignment, instance):
            yield from self._ties.of_line(caller.view, place.file, place.line)

    def guards(self, instance: Instance) -> tuple[ChangeId, ...]:
        """Changes that removed a branch which green executed in the aligned activation, nearest first.

        Only blocks that the bad version does not have count: a branch that both versions have is
        found by control dependence in the failing run itself. They are those of the activation: every
        step in it asks for the same.
        """
        blocks = self._alignment.blocks(instance.view)
        entry = self._alignment.entry(instance.position)
        if blocks is None or entry < 0:
            return ()
        if entry not in self._guarding:
            self._guarding[entry] = tuple(dict.fromkeys(self._guards(blocks, entry)))
        return self._guarding[entry]

    def _guards(self, blocks: BlockMap, entry: int) -> Iterator[ChangeId]:
        recording = self._green.recording
        depth = recording.depth_at(entry)
        end = self._green.frames.end(entry)
        wanted = records.BLOCK << records.TAG_SHIFT | depth
        executed = recording.positions(entry, end, _SAME_DEPTH_BLOCK, wanted)
        for position in np.flip(executed)[: C_PAIR.nearest]:
            green = self._green.frames.instance_at(int(position))
            if (
                green is None
                or green.block in blocks.to_bad
                or not green.view.flow.depends[green.block]
            ):
                continue
            terminator = len(green.instructions) - 1
            yield from self._ties.removed_at(green.view, green.view.place(green.block, terminator))
            decided = self._green.statements.deciding(green)
            if decided is not None:
                branch = self._green.statements.statement(decided)
                yield from self._ties.removed_at(green.view, branch.location)


def _calls_to(
    frames: Frames, paired: Alignment, instance: Instance
) -> Iterator[tuple[Instance, Location]]:
    """The calls that led to an activation which the other run does not have, from the nearest outwards, up to one in an
    activation that it has: the block that calls, and where. ``paired`` is from this run to the other one.
    """
    for _ in range(C_PAIR.callers):
        if paired.is_indexed(instance.position):
            return
        caller = frames.caller(instance.position) or frames.given_to(instance)
        if caller is None:
            return
        instance, call, _ = caller
        yield instance, instance.view.place(instance.block, call)
