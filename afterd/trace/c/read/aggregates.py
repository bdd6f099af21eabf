"""Elements of structs that live in a register: results of two words, of checked arithmetic, of atomics."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from afterd.limits import C_TRACE
from afterd.model.term import BOOL, Apply, Op, SortKind, Term, bitvec
from afterd.trace.c.ir import arithmetic
from afterd.trace.c.ir.constants import sort_of
from afterd.trace.c.ir.ir import Instruction
from afterd.trace.c.ir.irtypes import split_top
from afterd.trace.c.ir.recorded import arguments, callee, operands, split_typed
from afterd.trace.c.read.frames import Instance

if TYPE_CHECKING:  # the two describe each other: registers hold structs, structs hold registers
    from afterd.trace.c.read.values import Values

_OVERFLOW = re.compile(r"@llvm\.([su])(add|sub|mul)\.with\.overflow\.i\d+$")
_OPERATOR = {"add": Op.ADD, "sub": Op.SUB, "mul": Op.MUL}


class Aggregates:
    """Answers what an element of an aggregate register is, by who put it there."""

    def __init__(self, values: Values) -> None:
        self._values = values

    def extracted(self, instruction: Instruction, instance: Instance, index: int) -> Term | None:
        """The result of an extractvalue; None where nothing describes it."""
        body = instruction.body
        whole, *numbers = split_top(body)
        kind, text = split_typed(whole)
        path = tuple(int(number) for number in numbers)
        return self._element(kind, text, path, instance, index)

    def _element(
        self,
        kind: str,
        text: str,
        path: tuple[int, ...],
        instance: Instance,
        index: int,
        deep: int = 0,
    ) -> Term | None:
        place = instance.view.definitions.get(text)
        if place is None or deep > C_TRACE.aggregates:
            return None
        holder = self._values.instance_of(place, instance, index)
        if holder is None:
            return None
        made = holder.instructions[place[1]]
        match made.opcode:
            case "load":
                return self._loaded(kind, path, made, holder, place[1])
            case "insertvalue":
                return self._inserted(made, path, holder, place[1], deep)
            case "call" | "invoke":
                return self._returned(kind, path, made, holder, place[1], deep)
            case "cmpxchg":
                return self._exchanged(made, path, holder, place[1])
        return None

    def _loaded(
        self, kind: str, path: tuple[int, ...], load: Instruction, instance: Instance, index: int
    ) -> Term | None:
        layout = instance.view.unit.layout
        offset = 0
        for number in path:
            offset += layout.offset(kind, number)
            kind = layout.fields(kind)[number]
        at = self._values.frames.record_of(instance, index)
        pointer = self._values.pointer_value(*operands(load)[1], instance, index)
        if at < 0 or pointer is None:
            return None
        size = layout.stored(kind)
        return self._values.memory.read(pointer + offset, size, at, sort_of(kind), None)

    def _inserted(
        self, insert: Instruction, path: tuple[int, ...], instance: Instance, index: int, deep: int
    ) -> Term | None:
        body = insert.body
        whole, element, *numbers = split_top(body)
        if tuple(int(number) for number in numbers) == path:
            return self._values.operand(*split_typed(element), instance, index)
        return self._element(*split_typed(whole), path, instance, index, deep + 1)

    def _returned(
        self,
        kind: str,
        path: tuple[int, ...],
        call: Instruction,
        instance: Instance,
        index: int,
        deep: int,
    ) -> Term | None:
        if found := _OVERFLOW.match(callee(call)):
            return self._checked(
                call, found.group(1) == "s", found.group(2), path[0], instance, index
            )
        at = self._values.frames.record_of(instance, index)
        back = self._values.frames.returned(at) if at >= 0 else -1
        last = (
            self._values.returning(back, at)
            if back >= 0 and self._values.frames.entered(at)
            else None
        )
        if last is None:
            return None
        text = split_typed(last.instructions[-1].body)[1]
        return self._element(kind, text, path, last, len(last.instructions) - 1, deep + 1)

    def _checked(
        self,
        call: Instruction,
        signed: bool,  # noqa: FBT001 - read off the intrinsic's name
        name: str,
        field: int,
        instance: Instance,
        index: int,
    ) -> Term:
        """``a op b``, or whether it does not fit: computed twice as wide."""
        left, right = (self._values.operand(*given, instance, index) for given in arguments(call))
        if field == 0:
            return Apply(_OPERATOR[name], (left, right), left.sort)
        wide = bitvec(2 * left.sort.width)
        both = tuple(arithmetic.resized_term(side, wide, signed=signed) for side in (left, right))
        exact = Apply(_OPERATOR[name], both, wide)
        narrow = Apply(Op.EXTRACT, (exact,), left.sort)
        return Apply(Op.NE, (exact, arithmetic.resized_term(narrow, wide, signed=signed)), BOOL)

    def _exchanged(
        self, exchange: Instruction, path: tuple[int, ...], instance: Instance, index: int
    ) -> Term | None:
        """What a compare-and-exchange found, and whether that was what it expected."""
        kind, expected = operands(exchange)[1]
        old = self._values.atomic_load(kind, instance, index)
        if path == (0,) or old is None or old.sort.kind is not SortKind.BITVEC:
            return old
        return Apply(Op.EQ, (old, self._values.operand(kind, expected, instance, index)), BOOL)
