"""Streams of the C library: what is read through them, and what is shown on standard output."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from afterd.model.term import BOOL, Apply, Const, Op, Sort, Term, bitvec
from afterd.symbolic.calls import Call
from afterd.symbolic.operations import Known
from afterd.symbolic.pointers import CONTENT
from afterd.symbolic.refusal import NotFollowedError
from afterd.symbolic.scanning import destinations, scanned_values
from afterd.symbolic.strings import Displayed, rendered_format, shown_by
from afterd.symbolic.world import Stream
from afterd.trace.c.ir.arithmetic import resized_term

_INT, _WORD = bitvec(32), bitvec(64)
_FLAG, _BYTE_MORE = bitvec(8), bitvec(16)
_EOF = (1 << 32) - 1
# The state of a stream in memory: position, what was pushed back (plus one), whether its end was met. No
# statement of the program assigns these words, so they are as narrow as what they hold: circuits are
# made of them at each byte that is read.
_PUSHED, _END, _STATE = 8, 12, 16
_SHORT = 1 << 15  # bytes: a position in less is a word of 16 bits
_SEEK_CURRENT, _SEEK_END = 1, 2


def _opened_stream(c: Call, name: str, data: bytes, *, written: bool = False) -> Stream:
    memory = c.machine.memory
    words = b"".join(byte.to_bytes(4, "little") for byte in data) + _EOF.to_bytes(4, "little")
    content = memory.hold(words, f"{CONTENT}{name}", c.place())
    state = memory.allocate(_STATE, "stream", c.place())
    return Stream(name, data, state, content, written)


def _place_sort(stream: Stream) -> Sort:
    """The word that a position in a stream is."""
    return bitvec(16) if len(stream.data) < _SHORT else _INT


def _stream(c: Call, at: int) -> Stream:
    """The stream of an argument; standard input where the call has no such argument."""
    world, image = c.machine.world, c.machine.image
    address = c.number(at) if at < len(c.given) else image.address_of("stdin")
    if address not in world.streams:
        if address != image.address_of("stdin"):
            raise NotFollowedError(f"{c.frame.body.name} reads a stream that it did not open")
        world.streams[address] = _opened_stream(c, "standard input", world.stdin())
    found = world.streams[address]
    if found.written:
        raise NotFollowedError(f"{c.frame.body.name} reads the file {found.name}, which it writes")
    return found


def _fopen(c: Call) -> Known:
    world, name = c.machine.world, c.text(0).decode("utf-8", "surrogateescape")
    if c.form(1).rstrip("b").rstrip("e") == "r":
        data = world.file(name)
        if data is None:
            return c.concrete(0, *c.cells(c.number(0), len(name)))
        made = _opened_stream(c, name, data)
    else:
        world.written.add(name)
        made = _opened_stream(c, name, b"", written=True)
    world.streams[made.state] = made
    return c.concrete(made.state, *c.cells(c.number(0), len(name)))


def _word(c: Call, stream: Stream, offset: int, sort: Sort) -> tuple[int, Term | None]:
    """A part of a stream's state."""
    value, term = c.load((stream.state + offset, None), sort)
    assert isinstance(value, int)
    return value, term


def _bytes_ahead(c: Call, stream: Stream) -> tuple[bytes, int, list[Term]]:
    """The bytes that are still to be read, the first one's offset, and what that depends on."""
    position, of_position = _word(c, stream, 0, _place_sort(stream))
    pushed, of_pushed = _word(c, stream, _PUSHED, _BYTE_MORE)
    before = bytes([pushed - 1]) if pushed else b""
    terms = [term for term in (of_position, of_pushed) if term is not None]
    return before + stream.data[position:], position - len(before), terms


def _move(c: Call, stream: Stream, to: int, terms: Sequence[Term], *, ended: bool = False) -> None:
    """Stand somewhere else in a stream, with nothing pushed back."""
    sort = _place_sort(stream)
    c.store((stream.state, None), c.point(to, sort, terms), sort)
    c.store((stream.state + _PUSHED, None), c.point(0, _BYTE_MORE, terms), _BYTE_MORE)
    c.store((stream.state + _END, None), c.point(int(ended), _FLAG, terms), _FLAG)


def _getc(c: Call, at: int = 0) -> Known:
    """The next byte, or -1: chosen by where the stream stands and by what was pushed back."""
    stream = _stream(c, at)
    sort = _place_sort(stream)
    position, of_position = _word(c, stream, 0, sort)
    pushed, of_pushed = _word(c, stream, _PUSHED, _BYTE_MORE)
    here = c.machine.pointers.indexed(stream.content, (position, of_position), 4)
    byte, of_byte = c.load(here, _INT)
    assert isinstance(byte, int)
    ended = not pushed and byte == _EOF
    value = pushed - 1 if pushed else byte
    moved = position + (not pushed and not ended)
    if not c.machine.symbolic or (of_position is None and of_pushed is None and of_byte is None):
        terms = [t for t in (of_position, of_pushed, of_byte) if t is not None]
        _move(c, stream, moved, terms, ended=ended)
        return c.point(value, _INT, terms)
    now, back, read = (
        Const(known, of) if term is None else term
        for known, term, of in (
            (position, of_position, sort),
            (pushed, of_pushed, _BYTE_MORE),
            (byte, of_byte, _INT),
        )
    )
    has = Apply(Op.NE, (back, Const(0, _BYTE_MORE)), BOOL)
    over = Apply(Op.EQ, (read, Const(_EOF, _INT)), BOOL)
    stays = Apply(Op.OR, (has, over), BOOL)
    following = Apply(Op.ADD, (now, Const(1, sort)), sort)
    end = Apply(Op.AND, (Apply(Op.NOT, (has,), BOOL), over), BOOL)
    returned = Apply(Op.SUB, (back, Const(1, _BYTE_MORE)), _BYTE_MORE)
    shown = Apply(Op.ITE, (has, resized_term(returned, _INT, signed=False), read), _INT)
    place = c.machine.key(c.frame)
    collector = c.machine.collector
    after = collector.define(
        (place, "position"), Apply(Op.ITE, (stays, now, following), sort), moved, None
    )
    flag = Apply(Op.ITE, (end, Const(1, _FLAG), Const(0, _FLAG)), _FLAG)
    c.store((stream.state, None), (moved, after), sort)
    c.store((stream.state + _PUSHED, None), (0, None), _BYTE_MORE)
    c.store((stream.state + _END, None), (int(ended), flag), _FLAG)
    return value, collector.define((place, "byte"), shown, value, None)


def _ungetc(c: Call) -> Known:
    value, term = c.given[0]
    assert isinstance(value, int)
    if value == _EOF:
        return c.given[0]
    stream = _stream(c, 1)
    known = None
    if term is not None:  # a byte of it is kept
        byte = resized_term(resized_term(term, _FLAG, signed=False), _BYTE_MORE, signed=False)
        known = Apply(Op.ADD, (byte, Const(1, _BYTE_MORE)), _BYTE_MORE)
    c.store((stream.state + _PUSHED, None), ((value & 0xFF) + 1, known), _BYTE_MORE)
    c.store((stream.state + _END, None), (0, None), _FLAG)
    return c.given[0]


def _line(c: Call, stream: Stream, most: int) -> tuple[bytes, list[Term]]:
    """The next line with its end, of at most so many bytes, taken from a stream."""
    ahead, start, terms = _bytes_ahead(c, stream)
    end = ahead.find(b"\n") + 1 or len(ahead)
    taken = ahead[: min(end, most)]
    _move(c, stream, start + len(taken), terms, ended=not taken)
    return taken, terms


def _fgets(c: Call) -> Known:
    line, terms = _line(c, _stream(c, 2), max(0, c.number(1) - 1))
    if not line:
        return c.concrete(0, *terms)
    c.fill(c.number(0), line + b"\0", terms)
    return c.given[0]


def _getline(c: Call) -> Known:
    line, terms = _line(c, _stream(c, 2), 1 << 30)
    if not line:
        return c.point(-1, c.code.sort, terms)
    buffer = c.allocate(len(line) + 1)
    c.fill(buffer, line + b"\0", terms)
    c.store(c.given[0], (buffer, None), _WORD)
    c.store(c.given[1], (len(line) + 1, None), _WORD)
    return c.point(len(line), c.code.sort, terms)


def _fread(c: Call) -> Known:
    stream, size = _stream(c, 3), c.number(1)
    ahead, start, terms = _bytes_ahead(c, stream)
    count = min(c.number(2), len(ahead) // size) if size else 0
    taken = ahead[: min(size * c.number(2), len(ahead))]
    c.fill(c.number(0), taken, terms)
    _move(c, stream, start + len(taken), terms, ended=count < c.number(2))
    return c.concrete(count, *terms)


def _scan_stream(c: Call, form: int) -> Known:
    stream = _stream(c, 0 if form else len(c.given))
    ahead, start, terms = _bytes_ahead(c, stream)
    found, count, end = scanned_values(c.form(form), ahead)
    _move(c, stream, start + end, terms, ended=end >= len(ahead))
    standard = stream.name == "standard input" and not terms and c.machine.symbolic
    for at, item in enumerate(found, start=form + 1):
        if standard and isinstance(item.value, int):
            width = 8 * item.size
            word = item.value & (1 << width) - 1
            term = c.bound(word, ("stdin", start + item.start), width)
            c.store(c.given[at], (word, term), bitvec(width))
        else:
            c.assign(at, item.value, item.size, terms)
    _doubt(c, form, len(ahead))
    return c.point(count, c.code.sort, terms)


def _sscanf(c: Call) -> Known:
    text = c.text(0)
    terms = [*c.cells(c.number(0), len(text) + 1), *_own_terms(c.given[0])]
    found, count, _ = scanned_values(c.form(1), text)
    for at, item in enumerate(found, start=2):
        c.assign(at, item.value, item.size, terms)
    _doubt(c, 1, len(text))
    return c.point(count, c.code.sort, terms)


def _doubt(c: Call, form: int, length: int) -> None:
    """Whatever the format could have been meant to assign may be wrong where conversions are doubted."""
    if c.machine.bounds.doubts_premises:
        for at, sort in enumerate(destinations(c.form(form)), start=form + 1):
            c.doubt(at, sort, length + 1)


def _own_terms(known: Known) -> list[Term]:
    return [] if known[1] is None else [known[1]]


def _end_met(c: Call) -> Known:
    value, term = _word(c, _stream(c, 0), _END, _FLAG)
    if term is None or not c.machine.symbolic:
        return value, None
    return value, resized_term(term, _INT, signed=False)


def _seek(c: Call) -> Known:
    stream = _stream(c, 0)
    _, start, terms = _bytes_ahead(c, stream)
    offset, whence = (0, 0) if len(c.given) < 3 else (c.number(1), c.number(2) & 3)
    offset -= (offset >> 63) << 64
    base = {_SEEK_CURRENT: start, _SEEK_END: len(stream.data)}.get(whence, 0)
    _move(c, stream, max(0, base + offset), [*terms, *(t for k in c.given for t in _own_terms(k))])
    return 0, None


def _tell(c: Call) -> Known:
    _, start, terms = _bytes_ahead(c, _stream(c, 0))
    return c.point(start, c.code.sort, terms)


# What is shown.


def _show(c: Call, what: str, values: Sequence[Displayed]) -> None:
    machine = c.machine
    machine.positions = machine.observer.shown(
        what, values, machine.positions, machine.instances, real=machine.real
    )


def _show_printed(c: Call, form: str, given: Sequence[Known]) -> Known:
    _show(c, *shown_by(c.machine.memory, form, given, c.machine.pointers.text_places))
    return c.point(len(rendered_format(c.machine.memory, form, given)), c.code.sort, [])


def _is_unseen(c: Call, at: int) -> bool:
    """Whether what is written there is not compared: any stream but standard output."""
    return at < len(c.given) and c.number(at) != c.machine.image.address_of("stdout")


def _fprintf(c: Call) -> Known:
    return (0, None) if _is_unseen(c, 0) else _show_printed(c, c.form(1), c.given[2:])


def _sprintf(c: Call, form: int = 1) -> Known:
    memory = c.machine.memory
    text = rendered_format(memory, c.form(form), c.given[form + 1 :])
    terms = [term for _, term in c.given[form + 1 :] if term is not None]
    for address, _ in c.given[form + 1 :]:
        if isinstance(address, int) and memory.object_at(address) is not None:
            terms += c.cells(address, 64)
    whole = len(text)
    if form == 2:
        text = text[: max(0, c.number(1) - 1)]
    if form == 1 or c.number(1):
        c.fill(c.number(0), text + b"\0", terms)
    return c.concrete(whole, *terms)


def _fputs(c: Call) -> Known:
    return (0, None) if _is_unseen(c, 1) else _show_printed(c, "%s", c.given[:1])


def _putchar(c: Call) -> Known:
    if not _is_unseen(c, 1):
        _show(c, "%c", c.given[:1])
    return c.given[0]


def _fwrite(c: Call) -> Known:
    size = c.number(1) * c.number(2)
    if not _is_unseen(c, 3):
        memory, start = c.machine.memory, c.number(0)
        _show(c, "%c" * size, [memory.load(start + at, 1, bitvec(8)) for at in range(size)])
    return c.given[2]


def _no_result(c: Call) -> Known:
    del c
    return 0, None


STREAMS: Mapping[str, Callable[[Call], Known | None]] = {
    "fopen": _fopen, "fclose": _no_result, "fflush": _no_result, "setvbuf": _no_result,
    "setbuf": _no_result, "ferror": _no_result, "clearerr": _no_result, "perror": _no_result,
    "getc": _getc, "fgetc": _getc, "_IO_getc": _getc, "getchar": _getc, "ungetc": _ungetc,
    "fgets": _fgets, "getline": _getline, "fread": _fread,
    "scanf": lambda c: _scan_stream(c, 0), "fscanf": lambda c: _scan_stream(c, 1),
    "sscanf": _sscanf, "feof": _end_met, "fseek": _seek, "rewind": _seek, "ftell": _tell,
    "printf": lambda c: _show_printed(c, c.form(0), c.given[1:]), "fprintf": _fprintf,
    "sprintf": _sprintf, "snprintf": lambda c: _sprintf(c, 2),
    "puts": lambda c: _show_printed(c, "%s\n", c.given), "fputs": _fputs,
    "putchar": _putchar, "putc": _putchar, "fputc": _putchar, "_IO_putc": _putchar,
    "fwrite": _fwrite,
}  # fmt: skip
"""Functions of <stdio.h> by name."""
