"""The number that an operand held, off the records alone.

A load's record holds what was read, and a call's return what it gave. The term of a value also says who wrote it, and
for memory that code which is not traced may have written that asks each call before it where its pointers went: of a
C++ stream's thousands of calls each asked the one before it, deeper than Python calls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from afterd.model.term import SortKind, Term, Value
from afterd.trace.c.ir.constants import recorded_value, sort_of
from afterd.trace.c.ir.ir import Instruction
from afterd.trace.c.ir.irtypes import split_top
from afterd.trace.c.ir.recorded import arguments, operands, result_type, split_typed

if (
    TYPE_CHECKING
):  # the two describe each other: values ask what was held, what was held asks where values are
    from afterd.trace.c.read.frames import Instance
    from afterd.trace.c.read.values import Values

_SIGNED, _UNSIGNED = "sext", frozenset({"zext", "trunc", "ptrtoint", "inttoptr", "bitcast"})
_WORD = (1 << 64) - 1


class Held:
    """What operands held in one process's run; a term is ``evaluated`` only where no record says it."""

    def __init__(self, values: Values, evaluated: Callable[[Term], Value]) -> None:
        self._values = values
        self._evaluated = evaluated

    def number(self, kind: str, text: str, instance: Instance, index: int) -> int | None:
        """The number that an operand of instruction ``index`` held, as its type has it; None where it is not known."""
        if not text.startswith("%"):
            return _as_number(self._evaluated(self._values.operand(kind, text, instance, index)))
        place = instance.view.definitions.get(text)
        if place is None:
            return self._parameter(kind, text, instance)
        found = self._values.instance_of(place, instance, index)
        return None if found is None else self._defined(found, place[1])

    def _parameter(self, kind: str, text: str, instance: Instance) -> int | None:
        """What the caller gave."""
        frames, names = self._values.frames, instance.view.parameters
        caller = frames.caller(instance.position) if text in names else None
        if caller is None or frames.entered(caller[2]) is None:
            return None
        called, index, _ = caller
        given = arguments(called.instructions[index])
        number = names.index(text)
        if number >= len(given) or given[number][0].split(" ")[0] != kind.split(" ", maxsplit=1)[0]:
            return None
        return self.number(*given[number], called, index)

    def _defined(self, instance: Instance, index: int) -> int | None:
        instruction = instance.instructions[index]
        match instruction.opcode:
            case "load":
                return self._loaded(instruction, instance, index)
            case "call" | "invoke":
                call = self._values.frames.record_of(instance, index, 0)
                back = self._values.frames.returned(call) if call >= 0 else -1
                return self._recorded(back, result_type(instruction))
            case "alloca":
                return self._recorded(self._values.frames.record_of(instance, index), "i64")
            case "getelementptr":
                return self._element(instruction.body, instance, index)
        if instruction.opcode == _SIGNED or instruction.opcode in _UNSIGNED:
            return self._resized(instruction, instance, index)
        return _as_number(self._evaluated(self._values.register(instance, index)))

    def _loaded(self, instruction: Instruction, instance: Instance, index: int) -> int | None:
        (kind, _), (_, pointer) = operands(instruction)
        if pointer not in instance.view.locals:
            return self._recorded(self._values.frames.record_of(instance, index), kind)
        moment = self._values.moment(instance, index)
        held = self._values.local_at(instance, pointer, moment, sort_of(kind))
        return _as_number(getattr(held, "value", None))

    def _recorded(self, at: int, kind: str) -> int | None:
        return (
            _as_number(recorded_value(self._values.recording.value(at), kind)) if at >= 0 else None
        )

    def _resized(self, instruction: Instruction, instance: Instance, index: int) -> int | None:
        given, _, wanted = instruction.body.rpartition(" to ")
        kind, text = split_typed(given)
        old, new = sort_of(kind), sort_of(wanted)
        if old.kind is not SortKind.BITVEC or new.kind is not SortKind.BITVEC:
            return None
        held = self.number(kind, text, instance, index)
        if held is None:
            return None
        if instruction.opcode == _SIGNED and held >> (old.width - 1):
            held -= 1 << old.width
        return held & (1 << new.width) - 1

    def _element(self, body: str, instance: Instance, index: int) -> int | None:
        """A getelementptr: the base and, in bytes, what lies between it and the element."""
        current, base, *indices = split_top(body)
        layout = instance.view.unit.layout
        total = self.number(*split_typed(base), instance, index)
        for number, part in enumerate(indices):
            kind, text = split_typed(part)
            at = self.number(kind, text, instance, index)
            if total is None or at is None:
                return None
            fields = layout.fields(current) if number else []
            if fields and at < len(fields):
                total += layout.offset(current, at)
                current = fields[at]
                continue
            if number:
                current = current.split(" x ", 1)[1][:-1] if " x " in current else current
            width = sort_of(kind).width
            total += (at - (1 << width) if at >> (width - 1) > 0 else at) * layout.size(current)
        return None if total is None else total & _WORD


def _as_number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
