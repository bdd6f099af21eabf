"""Registers as terms over definitions: the SSA form of a trace, built only where it is asked for.

Nothing is interpreted forward. A register is looked up in the instance that defined it, a load in the
last record that wrote its bytes; every term carries the values that its reads really had.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from math import prod

from afterd.logic import UNKNOWN, evaluate
from afterd.model.term import (
    BOOL,
    OPAQUE,
    Apply,
    Concrete,
    Const,
    Free,
    Op,
    Read,
    Sort,
    SortKind,
    Term,
    Value,
    bitvec,
    reads,
)
from afterd.trace.c.ir import arithmetic
from afterd.trace.c.ir.constants import literal, recorded_value, sort_of
from afterd.trace.c.ir.initialisers import constant_bits
from afterd.trace.c.ir.ir import Instruction
from afterd.trace.c.ir.irtypes import split_top
from afterd.trace.c.ir.recorded import arguments, callee, operands, result_type, split_typed
from afterd.trace.c.read import libc
from afterd.trace.c.read.aggregates import Aggregates
from afterd.trace.c.read.allocations import Allocations
from afterd.trace.c.read.frames import Frames, Instance
from afterd.trace.c.read.held import Held
from afterd.trace.c.read.memory import Memory
from afterd.trace.c.read.steps import StepIds
from afterd.trace.c.read.symbols import Symbols
from afterd.trace.c.window import records

_ADDRESS = bitvec(64)
_WHOLE = (1 << 64) - 1
REGISTER = re.compile(r"%[-a-zA-Z$._0-9]+")
"""A register (or a label) in the text of an instruction."""
_PHI = re.compile(r"\[ (.+?), %((?:[-a-zA-Z$._0-9]+)|\"[^\"]*\") \]")
_MULTIPLY_ADD = re.compile(r"@llvm\.fmuladd\.f(?:32|64)$")


def known_value(term: Term) -> Value:
    """The value of a term in this run; None where it is not known."""
    value = evaluate(term)
    return None if value is UNKNOWN else value


class Values:
    """Terms of one process's trace."""

    def __init__(self, frames: Frames, symbols: Symbols, ids: StepIds) -> None:
        self.frames = frames
        self.symbols = symbols
        self.ids = ids
        self.recording = frames.recording
        self.allocations = Allocations(frames, self)
        self.memory = Memory(self)
        self._aggregates = Aggregates(self)
        self._held = Held(self, known_value)
        self.register = cache(self._register)

    def operand(self, kind: str, text: str, instance: Instance, index: int) -> Term:
        """An operand of instruction ``index`` of ``instance`` as a term of the type's sort."""
        constant = literal(kind, text)
        if constant:
            return constant
        sort = sort_of(kind)
        if text.startswith("%"):
            return self._located(text, instance, index, sort)
        if text in {"undef", "poison"}:
            return Concrete(0 if sort.kind is SortKind.BITVEC else None, sort, "an undefined value")
        unit = instance.view.unit
        bits = constant_bits(kind, text, unit.layout, lambda name: self.symbols.address(unit, name))
        if bits is None or sort.kind is not SortKind.BITVEC:
            return Concrete(None, sort, f"a constant that is not followed ({text[:40]})")
        return Const(bits & (1 << sort.width) - 1, sort)

    def _located(self, register: str, instance: Instance, index: int, sort: Sort) -> Term:
        view = instance.view
        place = view.definitions.get(register)
        if place is None:
            return self._parameter(register, instance, sort)
        found = self.instance_of(place, instance, index)
        return self.register(found, place[1]) if found else _unknown_value(sort)

    def instance_of(
        self, place: tuple[int, int], instance: Instance, index: int
    ) -> Instance | None:
        """The block instance that defined a register as instruction ``index`` of another sees it."""
        block, number = place
        if block == instance.block and number < index:
            return instance
        return self.frames.latest(instance, block, instance.position)

    def _parameter(self, register: str, instance: Instance, sort: Sort) -> Term:
        """A formal parameter is the caller's argument, as a term of the caller's own definitions."""
        caller = self.frames.caller(instance.position)
        names = instance.view.parameters
        if caller is None or register not in names:
            return Concrete(None, sort, "an argument from code that is not traced")
        called, index, _ = caller
        given = arguments(called.instructions[index])
        number = names.index(register)
        if self.frames.entered(caller[2]) is None:
            return Concrete(None, sort, "an argument from code that is not traced")
        if number >= len(given):
            return _unknown_value(sort)
        return as_sort(self.operand(*given[number], called, index), sort)

    def _register(self, instance: Instance, index: int) -> Term:  # noqa: C901, PLR0912 - a case an opcode
        instruction = instance.instructions[index]
        match instruction.opcode:
            case "load":
                return self._load(instruction, instance, index)
            case "call" | "invoke":
                return self._call(instruction, instance, index)
            case "alloca":
                at = self.frames.record_of(instance, index)
                return Const(self.recording.value(at) if at >= 0 else None, _ADDRESS)
            case "phi":
                return self._phi(instruction, instance)
            case "getelementptr":
                return self._pointer(instruction.body, instance, index)
            case "icmp" | "fcmp":
                return self._comparison(instruction, instance, index)
            case "select":
                return self._select(instruction, instance, index)
            case "extractvalue":
                found = self._aggregates.extracted(instruction, instance, index)
                return found or self._followed_only(instruction, instance, index, OPAQUE)
            case "atomicrmw":
                kind = operands(instruction)[1][0]
                return self.atomic_load(kind, instance, index) or _unknown_value(sort_of(kind))
            case "fneg":
                kind, text = split_typed(instruction.body)
                return Apply(Op.FNEG, (self.operand(kind, text, instance, index),), sort_of(kind))
        if instruction.opcode in arithmetic.BINARY:
            kind, left, right = arithmetic.binary_operands(instruction.body)
            one, two = (self.operand(kind, side, instance, index) for side in (left, right))
            if sort_of(kind) is OPAQUE or one.sort != two.sort:
                return self._followed_only(instruction, instance, index, sort_of(kind))
            return arithmetic.binary(instruction.opcode, one, two)
        if instruction.opcode in arithmetic.CASTS or instruction.opcode.endswith(
            ("tofp", "toui", "tosi")
        ):
            return self._cast(instruction, instance, index)
        return self._followed_only(instruction, instance, index, OPAQUE)

    def _load(self, instruction: Instruction, instance: Instance, index: int) -> Term:
        (kind, _), (_, pointer) = operands(instruction)
        sort = sort_of(kind)
        if pointer in instance.view.locals:
            return self._local(instance, index, pointer, sort)
        position = self.frames.record_of(instance, index)
        if position < 0:
            return _unknown_value(sort)
        word, value = self.recording.word(position), self.recording.value(position)
        address, size = word & records.ADDRESS_MASK, word >> records.SIZE_SHIFT & records.SIZE_MASK
        variable = _of_the_library(pointer, instance)
        bits = value if size <= 8 else None
        found = self.memory.read(address, size, position, sort, bits, variable)
        if isinstance(found, Read) and found.value is None:
            found = replace(found, value=recorded_value(value, kind))
        where = self.operand("ptr", pointer, instance, index)
        return guarded_load(found, where, sort, instruction.result)

    def atomic_load(self, kind: str, instance: Instance, index: int) -> Term | None:
        """What an atomic operation found in memory; None when it left no record."""
        at = self.frames.record_of(instance, index)
        if at < 0:
            return None
        word, sort = self.recording.word(at), sort_of(kind)
        address, size = word & records.ADDRESS_MASK, word >> records.SIZE_SHIFT & records.SIZE_MASK
        return self.memory.read(
            address, size, at, sort, self.recording.value(at) if size <= 8 else None
        )

    def atomic_store(self, instruction: Instruction, instance: Instance, index: int) -> Term:
        """What an atomic operation left in memory."""
        kind, text = operands(instruction)[1]
        old = self.atomic_load(kind, instance, index)
        given = self.operand(kind, text, instance, index)
        if old is None or old.sort != given.sort or given.sort.kind is not SortKind.BITVEC:
            return self._followed_only(instruction, instance, index, sort_of(kind))
        if instruction.opcode == "cmpxchg":
            replacing = split_typed(split_top(instruction.body)[2])[1].split(" ")[0]
            made = self.operand(kind, replacing, instance, index)
            return Apply(Op.ITE, (arithmetic.equals(old, given), made, old), old.sort)
        done = arithmetic.atomic(instruction.body.split(" ")[0], old, given)
        return done or self._followed_only(instruction, instance, index, old.sort)

    def _local(self, instance: Instance, index: int, pointer: str, sort: Sort) -> Term:
        return self.local_at(instance, pointer, self.moment(instance, index), sort)

    def local_at(self, instance: Instance, pointer: str, before: int, sort: Sort) -> Term:
        """What a plain local of an instance's activation held just before a record."""
        slot = instance.view.slot_ids[pointer]
        wanted = records.identified_tag_word(records.LSTORE, slot) | instance.depth
        at = self.recording.last(before, self.frames.start(instance.position), _WHOLE, wanted)
        if at < 0 and self.frames.entry(instance.position) < 0:
            at = self.recording.earlier(before, _WHOLE, wanted, instance.depth)
        if at < 0:
            return Concrete(None, sort, "a variable without a value, or set before the window")
        stored = sort_of(instance.view.locals[pointer])
        name = instance.view.slot_names.get(pointer, "")
        read = Read(
            self.ids.of(at),
            stored,
            name,
            recorded_value(self.recording.value(at), instance.view.locals[pointer]),
        )
        return as_sort(read, sort)

    def pointer_value(self, kind: str, text: str, instance: Instance, index: int) -> int | None:
        """The address that a pointer operand held; None where it is not known."""
        return self._held.number(kind, text, instance, index)

    def product(
        self, given: Sequence[tuple[str, str]], instance: Instance, index: int
    ) -> int | None:
        """The product of some operands of an instruction, by type and text; None where one is not known."""
        sizes = [self.pointer_value(kind, text, instance, index) for kind, text in given]
        told = [size for size in sizes if size is not None]
        return prod(told) if len(told) == len(sizes) else None

    def moment(self, instance: Instance, index: int) -> int:
        """A position that divides the records before instruction ``index`` from those after it."""
        leaving = instance.view.leaving_records[instance.block]
        own = self.frames.own_records(instance)
        for position, (number, _) in zip(own, leaving, strict=False):
            if number >= index:
                return position
        if len(own) < len(leaving):
            return self.recording.end_of(instance.position)
        return own[-1] + 1 if own else instance.position + 1

    def _call(self, instruction: Instruction, instance: Instance, index: int) -> Term:
        if _MULTIPLY_ADD.match(callee(instruction)):
            return self._multiplied_added(instruction, instance, index)
        sort = sort_of(result_type(instruction))
        call = self.frames.record_of(instance, index, 0)
        back = self.frames.returned(call) if call >= 0 else -1
        if back < 0:
            return self._followed_only(instruction, instance, index, sort)
        value = recorded_value(self.recording.value(back), result_type(instruction))
        if self.frames.entered(call) is None:
            return Read(self.ids.of(call), sort, "", value)
        last = self.returning(back, call)
        direct = self._loaded_result(last) if last else None
        return as_sort(direct, sort) if direct else Read(self.ids.of(back), sort, "", value)

    def _loaded_result(self, last: Instance) -> Read | None:
        """The variable that a ``ret`` returns as it is; a call's result would recur as deep as the calls."""
        text = split_typed(last.instructions[-1].body)[1]
        block, index = last.view.definitions.get(text, (-1, -1))
        if block != last.block or last.instructions[index].opcode != "load":
            return None
        found = self.register(last, index)
        return found if isinstance(found, Read) else None

    def returned_term(self, back: int, call: int) -> Term | None:
        """The operand of the ``ret`` that ended a traced call; None when it is not in the window."""
        last = self.returning(back, call)
        if last is None:
            return None
        kind, text = split_typed(last.instructions[-1].body)
        return self.operand(kind, text, last, len(last.instructions) - 1) if text else None

    def returning(self, back: int, call: int) -> Instance | None:
        """The block instance whose ``ret`` ended a traced call."""
        last = self.frames.instance(back - 1) if back - 1 > call else None
        depth = self.recording.depth_at(call) + 1
        if last is None or last.depth != depth:
            wanted = records.BLOCK << records.TAG_SHIFT | depth
            at = self.recording.last(back, call + 1, records.ANY_BLOCK | records.DEPTH_MASK, wanted)
            last = self.frames.instance_at(at) if at >= 0 else None
        return last if last and last.instructions[-1].opcode == "ret" else None

    def _multiplied_added(self, instruction: Instruction, instance: Instance, index: int) -> Term:
        """``a * b + c`` as clang contracts it; a machine that rounds once shows in the recorded value."""
        one, two, three = (
            self.operand(*given, instance, index) for given in arguments(instruction)
        )
        if one.sort.kind is not SortKind.FLOAT:
            return self._followed_only(instruction, instance, index, one.sort)
        return Apply(Op.FADD, (Apply(Op.FMUL, (one, two), one.sort), three), one.sort)

    def _phi(self, instruction: Instruction, instance: Instance) -> Term:
        kind = split_typed(instruction.body)[0]
        before = self.frames.previous(instance)
        text = incoming_value(instruction, before) if before else None
        if before is None or text is None:
            return _unknown_value(sort_of(kind))
        return self.operand(kind, text, before, len(before.instructions))

    def _comparison(self, instruction: Instruction, instance: Instance, index: int) -> Term:
        predicate, _, body = instruction.body.partition(" ")
        kind, rest = split_typed(body)
        left, right = split_top(rest)[:2]
        one, two = (self.operand(kind, side, instance, index) for side in (left, right))
        followed = one.sort == two.sort and one.sort is not OPAQUE
        found = arithmetic.comparison(predicate, one, two) if followed else None
        return found or self._followed_only(instruction, instance, index, BOOL)

    def _select(self, instruction: Instruction, instance: Instance, index: int) -> Term:
        condition, one, two = (
            self.operand(*split_typed(part), instance, index)
            for part in split_top(instruction.body)[:3]
        )
        if condition.sort != BOOL or one.sort != two.sort or one.sort is OPAQUE:
            return self._followed_only(instruction, instance, index, one.sort)
        return Apply(Op.ITE, (condition, one, two), one.sort)

    def _cast(self, instruction: Instruction, instance: Instance, index: int) -> Term:
        if instruction.opcode == "freeze":
            kind, text = split_typed(instruction.body)
            return self.operand(kind, text, instance, index)
        given, _, to = instruction.body.rpartition(" to ")
        argument = self.operand(*split_typed(given), instance, index)
        made = arithmetic.cast(instruction.opcode, argument, to)
        return made or self._followed_only(instruction, instance, index, sort_of(to))

    def _followed_only(
        self, instruction: Instruction, instance: Instance, index: int, sort: Sort
    ) -> Term:
        """A result that depends on the operands but that no term describes."""
        body = instruction.body
        used: list[Read] = []
        for name in REGISTER.findall(body):
            if name in instance.view.definitions or name in instance.view.parameters:
                used.extend(reads(self._located(name, instance, index, OPAQUE)))
        name = callee(instruction).removeprefix("@") if "call" in instruction.opcode else ""
        what = name or instruction.opcode
        return Concrete(None, sort, f"{what} is not modelled", tuple(_distinct_reads(used)))

    def _pointer(self, body: str, instance: Instance, index: int) -> Term:
        """A getelementptr: base plus offsets; the base of a stack object is not known, only its reads."""
        kind, base, *indices = split_top(body)
        layout = instance.view.unit.layout
        total = self.operand(*split_typed(base), instance, index)
        current = kind
        for number, part in enumerate(indices):
            index_kind, text = split_typed(part)
            term = self.operand(index_kind, text, instance, index)
            fields = layout.fields(current) if number else []
            if fields:
                field = int(text) if text.isdigit() else 0
                offset: Term = Const(layout.offset(current, field), _ADDRESS)
                current = fields[field] if field < len(fields) else "i8"
            else:
                if number:
                    current = current.split(" x ", 1)[1][:-1] if " x " in current else current
                offset = _scaled_term(term, layout.size(current))
            total = (
                total if offset == Const(0, _ADDRESS) else Apply(Op.ADD, (total, offset), _ADDRESS)
            )
        return total


def incoming_value(phi: Instruction, before: Instance) -> str | None:
    """What a phi takes when it is reached from a block."""
    label = before.view.function.blocks[before.block].label
    sources = _PHI.findall(phi.text)
    return next((text for text, source in sources if source.strip('"') == label), None)


def _scaled_term(term: Term, size: int) -> Term:
    if isinstance(term, Const) and isinstance(term.value, int):
        width = term.sort.width
        value = term.value - (1 << width) if term.value >> (width - 1) else term.value
        return Const(value * size & (1 << 64) - 1, _ADDRESS)
    wide = (
        arithmetic.resized_term(term, _ADDRESS, signed=True)
        if term.sort.kind is SortKind.BITVEC
        else _unknown_value(_ADDRESS)
    )
    return wide if size == 1 else Apply(Op.MUL, (wide, Const(size, _ADDRESS)), _ADDRESS)


def guarded_load(found: Term, where: Term, sort: Sort, name: str) -> Term:
    """What was read, if the address ``where`` was as observed; anything otherwise."""
    leaves = _distinct_reads([read for read in reads(where) if read.value is not None])
    if not leaves:
        return found
    same = arithmetic.conjunction(
        [arithmetic.equals(leaf, Const(leaf.value, leaf.sort)) for leaf in leaves]
    )
    return Apply(Op.ITE, (same, found, Free(name, sort)), sort)


def _distinct_reads(found: list[Read]) -> list[Read]:
    return list({(read.step, read.sort): read for read in found}.values())


def _of_the_library(pointer: str, instance: Instance) -> str:
    """The variable of the C library that a pointer is the address of, by the name that it has there."""
    if place := instance.view.definitions.get(pointer):
        block, number = place
        made = instance.view.function.blocks[block].instructions[number]
        return libc.variable_at(callee(made)) if made.opcode == "call" else ""
    return pointer.removeprefix("@")


def _unknown_value(sort: Sort) -> Concrete:
    return Concrete(None, sort, "set before the window that was recorded")


def as_sort(term: Term, sort: Sort) -> Term:
    """A read under another sort of the same bits; where no term says it, its value."""
    if term.sort == sort:
        return term
    if term.sort.kind is SortKind.BITVEC and sort.kind is SortKind.BITVEC:
        return arithmetic.resized_term(term, sort)
    if term.sort.kind is SortKind.BITVEC and sort == BOOL:
        return Apply(Op.EQ, (Apply(Op.EXTRACT, (term,), bitvec(1), 0), Const(1, bitvec(1))), BOOL)
    if term.sort == BOOL and sort.kind is SortKind.BITVEC:
        return Apply(Op.ITE, (term, Const(1, sort), Const(0, sort)), sort)
    return Concrete(None, sort, "read under another type", tuple(reads(term)))
