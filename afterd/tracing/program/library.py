"""The C library as the executed program sees it: what it does to memory, input and output.

What depends on the input alone is an input (a number read from an argument); what depends on
memory is concrete, with its arguments named. A function that is not here cannot be followed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence

from afterd.logic.evaluate import signed
from afterd.logic.terms import distinct_reads
from afterd.model.term import (
    BOOL,
    Apply,
    Concrete,
    Const,
    Op,
    Read,
    SortKind,
    Term,
    Value,
    bitvec,
)
from afterd.tracing.program.code import Code
from afterd.tracing.program.frames import Frame
from afterd.tracing.program.machine import Machine
from afterd.tracing.program.operations import Known
from afterd.tracing.program.refusal import NotFollowedError, SideEndedError
from afterd.tracing.program.strings import Displayed, rendered, shown_by, text_at

_INT = bitvec(32)
_STANDARD_ERROR = "stderr"
_NUMBER = re.compile(rb"[ \t\n\r\f\v]*([-+]?)(0[xX][0-9a-fA-F]+|[0-9]+)")


def call(machine: Machine, frame: Frame, code: Code, name: str, given: list[Known]) -> Known | None:
    """What a function of the C library does."""
    if name.startswith("llvm."):
        return _intrinsic(machine, code, name, given)
    function = _FUNCTIONS.get(name.removeprefix("__isoc99_").removeprefix("__isoc23_"))
    if function is None:
        raise NotFollowedError(f"{frame.body.name} calls {name or 'an unknown address'}")
    return function(_Call(machine, frame, code, given))


class _Call:
    """One call, with its arguments as what they are used for."""

    def __init__(self, machine: Machine, frame: Frame, code: Code, given: list[Known]) -> None:
        self.machine = machine
        self.frame = frame
        self.code = code
        self.given = given

    def number(self, at: int) -> int:
        """An integer argument, unsigned."""
        value = self.given[at][0]
        assert isinstance(value, int)
        return int(value)

    def text(self, at: int) -> bytes:
        """A string argument."""
        return text_at(self.machine.memory, self.number(at))

    def form(self, at: int) -> str:
        """A format argument."""
        return self.text(at).decode("latin-1")

    def concrete(self, value: Value, *dependent: Term | None) -> Known:
        """A result that only holds for the arguments it was made from."""
        terms = [term for _, term in self.given] + list(dependent)
        found = {r.step: r for term in terms if term is not None for r in distinct_reads(term)}
        if not found or not self.machine.symbolic:
            return value, None
        name = self.code.detail[0]
        return value, Concrete(value, self.code.sort, f"a result of {name}", tuple(found.values()))

    def input(self, value: int, source: tuple[str, int]) -> Known:
        """A number that was read from outside."""
        word = value & (1 << self.code.sort.width) - 1
        if not self.machine.symbolic:
            return word, None
        return word, self.bound(word, source, self.code.sort.width)

    def bound(self, word: int, source: tuple[str, int], width: int) -> Read:
        """The name of a number that was read from outside."""
        machine = self.machine
        key = (machine.key(self.frame), source)
        read = machine.collector.bind(key, bitvec(width), word, f"{source[0]} {source[1]}")
        machine.world.sources[read.step] = source
        return read

    def cells(self, address: int, size: int) -> list[Term]:
        """The terms of some bytes."""
        memory = self.machine.memory
        if not memory.cells:
            return []
        span = range(address - 7, address + size)
        return [memory.cells[at].term for at in span if at in memory.cells]


def _show(c: _Call, what: str, values: Sequence[Displayed]) -> Known:
    machine = c.machine
    machine.positions = machine.observer.shown(
        what, values, machine.positions, machine.instances, real=machine.real
    )
    return 0, None


def _show_printed(c: _Call, form: str, given: Sequence[Known]) -> Known:
    return _show(c, *shown_by(c.machine.memory, form, given, c.machine.pointers.text_places))


def _printf(c: _Call) -> Known:
    return _show_printed(c, c.form(0), c.given[1:])


def _fprintf(c: _Call) -> Known:
    if _to_error(c, 0):
        return 0, None
    return _show_printed(c, c.form(1), c.given[2:])


def _sprintf(c: _Call, form: int = 1) -> Known:
    text = rendered(c.machine.memory, c.form(form), c.given[form + 1 :])
    if form == 2:
        text = text[: max(0, c.number(1) - 1)]
    c.machine.memory.write(c.number(0), text + b"\0")
    return c.concrete(len(text))


def _puts(c: _Call) -> Known:
    return _show_printed(c, "%s\n", c.given)


def _fputs(c: _Call) -> Known:
    return (0, None) if _to_error(c, 1) else _show_printed(c, "%s", c.given[:1])


def _putchar(c: _Call) -> Known:
    if len(c.given) > 1 and _to_error(c, 1):
        return c.given[0]
    _show(c, "%c", c.given[:1])
    return c.given[0]


def _to_error(c: _Call, at: int) -> bool:
    """Whether a stream is standard error: what it shows is not compared."""
    return c.number(at) == c.machine.image.address_of(_STANDARD_ERROR)


def _number_read(c: _Call) -> Known:
    """atoi, atol and strtol without an end pointer: an input, where the text is one."""
    address, text = c.number(0), c.text(0)
    found = _NUMBER.match(text)
    value = int(found.group(2), 0 if b"x" in found.group(2).lower() else 10) if found else 0
    value = -value if found and found.group(1) == b"-" else value
    if len(c.given) > 1 and c.number(1):
        end = address + (found.end() if found else 0)
        c.machine.memory.write(c.number(1), end.to_bytes(8, "little"))
    dependent = c.cells(address, len(text) + 1)
    if dependent or (c.given[0][1] is not None and not _argument_number(c, address)):
        return c.concrete(value & (1 << c.code.sort.width) - 1, *dependent)
    return c.input(
        value,
        ("argument", _argument_number(c, address))
        if (_argument_number(c, address))
        else ("text", address),
    )


def _argument_number(c: _Call, address: int) -> int:
    """Which argument of the program a text is; 0 for none."""
    found = c.machine.memory.object_at(address)
    if found is None or not found.kind.startswith("argument ") or found.start != address:
        return 0
    return int(found.kind.split()[1])


def _scanf(c: _Call, form: int = 0, text: bytes | None = None) -> Known:
    """Whole numbers, words and characters; how many were read."""
    world, memory, count = c.machine.world, c.machine.memory, 0
    pointers = iter(c.given[form + 1 :])
    for letter in re.findall(r"%(?:\d+)?(?:hh|h|ll|l)?([a-z])", c.form(form)):
        if text is not None or letter not in "dics":
            raise NotFollowedError("a call of scanf with such a format")
        start = world.at
        target = next(pointers)[0]
        assert isinstance(target, int)
        if letter == "c":
            byte = world.byte()
            word = bytes([byte]) if byte >= 0 else b""
        else:
            word = world.word()
        if not word:
            return c.concrete(count or (1 << 32) - 1)
        if letter in "di":
            found = _NUMBER.match(word)
            if found is None:
                break
            value = int(word) & 0xFFFFFFFF
            term = c.bound(value, ("stdin", start), 32) if c.machine.symbolic else None
            memory.write(target, value.to_bytes(4, "little"), term)
        else:
            memory.write(target, word if letter == "c" else word + b"\0")
        count += 1
    return c.concrete(count)


def _fgets(c: _Call) -> Known:
    line = c.machine.world.line(c.number(1) - 1)
    if not line:
        return 0, None
    c.machine.memory.write(c.number(0), line + b"\0")
    return c.given[0]


def _getchar(c: _Call) -> Known:
    start = c.machine.world.at
    value = c.machine.world.byte()
    return c.input(value, ("byte", start))


def _allocate(c: _Call) -> Known:
    size = c.number(0) * (c.number(1) if c.code.detail[0] == "calloc" else 1)
    return c.machine.memory.allocate(signed(size, 64), f"heap {size}"), None


def _reallocate(c: _Call) -> Known:
    old, size = c.number(0), c.number(1)
    new = c.machine.memory.allocate(size, f"heap {size}")
    found = c.machine.memory.object_at(old) if old else None
    if found is not None:
        _copied(c.machine, new, old, min(size, found.size))
    return new, None


def _copied(machine: Machine, to: int, source: int, size: int) -> None:
    """Bytes with their terms."""
    memory = machine.memory
    data = memory.read(source, size)
    cells = [(at, memory.cells[source + at]) for at in range(size) if source + at in memory.cells]
    memory.write(to, data)
    for at, cell in cells:
        if at + cell.size <= size:
            memory.write(to + at, data[at : at + cell.size], cell.term)


def _memcpy(c: _Call) -> Known:
    _copied(c.machine, c.number(0), c.number(1), c.number(2))
    return c.given[0]


def _memset(c: _Call) -> Known:
    c.machine.memory.write(c.number(0), bytes([c.number(1) & 0xFF]) * c.number(2))
    return c.given[0]


def _strcpy(c: _Call) -> Known:
    text = c.text(1)
    if len(c.given) > 2:
        size = c.number(2)
        c.machine.memory.write(c.number(0), text[:size].ljust(size, b"\0"))
    else:
        _copied(c.machine, c.number(0), c.number(1), len(text) + 1)
    return c.given[0]


def _strcat(c: _Call) -> Known:
    c.machine.memory.write(c.number(0) + len(c.text(0)), c.text(1) + b"\0")
    return c.given[0]


def _strcmp(c: _Call) -> Known:
    most = c.number(2) if len(c.given) > 2 else 1 << 30
    left, right = c.text(0)[:most], c.text(1)[:most]
    value = (left > right) - (left < right)
    terms = c.cells(c.number(0), len(left) + 1) + c.cells(c.number(1), len(right) + 1)
    return c.concrete(value & 0xFFFFFFFF, *terms)


def _strlen(c: _Call) -> Known:
    text = c.text(0)
    return c.concrete(len(text), *c.cells(c.number(0), len(text) + 1))


def _strchr(c: _Call) -> Known:
    text, wanted = c.text(0) + b"\0", bytes([c.number(1) & 0xFF])
    find = text.rfind if c.code.detail[0] == "strrchr" else text.find
    at = find(wanted)
    return c.concrete(c.number(0) + at if at >= 0 else 0, *c.cells(c.number(0), len(text)))


def _strtok(c: _Call) -> Known:
    memory, world = c.machine.memory, c.machine.world
    separators = c.text(1)
    at = c.number(0) or world.token
    while at and (byte := memory.read(at, 1)) != b"\0" and byte in separators:
        at += 1
    if not at or memory.read(at, 1) == b"\0":
        world.token = 0
        return 0, None
    end = at
    while (byte := memory.read(end, 1)) != b"\0" and byte not in separators:
        end += 1
    world.token = 0
    if memory.read(end, 1) != b"\0":
        memory.write(end, b"\0")
        world.token = end + 1
    return at, None


def _exit(c: _Call) -> Known:
    machine = c.machine
    machine.observer.exited(machine.positions, c.given[0], real=machine.real)
    if c.code.detail[0] == "exit" and machine.asks_invariant(machine.key(c.frame)):
        return 0, None
    raise SideEndedError("it ended")


def _fails(c: _Call) -> Known:
    """An assertion that is no branch's other side: reaching this place is the failure."""
    machine, statement = c.machine, c.code.statement
    name = str(statement.location) if statement else c.code.detail[0]
    false = Const(value=False, sort=BOOL)
    machine.observer.asserted(name, false, held=False, real=machine.real)
    machine.ending = machine.ending or f"{c.code.detail[0]} at {name}"
    raise SideEndedError("it ended")


def _absolute(c: _Call) -> Known:
    term, sort = c.given[0][1], c.code.sort
    plain = abs(signed(c.number(0), sort.width))
    if term is None:
        return plain, None
    negative = Apply(Op.LT, (term, Const(0, sort)), BOOL)
    return plain, Apply(Op.ITE, (negative, Apply(Op.NEG, (term,), sort), term), sort)


def _classified(test: Callable[[int], bool]) -> Callable[[_Call], Known]:
    def function(c: _Call) -> Known:
        value = signed(c.number(0), 32)
        return c.concrete(int(0 <= value < 128 and test(value)))

    return function


def _mathematical(operation: Callable[..., float]) -> Callable[[_Call], Known]:
    def function(c: _Call) -> Known:
        try:
            values = [float(v) for v, _ in c.given if isinstance(v, int | float)]
            return c.concrete(float(operation(*values)))
        except (ValueError, OverflowError):
            return c.concrete(math.nan)

    return function


def _kinds(c: _Call) -> Known:
    """Glibc's table of the kinds of characters, with the bits that <ctype.h> tests."""
    machine = c.machine
    made = machine.image.addresses.get("the ctype table")
    if made is None:
        found = [o.start for o in machine.memory.of_kind.get("ctype table", [])]
        table = found[0] if found else _ctype_table(machine)
        holders = machine.memory.of_kind.get("ctype holder", [])
        made = holders[0].start if holders else machine.memory.allocate(8, "ctype holder")
        machine.memory.write(made, (table + 256).to_bytes(8, "little"))
    return made, None


def _ctype_table(machine: Machine) -> int:
    start = machine.memory.allocate(768, "ctype table")
    for code in range(128):
        c = chr(code)
        flags = (
            (c.isupper() << 8) | (c.islower() << 9) | (c.isalpha() << 10) | (c.isdigit() << 11)
            | ((c in "0123456789abcdefABCDEF") << 12) | ((c in " \t\n\v\f\r") << 13)
            | ((32 <= code < 127) << 14) | ((33 <= code < 127) << 15) | ((c in " \t") << 0)
            | ((code < 32 or code == 127) << 1)
            | ((33 <= code < 127 and not c.isalnum()) << 2) | (c.isalnum() << 3)
        )  # fmt: skip
        machine.memory.write(start + 256 + 2 * code, int(flags).to_bytes(2, "little"))
    return start


def _random(c: _Call) -> Known:
    world = c.machine.world
    world.random = (world.random * 1103515245 + 12345) & 0x7FFFFFFF
    return c.concrete(world.random)


def _seed(c: _Call) -> Known:
    c.machine.world.random = c.number(0)
    return 0, None


def _nothing(c: _Call) -> Known:
    del c
    return 0, None


def _intrinsic(machine: Machine, code: Code, name: str, given: list[Known]) -> Known | None:
    kind = name.split(".")[1]
    c = _Call(machine, machine.frames[-1], code, given)
    match kind:
        case "memcpy" | "memmove":
            return _memcpy(c)
        case "memset":
            return _memset(c)
        case "fabs" | "sqrt" | "floor" | "ceil" if code.sort.kind is SortKind.FLOAT:
            return _FUNCTIONS[kind](c)
        case "fmuladd":
            return _mathematical(lambda a, b, c: a * b + c)(c)
        case "abs":
            return _absolute(c)
        case "trap" | "ubsantrap":
            return _fails(c)
        case "dbg" | "lifetime" | "stacksave" | "stackrestore" | "assume":
            return 0, None
    raise NotFollowedError(f"the intrinsic {name}")


_FUNCTIONS: Mapping[str, Callable[[_Call], Known | None]] = {
    "printf": _printf, "fprintf": _fprintf, "sprintf": _sprintf,
    "snprintf": lambda c: _sprintf(c, 2), "puts": _puts, "fputs": _fputs,
    "putchar": _putchar, "putc": _putchar, "fputc": _putchar, "_IO_putc": _putchar,
    "atoi": _number_read, "atol": _number_read, "atoll": _number_read, "strtol": _number_read,
    "strtoul": _number_read, "scanf": _scanf, "fgets": _fgets, "getchar": _getchar,
    "getc": _getchar, "fgetc": _getchar, "malloc": _allocate, "calloc": _allocate,
    "realloc": _reallocate, "free": _nothing, "memcpy": _memcpy, "memmove": _memcpy,
    "memset": _memset, "strcpy": _strcpy, "strncpy": _strcpy, "strcat": _strcat,
    "strcmp": _strcmp, "strncmp": _strcmp, "strlen": _strlen, "strchr": _strchr,
    "strrchr": _strchr, "strtok": _strtok, "exit": _exit, "_exit": _exit, "abort": _fails,
    "__assert_fail": _fails, "abs": _absolute, "labs": _absolute, "__ctype_b_loc": _kinds,
    "isdigit": _classified(lambda v: chr(v).isdigit()),
    "isalpha": _classified(lambda v: chr(v).isalpha()),
    "isalnum": _classified(lambda v: chr(v).isalnum()),
    "isspace": _classified(lambda v: chr(v) in " \t\n\v\f\r"),
    "isupper": _classified(lambda v: chr(v).isupper()),
    "islower": _classified(lambda v: chr(v).islower()),
    "toupper": lambda c: c.concrete(ord(chr(c.number(0) & 0x7F).upper())),
    "tolower": lambda c: c.concrete(ord(chr(c.number(0) & 0x7F).lower())),
    "sqrt": _mathematical(math.sqrt), "fabs": _mathematical(math.fabs),
    "pow": _mathematical(math.pow), "exp": _mathematical(math.exp),
    "log": _mathematical(math.log), "floor": _mathematical(math.floor),
    "ceil": _mathematical(math.ceil), "sin": _mathematical(math.sin),
    "cos": _mathematical(math.cos), "fmod": _mathematical(math.fmod),
    "rand": _random, "srand": _seed, "fflush": _nothing, "setvbuf": _nothing,
    "setlocale": _nothing,
}  # fmt: skip
