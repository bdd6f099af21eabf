"""Functions of LLVM IR decoded for execution: operands, targets and places looked up once."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from afterd.logic import Statement
from afterd.model.location import Location
from afterd.model.term import BOOL, OPAQUE, Sort, Value, bitvec
from afterd.symbolic.meetings import meetings
from afterd.symbolic.refusal import NotFollowedError
from afterd.trace.c.ir import arithmetic, cfg
from afterd.trace.c.ir.constants import literal, sort_of
from afterd.trace.c.ir.initialisers import constant_bits
from afterd.trace.c.ir.ir import NAME, Function, Instruction, parameters
from afterd.trace.c.ir.irtypes import Layout, split_top
from afterd.trace.c.ir.metadata import DebugInformation
from afterd.trace.c.ir.recorded import arguments, callee, operands, result_type, split_typed

ENDS = frozenset({"__assert_fail", "abort", "exit", "_exit", "__assert", "quick_exit", "_Exit"})
READING = frozenset(
    [
        "getc",
        "fgetc",
        "_IO_getc",
        "getchar",
        "fgets",
        "getline",
        "fread",
        "scanf",
        "fscanf",
        "fopen",
    ]
)
"""Functions that give what is read: an assignment of it is nobody's mistake."""
CONVERTING = frozenset(
    [
        "atoi",
        "atol",
        "atoll",
        "atof",
        "strtol",
        "strtoll",
        "strtoul",
        "strtoull",
        "strtod",
        "sscanf",
    ]
) | {"getenv"}
"""Functions that give the input in another form, where a text is the input."""
DOUBTED = CONVERTING - {"getenv"} | {"scanf", "fscanf"}
"""Functions that a program tells what to make of the input: by a base, a format, a choice among them."""
SHOWING = {
    "printf": 1, "fprintf": 2, "sprintf": 2, "snprintf": 3, "puts": 0, "fputs": 0,
    "putchar": 0, "putc": 0, "fputc": 0, "_IO_putc": 0,
}  # fmt: skip
"""Functions that show values, or make a text of them, each with the first argument that is a value."""
ASSERTS = frozenset({"__assert_fail", "abort", "__assert"})
_LABELS = re.compile(rf"label %({NAME})")
_CASE = re.compile(rf"(i\d+) (-?\w+), label %({NAME})")
_INCOMING = re.compile(rf"\[ (.+?), %({NAME}) \]")
_ARRAY = re.compile(r"[\[<](\d+) x (.+)[\]>]$", re.DOTALL)
_POINTER = bitvec(64)
_UNDEFINED = frozenset({"undef", "poison"})


@dataclass(frozen=True, slots=True)
class Operand:
    """A register of the frame, or a constant."""

    register: str
    value: Value
    sort: Sort
    is_pointer: bool = False


@dataclass(frozen=True, slots=True)
class Code:
    """One instruction. ``detail`` depends on the opcode: see ``_Decoder``. ``computed``: which values an
    output statement computes itself.
    """

    opcode: str
    result: str
    sort: Sort
    operands: tuple[Operand, ...]
    detail: Any
    statement: Statement | None
    size: int = 0  # bytes that it loads, stores or allocates
    computed: frozenset[int] = frozenset()

    @property
    def is_pointer(self) -> bool:
        """Of a load, whether it loads a pointer."""
        return _is_pointer(str(self.detail))


@dataclass(frozen=True, slots=True)
class Block:
    """φs apart, because they are evaluated together when the block is entered."""

    phis: tuple[tuple[str, Sort, Mapping[int, Operand]], ...]
    codes: tuple[Code, ...]
    asserts: bool  # whether it ends in the failure of an assertion
    ends: bool  # whether control never leaves it


@dataclass(frozen=True, slots=True)
class Body:
    """A function: blocks by number, its parameters, and the shape of its control flow.

    ``joins[b]`` is where all sides of b's branch meet again, -1 where only at the return; ``meetings[b]``
    where some of them do first, past which others may go.
    """

    name: str
    parameters: tuple[str, ...]
    blocks: tuple[Block, ...]
    joins: tuple[int, ...]
    meetings: tuple[int, ...]
    successors: tuple[tuple[int, ...], ...]
    headers: tuple[tuple[int, ...], ...]
    place: Statement | None


@dataclass(frozen=True, slots=True)
class Context:
    """What decoding needs to know of the module."""

    layout: Layout
    debug: DebugInformation
    address_of: Callable[[str], int | None]
    relative: Callable[[str], str]


def plain_name(name: str) -> str:
    """A library function without what glibc's headers put before it."""
    return name.removeprefix("__isoc99_").removeprefix("__isoc23_")


def decode(function: Function, context: Context) -> Body:
    """Decode a function; raises NotFollowedError for instructions that have no meaning here."""
    numbers = {block.label: at for at, block in enumerate(function.blocks)}
    decoder = _Decoder(function.name, context, numbers)
    blocks = tuple(decoder.block(block.instructions) for block in function.blocks)
    successors = tuple(
        tuple(dict.fromkeys(_targets(code.detail)))
        for block in blocks
        for code in (block.codes[-1],)
    )
    alive = [tuple(t for t in following if not blocks[t].ends) for following in successors]
    joins = cfg.analyse(alive).postdominator
    headers = cfg.analyse(successors).headers
    first = meetings(alive, headers, joins)
    names = tuple(text.rsplit(" ", 1)[-1] for text in parameters(function.header) if text != "...")
    own = context.debug.subprogram(function.header)
    place = Statement(Location(context.relative(own.file), own.line, 0, function.name))
    return Body(function.name, names, blocks, joins, first, successors, headers, place)


def _targets(detail: Any) -> list[int]:  # noqa: ANN401 - of a terminator
    match detail:
        case int():
            return [detail]
        case (int(), int()):
            return list(detail)
        case (dict() as cases, int() as default):
            return [*cases.values(), default]
    return []


@dataclass(frozen=True, slots=True)
class _Decoder:
    name: str
    context: Context
    numbers: Mapping[str, int]
    made: set[str] = field(default_factory=set)  # registers that were computed, not only read
    given_back: set[str] = field(default_factory=set)  # and that hold what is returned

    def block(self, instructions: tuple[Instruction, ...]) -> Block:
        kept = [i for i in instructions if not _is_debug(i)]
        phis = tuple(self._phi(i) for i in kept if i.opcode == "phi")
        codes = tuple(self._code(i) for i in kept if i.opcode != "phi")
        called = {code.detail[0] for code in codes if code.opcode == "call"}
        stops = codes[-1].opcode == "unreachable"
        return Block(phis, codes, stops and bool(called & ASSERTS), stops)

    def _phi(self, phi: Instruction) -> tuple[str, Sort, Mapping[int, Operand]]:
        kind, rest = split_typed(phi.body)
        incoming = {
            self.numbers[label.strip('"')]: self._operand(kind, text)
            for text, label in _INCOMING.findall(rest)
        }
        return phi.result, sort_of(kind), incoming

    def _code(self, i: Instruction) -> Code:
        decoded = getattr(self, f"_{i.opcode}", None)
        statement = self._statement(i, conditional=i.opcode in {"br", "switch", "select"})
        statement = None if self._gives_back(i) else statement
        if decoded is not None:
            sort, given, detail, size = decoded(i)
        elif i.opcode in arithmetic.BINARY:
            sort, given, detail, size = self._binary(i)
        elif i.opcode in arithmetic.CASTS or i.opcode in _CONVERSIONS:
            sort, given, detail, size = self._cast(i)
        else:
            raise NotFollowedError(f"{self.name} has an instruction {i.opcode}")
        computed = self._computed(i, given, detail)
        return Code(i.opcode, i.result, sort, tuple(given), detail, statement, size, computed)

    def _computed(self, i: Instruction, given: Sequence[Operand], detail: object) -> frozenset[int]:
        """The values of an output statement that it computes: what reads a variable, or converts what a
        call gave, only shows it, and what is shown is not what a repair changes.
        """
        registers = [operand.register for operand in given]
        if i.opcode == "call":
            assert isinstance(detail, tuple)
            first = SHOWING.get(plain_name(detail[0]), len(given))
            return frozenset(at for at in range(first, len(given)) if registers[at] in self.made)
        indexed = i.opcode == "getelementptr" and any(registers[1:])
        operation = i.opcode in arithmetic.BINARY or i.opcode in _OPERATIONS or indexed
        passes_on = i.opcode in arithmetic.CASTS or i.opcode in {
            *_CONVERSIONS,
            "load",
            "getelementptr",
        }
        if operation or (passes_on and self.made.issuperset(registers[:1])):
            self.made.add(i.result)
        return frozenset()

    def _gives_back(self, i: Instruction) -> bool:
        """Whether it only returns, at a function's closing brace, what a ``return`` before it assigned."""
        if i.opcode == "load" and operands(i)[1][1] == _RETURNED:
            self.given_back.add(i.result)
        return i.opcode == "ret" and split_typed(i.body)[1] in self.given_back

    def _statement(self, i: Instruction, *, conditional: bool) -> Statement | None:
        place = self.context.debug.location_of(i.text)
        if place is None or not place.line:
            return None
        file = self.context.relative(place.file)
        return Statement(Location(file, place.line, 0, self.name), conditional)

    def _operand(self, kind: str, text: str) -> Operand:
        sort = sort_of(kind)
        if text.startswith("%"):
            return Operand(text, None, sort, _is_pointer(kind))
        if text in _UNDEFINED:
            return Operand("", 0, sort)
        constant = literal(kind, text)
        if constant is not None:
            return Operand("", constant.value, sort, _is_pointer(kind))
        bits = constant_bits(kind, text, self.context.layout, self.context.address_of)
        if bits is None:
            raise NotFollowedError(f"{self.name} uses the constant {text[:60]}")
        return Operand("", bits, sort, _is_pointer(kind))

    def _binary(self, i: Instruction) -> tuple[Sort, list[Operand], object, int]:
        kind, left, right = arithmetic.binary_operands(i.body)
        checked = " nsw " in f" {i.text.split('=', 1)[1]} ".replace("  ", " ")
        given = [self._operand(kind, left), self._operand(kind, right)]
        return sort_of(kind), given, checked, 0

    def _fneg(self, i: Instruction) -> tuple[Sort, list[Operand], object, int]:
        kind, text = split_typed(i.body)
        return sort_of(kind), [self._operand(kind, text)], None, 0

    def _icmp(self, i: Instruction) -> tuple[Sort, list[Operand], object, int]:
        predicate, rest = i.body.split(" ", 1)
        kind, left, right = arithmetic.binary_operands(rest)
        return BOOL, [self._operand(kind, left), self._operand(kind, right)], predicate, 0

    _fcmp = _icmp

    def _cast(self, i: Instruction) -> tuple[Sort, list[Operand], object, int]:
        source, kind = i.body.rsplit(" to ", 1) if " to " in i.body else (i.body, i.body)
        kind = split_typed(kind)[0] if i.opcode == "freeze" else kind
        return sort_of(kind), [self._operand(*split_typed(source))], kind, 0

    def _select(self, i: Instruction) -> tuple[Sort, list[Operand], object, int]:
        given = [self._operand(*split_typed(part)) for part in split_top(i.body)]
        return given[1].sort, given, None, 0

    def _alloca(self, i: Instruction) -> tuple[Sort, list[Operand], object, int]:
        kind, *rest = split_top(i.body)
        many = [part for part in rest if not part.startswith("align")]
        given = [self._operand(*split_typed(many[0]))] if many else []
        return _POINTER, given, kind, self.context.layout.size(kind)

    def _load(self, i: Instruction) -> tuple[Sort, list[Operand], object, int]:
        (kind, _), pointer = operands(i)
        return sort_of(kind), [self._operand(*pointer)], kind, self.context.layout.stored(kind)

    def _store(self, i: Instruction) -> tuple[Sort, list[Operand], object, int]:
        value, pointer = operands(i)
        given = [self._operand(*value), self._operand(*pointer)]
        return given[0].sort, given, value[0], self.context.layout.stored(value[0])

    def _getelementptr(self, i: Instruction) -> tuple[Sort, list[Operand], object, int]:
        """detail: (constant offset, scale of each variable index, the struct whose field it is or empty)."""
        layout = self.context.layout
        current, base, *indices = split_top(i.body)
        record = current if len(indices) > 1 and layout.fields(current) else ""
        given, scales, offset = [self._operand(*split_typed(base))], [], 0
        for number, part in enumerate(indices):
            kind, text = split_typed(part)
            if number and layout.fields(current):
                offset += layout.offset(current, int(text))
                current = layout.fields(current)[int(text)]
                continue
            if number and (element := _ARRAY.match(current)):
                current = element.group(2)
            index = self._operand(kind, text)
            if index.register:
                given.append(index)
                scales.append(layout.size(current))
            else:
                offset += int(text) * layout.size(current)
        return _POINTER, given, (offset, tuple(scales), record), 0

    def _br(self, i: Instruction) -> tuple[Sort, list[Operand], object, int]:
        targets = [self.numbers[name.strip('"')] for name in _LABELS.findall(i.text)]
        if len(targets) == 1:
            return OPAQUE, [], targets[0], 0
        condition = self._operand("i1", split_typed(i.body.split(",")[0])[1])
        return BOOL, [condition], (targets[0], targets[1]), 0

    def _switch(self, i: Instruction) -> tuple[Sort, list[Operand], object, int]:
        """detail: (value → block, the default's block)."""
        head, _, table = i.text.partition("[")
        kind, text = split_typed(split_top(head.strip().removeprefix("switch "))[0])
        default = self.numbers[_LABELS.findall(head)[0].strip('"')]
        cases = {}
        for of, value, label in _CASE.findall(table):
            constant = literal(of, value)
            assert constant is not None
            cases[constant.value] = self.numbers[label.strip('"')]
        return OPAQUE, [self._operand(kind, text)], (cases, default), 0

    def _ret(self, i: Instruction) -> tuple[Sort, list[Operand], object, int]:
        kind, text = split_typed(i.body)
        return sort_of(kind), [self._operand(kind, text)] if text else [], None, 0

    def _unreachable(self, _i: Instruction) -> tuple[Sort, list[Operand], object, int]:
        return OPAQUE, [], None, 0

    def _call(self, i: Instruction) -> tuple[Sort, list[Operand], object, int]:
        """detail: (name without @, or empty for an indirect call; type of the result)."""
        name, kind = callee(i), result_type(i)
        if name.startswith("@llvm.") and "metadata" in i.text:
            return OPAQUE, [], ("llvm.dbg", kind), 0
        given = [self._operand(*part) for part in arguments(i)]
        if name.startswith("%"):
            return sort_of(kind), [*given, Operand(name, None, _POINTER)], ("", kind), 0
        if not name.startswith("@"):
            raise NotFollowedError(f"{self.name} has inline assembly")
        return sort_of(kind), given, (name[1:], kind), self.context.layout.size(kind)

    def _extractvalue(self, i: Instruction) -> tuple[Sort, list[Operand], object, int]:
        raise NotFollowedError(f"{self.name} takes a struct apart in registers ({i.body[:40]})")


def _is_pointer(kind: str) -> bool:
    return kind == "ptr" or kind.endswith("*")


def _is_debug(i: Instruction) -> bool:
    return i.opcode == "call" and callee(i).startswith(("@llvm.dbg", "@llvm.lifetime"))


_CONVERSIONS = frozenset({"sitofp", "uitofp", "fptosi", "fptoui"})
_RETURNED = (
    "%retval"  # what clang calls the place of a function's value where several statements return
)
_OPERATIONS = frozenset({"icmp", "fcmp", "fneg", "select"})
