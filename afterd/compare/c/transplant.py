"""The good version's statement, evaluated on the failing run's values: does a change matter here?

The statement's IR is found in the good version through the block map; its variables are read from the
failing run by their source names, its memory by the failing run's addresses. Where that cannot be
done with certainty the answer is UNKNOWN: a wrong NEUTRAL would hide a guilty change.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from afterd.compare.c.alignment import Alignment
from afterd.compare.c.block_map import BlockMap
from afterd.limits import C_PAIR
from afterd.model.term import OPAQUE, Apply, Const, Op, SortKind, Term, Value, bitvec
from afterd.model.trace import Effect, StepKind
from afterd.trace.c.ir import arithmetic
from afterd.trace.c.ir.constants import literal, sort_of
from afterd.trace.c.ir.ir import Instruction
from afterd.trace.c.ir.irtypes import split_top
from afterd.trace.c.ir.recorded import arguments, callee, cases, operands, split_typed
from afterd.trace.c.read import FunctionView, Instance, Passed, Process, Statement, known_value
from afterd.trace.c.window import records

_ADDRESS = bitvec(64)


class _Unknown(Exception):  # noqa: N818 - not an error: it ends an evaluation that has no answer
    """The expression cannot be evaluated in the failing run."""


@dataclass(frozen=True, slots=True)
class _Site:
    """Where an expression of the good version is evaluated: its block there, the instance here."""

    view: FunctionView
    block: int
    instance: Instance
    moment: int
    blocks: BlockMap


class Transplant:
    """Answers for one process of the failing run."""

    def __init__(self, process: Process, alignment: Alignment) -> None:
        self._process = process
        self._alignment = alignment

    def effect(self, statement: Statement) -> Effect:
        """Whether the statement as it was in the good version would have done the same here."""
        passed = statement.passed
        instance = passed.caller if passed else statement.instance
        site = self._site(instance, passed.call if passed else statement.instruction)
        if site is None:
            return Effect.UNKNOWN
        try:
            if passed is not None:
                return self._argument(statement, passed, site)
            if statement.called:
                return Effect.UNKNOWN
            if statement.kind is StepKind.BRANCH:
                return self._branch(statement, site)
            return self._value(statement, site)
        except (_Unknown, ValueError, IndexError, KeyError):
            return Effect.UNKNOWN

    def _site(self, instance: Instance | None, instruction: int) -> _Site | None:
        if instance is None:
            return None
        view, blocks = (
            self._alignment.counterpart(instance.view),
            self._alignment.blocks(instance.view),
        )
        if view is None or blocks is None or instance.block not in blocks.to_good:
            return None
        as_of = _as_of(instance, instruction, blocks)
        if as_of is None:
            return None
        moment = self._process.values.moment(instance, as_of)
        return _Site(view, blocks.to_good[instance.block], instance, moment, blocks)

    def _branch(self, statement: Statement, site: _Site) -> Effect:
        """Compare the block that the good version would have gone to with the one that was entered."""
        terminator = site.view.function.blocks[site.block].terminator
        target = self._target(terminator, site)
        taken = self._process.frames.instance_at(self._process.ids.position(statement.step))
        if taken is None:
            return Effect.UNKNOWN
        same = site.blocks.same_outcome(site.instance.block, taken.block, target)
        if same is None and isinstance(statement.value, bool):
            then, *_ = site.view.targets(terminator)
            same = statement.value == (target == then)
        if same is None:
            return Effect.UNKNOWN
        return Effect.NEUTRAL if same else Effect.MATTERS

    def _target(self, terminator: Instruction, site: _Site) -> int:
        targets = site.view.targets(terminator)
        if found := re.match(r"  br i1 ([^,]+),", terminator.text):
            return targets[0] if self._known("i1", found.group(1), site) else targets[1]
        if found := re.match(r"  switch (i\d+) ([^,]+), label", terminator.text):
            value = self._known(found.group(1), found.group(2), site)
            for case, label in cases(terminator):
                if case == value:
                    return site.view.block_numbers[label]
        return targets[0]

    def _value(self, statement: Statement, site: _Site) -> Effect:
        if statement.value is None:
            return Effect.UNKNOWN
        number = site.blocks.instruction(site.instance.block, statement.instruction)
        if number < 0:
            return Effect.UNKNOWN
        instruction = site.view.function.blocks[site.block].instructions[number]
        if instruction.opcode == "store":
            kind, text = operands(instruction)[0]
            if not self._same_place(statement, instruction, site):
                return Effect.MATTERS
        elif instruction.opcode == "ret":
            kind, text = split_typed(instruction.body)
        else:
            return Effect.UNKNOWN
        return (
            Effect.NEUTRAL if self._known(kind, text, site) == statement.value else Effect.MATTERS
        )

    def _argument(self, statement: Statement, passed: Passed, site: _Site) -> Effect:
        """Compare the argument that the good version would have given in the caller."""
        number = site.blocks.instruction(passed.caller.block, passed.call)
        if number < 0 or statement.value is None:
            return Effect.UNKNOWN
        call = site.view.function.blocks[site.block].instructions[number]
        own = passed.caller.instructions[passed.call]
        if callee(call) != callee(own):
            return Effect.UNKNOWN
        kind, text = arguments(call)[passed.argument]
        return (
            Effect.NEUTRAL if self._known(kind, text, site) == statement.value else Effect.MATTERS
        )

    def _same_place(self, statement: Statement, store: Instruction, site: _Site) -> bool:
        """Whether the good version would have stored into the same variable or address."""
        pointer = operands(store)[1][1]
        if _in_temporary(statement):
            raise _Unknown
        recording = self._process.recording
        position = self._process.ids.position(statement.step)
        if recording.tag(position) == records.STORE:
            address = recording.word(position) & records.ADDRESS_MASK
            return bool(self._known("ptr", pointer, site) == address)
        there = site.view.slot_names.get(pointer, pointer if pointer.startswith("@") else "")
        if there.startswith("@"):
            found = site.view.unit.globals.get(there[1:])
            there = found.name if found else there
        return not there or not statement.target or there == statement.target

    def _known(self, kind: str, text: str, site: _Site) -> Value:
        value = known_value(self._term(kind, text, site, 0))
        if value is None:
            raise _Unknown
        return value

    def _term(self, kind: str, text: str, site: _Site, depth: int) -> Term:
        """An operand of the good version as a term over constants of the failing run."""
        constant = literal(kind, text)
        if constant:
            return constant
        if depth > C_PAIR.transplanted:
            raise _Unknown
        if text.startswith("@"):
            return Const(self._process.symbols.address(site.instance.view.unit, text), _ADDRESS)
        if text.startswith("getelementptr"):
            return self._pointer(text.split("(", 1)[1].rsplit(")", 1)[0], site, depth)
        place = site.view.definitions.get(text)
        if place is None:
            raise _Unknown
        return self._instruction(
            site.view.function.blocks[place[0]].instructions[place[1]], site, depth + 1
        )

    def _instruction(self, instruction: Instruction, site: _Site, depth: int) -> Term:
        match instruction.opcode:
            case "load":
                return self._load(instruction, site, depth)
            case "alloca":
                return Const(self._stack_address(instruction.result, site), _ADDRESS)
            case "getelementptr":
                return self._pointer(instruction.body, site, depth)
            case "icmp" | "fcmp":
                return self._comparison(instruction, site, depth)
            case "call":
                return self._call(instruction, site)
            case "select":
                body = instruction.body
                parts = tuple(
                    self._term(*split_typed(part), site, depth) for part in split_top(body)[:3]
                )
                return Apply(Op.ITE, parts, parts[1].sort)
        if instruction.opcode in arithmetic.BINARY:
            kind, left, right = arithmetic.binary_operands(instruction.body)
            return arithmetic.binary(
                instruction.opcode,
                self._term(kind, left, site, depth),
                self._term(kind, right, site, depth),
            )
        if instruction.opcode in arithmetic.CASTS and " to " in instruction.text:
            source, target = instruction.body.rsplit(" to ", 1)
            made = arithmetic.cast(
                instruction.opcode, self._term(*split_typed(source), site, depth), target.strip()
            )
            if made is not None:
                return made
        raise _Unknown

    def _comparison(self, instruction: Instruction, site: _Site, depth: int) -> Term:
        predicate, _, body = instruction.body.partition(" ")
        kind, rest = split_typed(body)
        left, right = (self._term(kind, side, site, depth) for side in split_top(rest)[:2])
        made = arithmetic.comparison(predicate, left, right) if left.sort is not OPAQUE else None
        if made is None:
            raise _Unknown
        return made

    def _load(self, instruction: Instruction, site: _Site, depth: int) -> Term:
        (kind, _), (_, pointer) = operands(instruction)
        sort = sort_of(kind)
        if sort.kind is SortKind.OPAQUE:
            raise _Unknown
        if pointer in site.view.locals:
            return self._variable(pointer, site, kind)
        address = known_value(self._term("ptr", pointer, site, depth))
        if not isinstance(address, int):
            raise _Unknown
        size = site.view.unit.layout.size(kind)
        return self._process.values.memory.read(address, size, site.moment, sort, None)

    def _variable(self, slot: str, site: _Site, kind: str) -> Term:
        """The failing run's value of the variable of the same name."""
        name = site.view.slot_names.get(slot, "")
        same = [
            own for own, called in site.instance.view.slot_names.items() if called == name and name
        ]
        if len(same) != 1:
            raise _Unknown
        if same[0] in site.instance.view.locals:
            return self._process.values.local_at(site.instance, same[0], site.moment, sort_of(kind))
        address = self._stack_address_here(same[0], site)
        return self._process.values.memory.read(
            address, site.view.unit.layout.size(kind), site.moment, sort_of(kind), None
        )

    def _stack_address(self, slot: str, site: _Site) -> int:
        name = site.view.slot_names.get(slot, "")
        same = [
            own for own, called in site.instance.view.slot_names.items() if called == name and name
        ]
        if len(same) != 1 or same[0] in site.instance.view.locals:
            raise _Unknown
        return self._stack_address_here(same[0], site)

    def _stack_address_here(self, slot: str, site: _Site) -> int:
        value = self._process.values.pointer_value(
            "ptr", slot, site.instance, len(site.instance.instructions)
        )
        if value is None:
            raise _Unknown
        return value

    def _call(self, instruction: Instruction, site: _Site) -> Term:
        """A call's result: that of the same call in the failing run's instance, if there is just one."""
        name = callee(instruction)
        same = [
            number
            for number, own in enumerate(site.instance.instructions)
            if own.opcode == "call" and callee(own) == name and own.result
        ]
        if len(same) != 1 or not name.startswith("@"):
            raise _Unknown
        given, own_given = arguments(instruction), arguments(site.instance.instructions[same[0]])
        for (kind, text), (own_kind, own) in zip(given, own_given, strict=True):
            here = known_value(self._process.values.operand(own_kind, own, site.instance, same[0]))
            if here is None or self._known(kind, text, site) != here:
                raise _Unknown
        return self._process.values.register(site.instance, same[0])

    def _pointer(self, body: str, site: _Site, depth: int) -> Term:
        """A getelementptr with the good version's layout; only where both versions agree on it."""
        kind, base, *indices = split_top(body)
        here, there = site.instance.view.unit.layout, site.view.unit.layout
        if kind.startswith("%") and here.fields(kind) != there.fields(kind):
            raise _Unknown
        total: Term = self._term(*split_typed(base), site, depth)
        current = kind
        for number, part in enumerate(indices):
            index_kind, text = split_typed(part)
            index = known_value(self._term(index_kind, text, site, depth))
            if not isinstance(index, int):
                raise _Unknown
            fields = there.fields(current) if number else []
            if fields:
                offset, current = there.offset(current, index), fields[index]
            else:
                if number:
                    current = current.split(" x ", 1)[1][:-1] if " x " in current else current
                width = int(index_kind[1:])
                signed = index - (1 << width) if index >> (width - 1) else index
                offset = signed * there.size(current)
            total = Apply(Op.ADD, (total, Const(offset & (1 << 64) - 1, _ADDRESS)), _ADDRESS)
        return total


def _in_temporary(statement: Statement) -> bool:
    """Whether a store is into a compound literal, which is copied to where its value goes."""
    instance = statement.instance
    if instance is None or instance.instructions[statement.instruction].opcode != "store":
        return False
    view = instance.view
    at = operands(instance.instructions[statement.instruction])[1][1]
    for _ in range(C_PAIR.transplanted):
        block, number = view.definitions.get(at, (-1, -1))
        if block < 0:
            return False
        made = view.function.blocks[block].instructions[number]
        if made.opcode == "alloca":
            return at not in view.slot_names
        if made.opcode != "getelementptr":
            return False
        at = split_typed(split_top(made.body)[1])[1]
    return False


def _as_of(instance: Instance, instruction: int, blocks: BlockMap) -> int | None:
    """Before which instruction of the block the good version's one read what it did.

    A store that the good version made later had not happened: ``made[*next++]`` advances first,
    ``made[*next]; next++`` last. None where another store stands between that had.
    """
    number = blocks.instruction(instance.block, instruction)
    if number < 0:
        return instruction
    stores = [
        (at, blocks.instruction(instance.block, at))
        for at, each in enumerate(instance.instructions[:instruction])
        if each.opcode == "store"
    ]
    later = [at for at, there in stores if there > number]
    if not later:
        return instruction
    return None if any(0 <= there < number and at > later[0] for at, there in stores) else later[0]
