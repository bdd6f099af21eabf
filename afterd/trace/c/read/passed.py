"""Arguments that a calling convention put into memory: structs by value and the arguments of ``...``.

Both are read through a PASSED record of the callee (lowered.py), whose source is the caller's call.
The classification of arguments is that of the System V x86-64 psABI, section 3.2.3, for the types
that clang leaves in a call: scalars, vectors, and ``byval`` structs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from afterd.model.term import Apply, Concrete, Const, Op, Sort, SortKind, Term, bitvec, reads
from afterd.trace.c.ir.ir import parameters
from afterd.trace.c.ir.irtypes import Layout
from afterd.trace.c.ir.recorded import arguments, raw_arguments, split_typed
from afterd.trace.c.read.frames import Instance
from afterd.trace.c.weave.lowered import SAVED_REGISTERS, STACK_ARGUMENTS

if TYPE_CHECKING:  # the two describe each other: values read memory, memory holds arguments
    from afterd.trace.c.read.values import Values

_WORDS, _VECTORS = 6, 8  # argument registers of each class
WORDS_END = 8 * _WORDS  # of the integer registers in the save area
_BYVAL = re.compile(r"\bbyval\((.+?)\)(?: |$)")


@dataclass(frozen=True, slots=True)
class Place:
    """Where an argument is: byte offsets in the register save area or behind the return address."""

    argument: int
    area: int  # SAVED_REGISTERS or STACK_ARGUMENTS
    offset: int
    size: int


def places(given: list[str], layout: Layout) -> Iterator[Place]:
    """Where each argument of a call is, from their text with attributes."""
    words = vectors = stack = 0
    for number, text in enumerate(given):
        by_value = _BYVAL.search(text)
        kind = by_value.group(1) if by_value else split_typed(text)[0]
        size = max(layout.size(kind), 1)
        vector = kind in {"float", "double", "half"} or kind.startswith("<")
        if not by_value and vector and vectors < _VECTORS:
            yield Place(number, SAVED_REGISTERS, 8 * _WORDS + 16 * vectors, min(size, 16))
            vectors += 1
        elif not by_value and not vector and size <= 8 and words < _WORDS:
            yield Place(number, SAVED_REGISTERS, 8 * words, size)
            words += 1
        else:
            stack = -(-stack // 16) * 16 if kind in {"x86_fp80", "fp128", "i128"} else stack
            yield Place(number, STACK_ARGUMENTS, stack, size)
            stack += -(-size // 8) * 8


State = tuple[int, ...]
"""Of a va_list: gp_offset, fp_offset, overflow_arg_area, reg_save_area."""


def next_argument(kind: str, state: State) -> tuple[int, int, State]:
    """Where va_arg finds the next argument of a type, its size, and the list after it."""
    words, vectors, stack, saved = state
    if kind == "x86_fp80":
        stack = -(-stack // 16) * 16
        return stack, 16, (words, vectors, stack + 16, saved)
    if kind == "double" and vectors + 16 <= SAVED_REGISTERS:
        return saved + vectors, 8, (words, vectors + 16, stack, saved)
    size = 4 if kind == "i32" else 8
    if kind != "double" and words + 8 <= WORDS_END:
        return saved + words, size, (words + 8, vectors, stack, saved)
    return stack, size, (words, vectors, stack + 8, saved)


def named_registers(header: str, layout: Layout) -> tuple[int, int]:
    """``gp_offset`` and ``fp_offset`` that va_start sets in a function: past its named parameters."""
    named = [text for text in parameters(header) if text != "..."]
    found = [place for place in places(named, layout) if place.area == SAVED_REGISTERS]
    words = sum(place.offset < 8 * _WORDS for place in found)
    return 8 * words, 8 * _WORDS + 16 * (len(found) - words)


class Passed:
    """What the bytes of a PASSED record held."""

    def __init__(self, values: Values) -> None:
        self._values = values
        self._frames = values.frames

    def term(self, at: int, offset: int, size: int, sort: Sort) -> Term | None:
        """The term of some of the bytes; None where the record says nothing about them."""
        instance = self._frames.instance(at)
        index = self._frames.instruction_of(instance, at) if instance else -1
        if instance is None or index < 0:
            return None
        (_, register), (_, length) = arguments(instance.instructions[index])
        if register in instance.view.parameters:
            return self._by_value(instance, register, offset, size, sort)
        if length.isdigit() and int(length) in {SAVED_REGISTERS, STACK_ARGUMENTS}:
            return self._variable(instance, int(length), offset, size, sort)
        return self._list(instance, index, offset, size, sort)

    def _by_value(
        self, instance: Instance, register: str, offset: int, size: int, sort: Sort
    ) -> Term:
        """The caller's own struct, as it was at the call."""
        caller = self._frames.caller(instance.position)
        number = instance.view.parameters.index(register)
        given = arguments(caller[0].instructions[caller[1]]) if caller else []
        if caller is None or self._frames.entered(caller[2]) is None or number >= len(given):
            return Concrete(None, sort, "an argument from code that is not traced")
        source = self._values.pointer_value(*given[number], caller[0], caller[1])
        if source is None:
            return Concrete(None, sort, "a struct passed by value from an unknown place")
        return self._values.memory.read(source + offset, size, caller[2], sort, None)

    def _variable(
        self, instance: Instance, area: int, offset: int, size: int, sort: Sort
    ) -> Term | None:
        """One of the arguments that va_arg fetches."""
        caller = self._frames.caller(instance.position)
        if caller is None or self._frames.entered(caller[2]) is None:
            return None
        called, index, call = caller
        given = raw_arguments(called.instructions[index])
        for place in places(given, called.view.unit.layout):
            inside = offset - place.offset
            if place.area != area or not 0 <= inside <= place.size - size:
                continue
            kind, text = split_typed(given[place.argument])
            if _BYVAL.search(given[place.argument]):
                source = self._values.pointer_value(kind, text, called, index)
                read = self._values.memory.read
                return read(source + inside, size, call, sort, None) if source is not None else None
            return part(self._values.operand(kind, text, called, index), inside, sort)
        return None

    def _list(
        self, instance: Instance, index: int, offset: int, size: int, sort: Sort
    ) -> Term | None:
        """The fields of a va_list as va_start sets them: two offsets, then the stack, the registers."""
        view = instance.view
        if size == 4 and offset in {0, 4}:
            return Const(named_registers(view.function.header, view.unit.layout)[offset // 4], sort)
        before = {8: 1, 16: 2}.get(offset)
        passed = [
            at
            for at, instruction in enumerate(instance.instructions[:index])
            if instruction.opcode == "load"
        ]
        if before is None or len(passed) < before or size != 8:
            return None
        area = self._frames.record_of(instance, passed[-before])
        return Const(self._values.recording.value(area), sort) if area >= 0 else None


def part(term: Term, offset: int, sort: Sort) -> Term:
    """Some bytes of an argument as another sort."""
    if term.sort == sort and not offset:
        return term
    if term.sort.kind is SortKind.BITVEC and sort.kind is SortKind.BITVEC:
        wide = term
        if term.sort.width < offset * 8 + sort.width:
            wide = Apply(Op.ZEXT, (term,), bitvec(offset * 8 + sort.width))
        return Apply(Op.EXTRACT, (wide,), sort, offset * 8)
    return Concrete(None, sort, "read under another type than it was passed", tuple(reads(term)))
