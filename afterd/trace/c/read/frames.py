"""Activations and block instances: where in the call tree and in the control flow a record stands."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from afterd.model.location import Location
from afterd.trace.c.ir.ir import Instruction
from afterd.trace.c.ir.recorded import callee
from afterd.trace.c.read.program import FunctionView, Program
from afterd.trace.c.read.symbols import Symbols
from afterd.trace.c.window import records
from afterd.trace.c.window.recording import Recording

_SAME_DEPTH_BLOCK = records.ANY_BLOCK | records.DEPTH_MASK
_WHOLE = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class Instance:
    """One execution of a basic block: ``position`` is its BLOCK or ENTER record."""

    view: FunctionView
    block: int
    position: int
    depth: int

    @property
    def instructions(self) -> tuple[Instruction, ...]:
        """The block's instructions."""
        return self.view.function.blocks[self.block].instructions


@dataclass(frozen=True, slots=True)
class Call:
    """An executed call: the block instance, the instruction in it, the CALL record."""

    instance: Instance
    index: int
    position: int

    @property
    def instruction(self) -> Instruction:
        """The call."""
        return self.instance.instructions[self.index]

    @property
    def location(self) -> Location:
        """Where it stands in the source."""
        return self.instance.view.place(self.instance.block, self.index)


class Frames:
    """Answers about one recording; every answer is cached, none walks the whole window."""

    def __init__(self, recording: Recording, program: Program, symbols: Symbols) -> None:
        self.recording = recording
        self.program = program
        self._symbols = symbols
        self.instance = cache(self._instance)
        self.instance_at = cache(self._instance_at)
        self.own_records = cache(self._own_records)
        self.following = cache(self._following)
        self.entry = cache(self._entry)
        self.previous = cache(self._previous)
        self.caller = cache(self._caller)
        self.calling = cache(self._calling)
        self.returned = cache(self._returned)
        self._given = cache(self._given_to_others)

    def _instance(self, position: int) -> Instance | None:
        """The block instance that left the record; None when it began before the window."""
        depth = self.recording.depth_at(position)
        wanted = records.BLOCK << records.TAG_SHIFT | depth
        at = self.recording.last(position + 1, 0, _SAME_DEPTH_BLOCK, wanted)
        return self.instance_at(at) if at >= 0 else None

    def _instance_at(self, position: int) -> Instance | None:
        block = self.recording.identifier(position)
        try:
            view = self.program.function_of_block(block)
        except KeyError:
            return None
        return Instance(
            view, block - view.numbered.first.blocks, position, self.recording.depth_at(position)
        )

    def _entry(self, position: int) -> int:
        """The ENTER record of the activation that a record belongs to; -1 before the window."""
        depth = self.recording.depth_at(position)
        wanted = records.ENTER << records.TAG_SHIFT | depth
        return self.recording.last(position + 1, 0, records.TAG | records.DEPTH_MASK, wanted)

    def start(self, position: int) -> int:
        """Where to stop looking back inside an activation: its entry, or where the records begin."""
        entry = self.entry(position)
        return entry if entry >= 0 else self.recording.start_of(position + 1)

    def _previous(self, instance: Instance) -> Instance | None:
        """The block executed before this one in the same activation."""
        if self.recording.tag(instance.position) == records.ENTER:
            return None
        wanted = records.BLOCK << records.TAG_SHIFT | instance.depth
        at = self.recording.last(
            instance.position, self.start(instance.position), _SAME_DEPTH_BLOCK, wanted
        )
        found = self.instance_at(at) if at >= 0 else None
        return found if found and found.view is instance.view else None

    def _following(self, instance: Instance) -> int:
        """The next record after the instance at its own depth that is a block, or where it was left."""
        recording = self.recording
        wanted = records.BLOCK << records.TAG_SHIFT | instance.depth
        end = recording.end_of(instance.position)
        block = recording.next(instance.position + 1, end, _SAME_DEPTH_BLOCK, wanted)
        before = block if block >= 0 else end
        shallow = recording.next_shallower(instance.position + 1, before, instance.depth)
        return shallow if shallow >= 0 else before

    def taken(self, instance: Instance) -> int:
        """The record of the block that a branch instance went to; -1 if it went to none, or to one that
        was not recorded: the records of a repeated run may end at the branch.
        """
        at = self.following(instance)
        recorded = at < self.recording.end_of(instance.position)
        return at if recorded and self.recording.tag(at) == records.BLOCK else -1

    def latest(self, instance: Instance, block: int, before: int) -> Instance | None:
        """The last instance of a block in the activation of ``instance``, before a record."""
        wanted = instance.view.executions(block) | instance.depth
        at = self.recording.last(before, self.start(instance.position), _WHOLE, wanted)
        if at < 0 and self.entry(instance.position) < 0:
            at = self.recording.earlier(before, _WHOLE, wanted, instance.depth)
        return self.instance_at(at) if at >= 0 else None

    def _own_records(self, instance: Instance) -> tuple[int, ...]:
        """The records that the instance itself left after its own, in order."""
        expected = len(instance.view.leaving_records[instance.block])
        end = self.following(instance)
        return tuple(self.recording.at_depth(instance.position + 1, end, instance.depth, expected))

    def record_of(self, instance: Instance, instruction: int, ordinal: int = 0) -> int:
        """The position of the ``ordinal``-th record of an instruction in an instance; -1 if it left none."""
        seen = 0
        for position, (number, _) in zip(
            self.own_records(instance), self._left_by(instance), strict=False
        ):
            if number == instruction:
                if seen == ordinal:
                    return position
                seen += 1
        return -1

    def _left_by(self, instance: Instance) -> list[tuple[int, int]]:
        """(instruction, tag) of the instance's records in order; the static list, while tags agree."""
        return instance.view.leaving_records[instance.block]

    def instruction_of(self, instance: Instance, position: int) -> int:
        """The instruction that left a record; -1 when the record is not the instance's own."""
        for at, (number, _) in zip(
            self.own_records(instance), self._left_by(instance), strict=False
        ):
            if at == position:
                return number
        return -1

    def _caller(self, position: int) -> tuple[Instance, int, int] | None:
        """The caller's instance, the call instruction's index and the CALL record of an activation."""
        entry = self.entry(position)
        if entry < 0 or entry == self.recording.start_of(entry + 1):
            return None
        call = entry - 1
        if self.recording.tag(call) != records.CALL:  # called back by code that is not traced
            call = self.recording.last_at_depth(entry, self.recording.depth_at(entry) - 1)
        if call < 0 or self.recording.tag(call) != records.CALL:
            return None
        made = self.calling(call)
        return (*made, call) if made else None

    def given_to(self, instance: Instance) -> tuple[Instance, int, int] | None:
        """The last call of code that is not traced which was given the function of an activation to be called later
        (``atexit``, C++'s destructors of static objects): what ``caller`` gives of others.
        """
        call = next(
            iter(self.recording.calls(instance.position, 0, self._given(instance.view.name))), -1
        )
        made = self.calling(call) if call >= 0 else None
        return (*made, call) if made else None

    def _given_to_others(self, function: str) -> Callable[[int], bool]:
        """Whether a call site names the function for an argument of a call of code that is not traced."""
        named = re.compile(rf"[ (]ptr (?:\w+ )*@\"?{re.escape(function)}\"?[,)]")

        def given(site: int) -> bool:
            call = self.program.call_of_site(site)
            return bool(named.search(call.text)) and self.program.is_outside(callee(call))

        return given

    def _calling(self, call: int) -> tuple[Instance, int] | None:
        """The instance that left a CALL record, and the call instruction's index; None before the window."""
        instance = self.instance(call)
        site = instance.view.sites.get(self.recording.identifier(call)) if instance else None
        return (instance, site[1]) if instance and site else None

    def end(self, entry: int) -> int:
        """Past the last record of an activation (or of what follows it at a shallower depth).

        Where the records of a repeated run end before it did, past the last of those.
        """
        recording = self.recording
        following = recording.next(
            entry + 1,
            recording.end_of(entry),
            records.TAG | records.DEPTH_MASK,
            records.ENTER << records.TAG_SHIFT | recording.depth_at(entry),
        )
        return following if following >= 0 else recording.end_of(entry)

    def entered(self, call: int) -> Instance | None:
        """The entry block of the traced function that a CALL record went into; None for external code.

        Code that is not traced may call back at once, as qsort does: the function that begins next
        is the one that was called only if its name or its address says so.
        """
        after = call + 1
        if after >= self.recording.end_of(call) or self.recording.tag(after) != records.ENTER:
            return None
        found, made = self.instance_at(after), self.calling(call)
        if found is None or made is None:
            return None
        name = callee(made[0].instructions[made[1]])
        if name.startswith("@"):
            same = self.program.resolved(name[1:]) == found.view.name
        else:
            address = self._symbols.address(found.view.unit, found.view.name)
            same = address in {None, self.recording.value(call)}
        return found if same else None

    def _returned(self, call: int) -> int:
        """The RETURN record that belongs to a CALL record; -1 if the call never came back."""
        depth = self.recording.depth_at(call)
        wanted = (
            records.identified_tag_word(records.RETURN, self.recording.identifier(call)) | depth
        )
        return self.recording.next(call + 1, self.recording.end_of(call), _WHOLE, wanted)
