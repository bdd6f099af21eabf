"""The C library as the executed program sees it: what it does to memory, input and output.

What depends on the input alone is an input (a number read from an argument); what depends on
memory is concrete, with its arguments named. A function that is not here cannot be followed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cmp_to_key

from afterd.logic import signed_value
from afterd.model.term import BOOL, Apply, Const, Op, Sort, SortKind, Term, bitvec
from afterd.symbolic.calls import Call
from afterd.symbolic.code import Code, plain_name
from afterd.symbolic.frames import Frame
from afterd.symbolic.machine import Machine
from afterd.symbolic.operations import Known
from afterd.symbolic.refusal import NotFollowedError, SideEndedError
from afterd.symbolic.scanning import integer, parsed_real
from afterd.symbolic.streams import STREAMS
from afterd.trace.c.ir.constants import from_word


def call(machine: Machine, frame: Frame, code: Code, name: str, given: list[Known]) -> Known | None:
    """What a function of the C library does."""
    if name.startswith("llvm."):
        return _intrinsic(machine, code, name, given)
    function = _FUNCTIONS.get(plain_name(name))
    if function is None:
        said = name or "an unknown address"
        why = ", which jumps out of functions" if "jmp" in name else ", which is not known here"
        raise NotFollowedError(f"{frame.body.name} calls {said}{why if name else ''}")
    return function(Call(machine, frame, code, given))


def _number_read(c: Call) -> Known:
    """atoi, atol, strtol and their like: an input where the text is an argument of the program."""
    bits = 64 if c.code.sort.width == 64 else 32
    base = c.number(2) if len(c.given) > 2 else 10
    address, text = c.number(0), c.text(0)
    value, taken = integer(text, base, 64)
    if c.code.detail[0].startswith("strto") and len(c.given) > 1:
        _set_end(c, address + taken)
    dependent = c.cells(address, len(text) + 1)
    argument = _argument_number(c, address)
    if dependent or (c.given[0][1] is not None and not argument):
        return c.concrete(value & (1 << bits) - 1, *dependent)
    return c.input(value, ("argument", argument)) if argument else (value & (1 << bits) - 1, None)


def _real_read(c: Call) -> Known:
    """What atof and strtod give."""
    address, text = c.number(0), c.text(0)
    value, taken = parsed_real(text)
    if len(c.given) > 1:
        _set_end(c, address + taken)
    return c.concrete(value, *c.cells(address, len(text) + 1))


def _set_end(c: Call, end: int) -> None:
    """Write where a number ended, if that is wanted."""
    if c.number(1):
        text = c.cells(c.number(0), len(c.text(0)) + 1)
        own = c.given[0][1]
        terms = text if own is None else [*text, own]
        c.store(c.given[1], c.point(end, bitvec(64), terms), bitvec(64))


def _argument_number(c: Call, address: int) -> int:
    """Which argument of the program a text is; 0 for none."""
    found = c.machine.memory.object_at(address)
    if found is None or not found.kind.startswith("argument ") or found.start != address:
        return 0
    return int(found.kind.split()[1])


def _allocate(c: Call) -> Known:
    size = c.number(0) * (c.number(1) if c.code.detail[0] == "calloc" else 1)
    return c.allocate(signed_value(size, 64)), None


def _reallocate(c: Call) -> Known:
    old, size = c.number(0), c.number(1)
    new = c.allocate(size)
    found = c.machine.memory.object_at(old) if old else None
    if found is not None:
        _copy_bytes(c.machine, new, old, min(size, found.size))
    return new, None


def _copy_bytes(machine: Machine, to: int, source: int, size: int) -> None:
    """Bytes with their terms."""
    memory = machine.memory
    data = memory.read(source, size)
    cells = [(at, memory.cells[source + at]) for at in range(size) if source + at in memory.cells]
    memory.write(to, data)
    for at, cell in cells:
        if at + cell.size <= size:
            memory.write(to + at, data[at : at + cell.size], cell.term)


def _memcpy(c: Call) -> Known:
    computed = any(term is not None for _, term in c.given[:2])
    if computed and c.machine.symbolic and c.machine.bounds.records:
        _copy_record(c)
    else:
        _copy_bytes(c.machine, c.number(0), c.number(1), c.number(2))
    return c.given[0]


def _copy_record(c: Call) -> None:
    """Bytes from and to an address that may be another one, scalar by scalar."""
    memory, pointers = c.machine.memory, c.machine.pointers
    source, size = c.number(1), c.number(2)
    memory.check(source, size)
    read = []
    scalars = memory.scalars(source, size)
    for at, width in scalars:
        held = memory.cells[at].term.sort if at in memory.cells else BOOL
        sort = held if held.kind is SortKind.FLOAT else bitvec(8 * width)
        from_there = pointers.behind(c.given[1], at - source)
        read.append((at - source, c.load(from_there, sort, len(scalars)), sort))
    for offset, known, sort in read:
        c.store(pointers.behind(c.given[0], offset), known, sort, len(scalars))


def _memset(c: Call) -> Known:
    c.machine.memory.write(c.number(0), bytes([c.number(1) & 0xFF]) * c.number(2))
    return c.given[0]


def _strcpy(c: Call) -> Known:
    text = c.text(1)
    if len(c.given) > 2:
        size = c.number(2)
        c.machine.memory.write(c.number(0), text[:size].ljust(size, b"\0"))
    else:
        _copy_bytes(c.machine, c.number(0), c.number(1), len(text) + 1)
    return c.given[0]


def _strcat(c: Call) -> Known:
    """strcat, and strncat with its number of bytes."""
    end, text = c.number(0) + len(c.text(0)), c.text(1)
    size = min(len(text), c.number(2)) if len(c.given) > 2 else len(text)
    _copy_bytes(c.machine, end, c.number(1), size)
    c.machine.memory.write(end + size, b"\0")
    return c.given[0]


def _strcmp(c: Call) -> Known:
    most = c.number(2) if len(c.given) > 2 else 1 << 30
    left, right = c.text(0)[:most], c.text(1)[:most]
    if "case" in c.code.detail[0]:
        left, right = left.lower(), right.lower()
    value = (left > right) - (left < right)
    terms = c.cells(c.number(0), len(left) + 1) + c.cells(c.number(1), len(right) + 1)
    return c.concrete(value & 0xFFFFFFFF, *terms)


def _strlen(c: Call) -> Known:
    text = c.text(0)
    return c.concrete(len(text), *c.cells(c.number(0), len(text) + 1))


def _strchr(c: Call) -> Known:
    text, wanted = c.text(0) + b"\0", bytes([c.number(1) & 0xFF])
    find = text.rfind if c.code.detail[0] == "strrchr" else text.find
    at = find(wanted)
    return c.concrete(c.number(0) + at if at >= 0 else 0, *c.cells(c.number(0), len(text)))


def _strstr(c: Call) -> Known:
    at = c.text(0).find(c.text(1))
    terms = c.cells(c.number(0), len(c.text(0)) + 1) + c.cells(c.number(1), len(c.text(1)) + 1)
    return c.concrete(c.number(0) + at if at >= 0 else 0, *terms)


def _span(c: Call) -> Known:
    """strspn, strcspn and strpbrk."""
    text, named = c.text(0), c.text(1)
    inside = c.code.detail[0] == "strspn"
    count = next((at for at, byte in enumerate(text) if (byte in named) != inside), len(text))
    terms = c.cells(c.number(0), len(text) + 1) + c.cells(c.number(1), len(named) + 1)
    if c.code.detail[0] == "strpbrk":
        return c.concrete(c.number(0) + count if count < len(text) else 0, *terms)
    return c.concrete(count, *terms)


def _strdup(c: Call) -> Known:
    size = len(c.text(0)) + 1
    made = c.allocate(size)
    _copy_bytes(c.machine, made, c.number(0), size)
    return made, None


def _memcmp(c: Call) -> Known:
    size = c.number(2)
    left, right = (c.machine.memory.read(c.number(at), size) for at in (0, 1))
    terms = c.cells(c.number(0), size) + c.cells(c.number(1), size)
    return c.concrete((left > right) - (left < right), *terms)


def _memchr(c: Call) -> Known:
    at = c.machine.memory.read(c.number(0), c.number(2)).find(bytes([c.number(1) & 0xFF]))
    return c.concrete(c.number(0) + at if at >= 0 else 0, *c.cells(c.number(0), c.number(2)))


def _getenv(c: Call) -> Known:
    """A variable of the environment: tests are run without any of their own."""
    return c.concrete(0, *c.cells(c.number(0), len(c.text(0)) + 1))


def _comparison_result(c: Call, function: int, left: int, right: int, terms: list[Term]) -> int:
    """What a function that compares says of two elements; what it says depends on is added to ``terms``."""
    value, term = c.called(function, [(left, None), (right, None)])
    terms += [] if term is None else [term]
    assert isinstance(value, int)
    return signed_value(value, 32)


def _qsort(c: Call) -> Known:
    """Sorted as the program's own function says; each element is what it was while that said what it said."""
    memory, size, terms = c.machine.memory, c.number(2), list[Term]()
    start, count, function = c.number(0), c.number(1), c.number(3)
    places = [start + at * size for at in range(count)]

    def order(left: int, right: int) -> int:
        return _comparison_result(c, function, left, right, terms)

    found = sorted(places, key=cmp_to_key(order))
    terms += c.cells(start, size * count)
    kept = [(memory.read(at, size), _cells_of(c, at, size)) for at in found]
    for place, (data, cells) in zip(places, kept, strict=True):
        memory.write(place, data)
        for offset, wide, sort in cells or _plain_words(data):
            part = data[offset : offset + wide]
            value = from_word(int.from_bytes(part, "little"), sort)
            memory.write(place + offset, part, c.point(value, sort, terms)[1])
    return 0, None


def _cells_of(c: Call, start: int, size: int) -> list[tuple[int, int, Sort]]:
    """The scalars of an element that have terms, as (offset, size, sort)."""
    cells = c.machine.memory.cells
    inside = ((at, cells[start + at]) for at in range(size) if start + at in cells)
    return [(at, cell.size, cell.term.sort) for at, cell in inside if at + cell.size <= size]


def _plain_words(data: bytes) -> list[tuple[int, int, Sort]]:
    """An element without terms, in words as large as they can be."""
    wide = next(width for width in (8, 4, 2, 1) if len(data) % width == 0)
    return [(at, wide, bitvec(8 * wide)) for at in range(0, len(data), wide)]


def _bsearch(c: Call) -> Known:
    """The element that the program's own function finds equal to the key, or null."""
    key, start, size, function = c.number(0), c.number(1), c.number(3), c.number(4)
    low, high, terms = 0, c.number(2), list[Term]()
    while low < high:
        middle = (low + high) // 2
        said = _comparison_result(c, function, key, start + middle * size, terms)
        if said == 0:
            return c.concrete(start + middle * size, *terms)
        low, high = (middle + 1, high) if said > 0 else (low, middle)
    return c.concrete(0, *terms)


def _strtok(c: Call) -> Known:
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


def _exit(c: Call) -> Known:
    machine = c.machine
    machine.observer.exited(machine.positions, c.given[0], real=machine.real)
    if c.code.detail[0] == "exit" and machine.asks_invariant(machine.key(c.frame)):
        return 0, None
    raise SideEndedError("it ended")


def _fails(c: Call) -> Known:
    """An assertion that is no branch's other side: reaching this place is the failure."""
    machine, statement = c.machine, c.code.statement
    name = str(statement.location) if statement else c.code.detail[0]
    false = Const(value=False, sort=BOOL)
    machine.observer.asserted(name, false, held=False, real=machine.real)
    machine.ending = machine.ending or f"{c.code.detail[0]} at {name}"
    raise SideEndedError("it ended")


def _absolute(c: Call) -> Known:
    term, sort = c.given[0][1], c.code.sort
    plain = abs(signed_value(c.number(0), sort.width))
    if term is None:
        return plain, None
    negative = Apply(Op.LT, (term, Const(0, sort)), BOOL)
    return plain, Apply(Op.ITE, (negative, Apply(Op.NEG, (term,), sort), term), sort)


def _classified(test: Callable[[str], bool]) -> Callable[[Call], Known]:
    def function(c: Call) -> Known:
        value = signed_value(c.number(0), 32)
        return c.concrete(int(0 <= value < 128 and test(chr(value))))

    return function


def _mathematical(operation: Callable[..., float]) -> Callable[[Call], Known]:
    def function(c: Call) -> Known:
        try:
            values = [float(v) for v, _ in c.given if isinstance(v, int | float)]
            return c.concrete(float(operation(*values)))
        except (ValueError, OverflowError):
            return c.concrete(math.nan)

    return function


def _kinds(c: Call) -> Known:
    """Glibc's table behind <ctype.h>: the kinds of characters as bits, or their other case."""
    memory, name = c.machine.memory, c.code.detail[0]
    holders = memory.of_kind.get(name)
    if holders is None:
        wide = 2 if name == "__ctype_b_loc" else 4
        words = b"".join(_entry(name, code).to_bytes(wide, "little") for code in range(-128, 256))
        table = memory.hold(words, f"table of {name}", c.place())
        memory.hold((table + 128 * wide).to_bytes(8, "little"), name, c.place())
        holders = memory.of_kind[name]
    return holders[0].start, None


def _entry(name: str, code: int) -> int:
    """What one of the tables holds for a character."""
    if not 0 <= code < 128:
        return 0 if name == "__ctype_b_loc" else code & 0xFFFFFFFF
    c = chr(code)
    if name != "__ctype_b_loc":
        return ord(c.lower() if name == "__ctype_tolower_loc" else c.upper())
    return (
        (c.isupper() << 8) | (c.islower() << 9) | (c.isalpha() << 10) | (c.isdigit() << 11)
        | ((c in "0123456789abcdefABCDEF") << 12) | ((c in " \t\n\v\f\r") << 13)
        | ((32 <= code < 127) << 14) | ((33 <= code < 127) << 15) | ((c in " \t") << 0)
        | ((code < 32 or code == 127) << 1)
        | ((33 <= code < 127 and not c.isalnum()) << 2) | (c.isalnum() << 3)
    )  # fmt: skip


def _random(c: Call) -> Known:
    world = c.machine.world
    world.random = (world.random * 1103515245 + 12345) & 0x7FFFFFFF
    return c.concrete(world.random)


def _cased_character(c: Call, change: Callable[[str], str]) -> Known:
    value = signed_value(c.number(0), 32)
    return c.concrete(ord(change(chr(value))) if 0 <= value < 128 else value)


def _seed(c: Call) -> Known:
    c.machine.world.random = c.number(0)
    return 0, None


def _no_result(c: Call) -> Known:
    del c
    return 0, None


def _intrinsic(machine: Machine, code: Code, name: str, given: list[Known]) -> Known | None:
    kind = name.split(".")[1]
    c = Call(machine, machine.frames[-1], code, given)
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


_FUNCTIONS: Mapping[str, Callable[[Call], Known | None]] = {
    **STREAMS,
    **dict.fromkeys(["atoi", "atol", "atoll", "strtol", "strtoll", "strtoul", "strtoull"],
                    _number_read),
    "atof": _real_read, "strtod": _real_read, "getenv": _getenv,
    "malloc": _allocate, "calloc": _allocate, "realloc": _reallocate, "free": _no_result,
    "memcpy": _memcpy, "memmove": _memcpy, "memset": _memset, "memcmp": _memcmp,
    "memchr": _memchr, "strcpy": _strcpy, "strncpy": _strcpy, "strcat": _strcat,
    "strncat": _strcat, "strcmp": _strcmp, "strncmp": _strcmp, "strcasecmp": _strcmp,
    "strncasecmp": _strcmp, "strlen": _strlen, "strchr": _strchr, "strrchr": _strchr,
    "strstr": _strstr, "strspn": _span, "strcspn": _span, "strpbrk": _span, "strdup": _strdup,
    "strtok": _strtok, "qsort": _qsort, "bsearch": _bsearch,
    "exit": _exit, "_exit": _exit, "abort": _fails, "__assert_fail": _fails,
    "abs": _absolute, "labs": _absolute, "__ctype_b_loc": _kinds,
    "__ctype_tolower_loc": _kinds, "__ctype_toupper_loc": _kinds,
    "isdigit": _classified(str.isdigit), "isalpha": _classified(str.isalpha),
    "isalnum": _classified(str.isalnum), "isspace": _classified(" \t\n\v\f\r".__contains__),
    "isupper": _classified(str.isupper), "islower": _classified(str.islower),
    "isxdigit": _classified("0123456789abcdefABCDEF".__contains__),
    "ispunct": _classified(lambda v: v.isprintable() and v != " " and not v.isalnum()),
    "isprint": _classified(str.isprintable), "iscntrl": _classified(lambda v: ord(v) < 32 or v == "\x7f"),
    "isgraph": _classified(lambda v: v.isprintable() and v != " "), "isblank": _classified(" \t".__contains__),
    "toupper": lambda c: _cased_character(c, str.upper), "tolower": lambda c: _cased_character(c, str.lower),
    **{name: _mathematical(getattr(math, name)) for name in
       ("sqrt", "fabs", "pow", "exp", "log", "log10", "sin", "cos", "tan", "atan", "atan2", "fmod")},
    "floor": _mathematical(lambda v: v if math.isinf(v) else math.floor(v)),
    "ceil": _mathematical(lambda v: v if math.isinf(v) else math.ceil(v)),
    "rand": _random, "srand": _seed, "setlocale": _no_result, "signal": _no_result,
    "isatty": _no_result, "fileno": _no_result,
}  # fmt: skip
