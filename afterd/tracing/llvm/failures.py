"""The failed assertion of a traced run: abort, crash, or the first observable departure from green."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from afterd.model.location import Location
from afterd.model.outcome import FailureKind
from afterd.model.term import BOOL, Apply, Const, Op, SortKind, StepId, Term, bitvec
from afterd.tracing.llvm import records
from afterd.tracing.llvm.frames import Instance
from afterd.tracing.llvm.outputs import Departure, departures
from afterd.tracing.llvm.process import Process
from afterd.tracing.llvm.recorded import arguments, callee, operands
from afterd.tracing.llvm.source import Sources
from afterd.tracing.llvm.values import known
from afterd.tracing.rendering import rendered

_LEAVING = frozenset(["@exit", "@_exit", "@_Exit", "@quick_exit"])
_FORMATTED = {"@printf": 0, "@fprintf": 1, "@vprintf": 0, "@vfprintf": 1, "@dprintf": 1}
_BUFFERS = {"@write": 1, "@fwrite": 0, "@fwrite_unlocked": 0}
_TEXTS = {"@puts": 0, "@fputs": 0, "@fputs_unlocked": 0, "@perror": 0}
_CONVERSION = re.compile(
    rb"%[-+ #0']*(\*|\d+)?(?:\.(\*|\d+))?(hh|h|ll|l|q|j|z|t|L)?([diouxXeEfFgGaAcspnm%])"
)
_MOST_DEPARTURES = 200


@dataclass(frozen=True, slots=True)
class Failed:
    """A failed assertion before it is put into the model: which condition was false, and where.

    ``green_event`` is the position of what green did at this point, where it did something else.
    ``records`` are the positions of the event in the failing run and of its like in the green one,
    ``green`` is the condition as the green run would put it: the data flow is paired from there.
    """

    kind: FailureKind
    step: StepId
    condition: Term
    message: str
    location: Location
    observed: str = ""
    expected: str = ""
    records: tuple[int, int] | None = None
    green: Term | None = None
    green_event: int = -1


def failures(bad: Process, green: Process | None, sources: Sources) -> Iterator[Failed]:
    """The failed assertions of one process, the most telling first."""
    ending = bad.recording.ending
    if ending.how == "signal" and not (green and green.recording.ending.how == "signal"):
        yield from _abort(bad, sources)
        yield from _crash(bad)
    if green is None:
        return
    for departure in departures(bad.recording, green.recording)[:_MOST_DEPARTURES]:
        yield from _output(bad, green, departure)
    if (
        ending.how == "exit"
        and green.recording.ending.how == "exit"
        and ending.status != green.recording.ending.status
    ):
        yield from _exit(bad, green.recording.ending.status & 0xFF)


def _last_call(process: Process) -> tuple[Instance, int, int] | None:
    """The call that never came back, if the run ended in one: instance, instruction, record."""
    recording = process.recording
    last = recording.end - 1
    if last < recording.first or recording.tag(last) != records.CALL:
        return None
    instance = process.frames.instance(last)
    site = instance.view.sites.get(recording.identifier(last)) if instance else None
    return (instance, site[1], last) if instance and site else None


def _abort(process: Process, sources: Sources) -> Iterator[Failed]:
    """assert, abort and their like: the branch that led to a call that did not return."""
    if process.recording.ending.status != 6:
        return
    call = _last_call(process)
    if call is None:
        return
    instance, index, position = call
    step = process.statements.control(process.ids.of(position))
    place = instance.view.place(instance.block, index)
    name = callee(instance.instructions[index]).removeprefix("@")
    message = (
        f"{sources.text(place.file, place.line)} failed"
        if name == "__assert_fail"
        else f"{name}() was called"
    )
    if step is not None:
        yield Failed(FailureKind.ASSERTION, step, other_way(process, step), message, place)


def other_way(process: Process, step: StepId) -> Term:
    """The condition under which the branch would not have gone the way it went."""
    statement = process.statements.statement(step)
    return statement.term if statement.value is False else Apply(Op.NOT, (statement.term,), BOOL)


def _crash(process: Process) -> Iterator[Failed]:
    """A signal in the program's own code: the access that comes next after the last record."""
    ending = process.recording.ending
    if ending.status == 6:
        return
    last = process.recording.end - 1
    instance = process.frames.instance(last)
    if instance is None:
        return
    index = _next_memory_access(process, instance, last)
    place = instance.view.place(instance.block, max(index, 0))
    message = f"signal {ending.status} at address {ending.fault:#x}"
    instruction = instance.instructions[index] if index >= 0 else None
    if instruction is None or instruction.opcode not in {"load", "store", "call"}:
        return
    pairs = (
        operands(instruction)[1:]
        if instruction.opcode != "call"
        else [p for p in arguments(instruction) if p[0].startswith("ptr")]
    )
    for kind, text in pairs:
        pointer = process.values.operand(kind, text, instance, index)
        value = known(pointer)
        if isinstance(value, int):
            condition = Apply(Op.NE, (pointer, Const(value, pointer.sort)), BOOL)
            step = _after(process)
            yield Failed(
                FailureKind.CRASH,
                step,
                condition,
                message,
                place,
                rendered(value, bitvec(64), pointer=True),
            )


def _after(process: Process) -> StepId:
    """An id after every step of the run."""
    return process.ids.of(process.recording.end)


def _next_memory_access(process: Process, instance: Instance, last: int) -> int:
    recorded = process.frames.own_records(instance)
    leaving = instance.view.leaving_records[instance.block]
    if process.recording.tag(last) == records.CALL and recorded and recorded[-1] == last:
        return leaving[len(recorded) - 1][0]
    return leaving[len(recorded)][0] if len(recorded) < len(leaving) else -1


def _output(bad: Process, green: Process, departure: Departure) -> Iterator[Failed]:
    """Wrong output: the value that was printed, the byte that was written, or that anything was."""
    observed, expected = _readable(departure.observed), _readable(departure.expected)
    if departure.bad is None:
        yield from _missing(bad, green, departure, observed, expected)
        return
    call = _output_call(bad, departure.bad.position)
    if call is None:
        return
    instance, index, position = call
    place = instance.view.place(instance.block, index)
    condition = _printed_otherwise(bad, instance, index, departure, green)
    message = f"wrong output on {_stream(departure.fd)}"
    step = bad.ids.of(position)
    other = _output_call(green, departure.green.position) if departure.green else None
    both = (position, other[2]) if other else None
    if condition is not None:
        wanted = (
            _printed_otherwise(green, other[0], other[1], _swapped(departure), bad)
            if other
            else None
        )
        yield Failed(
            FailureKind.OUTPUT, step, condition, message, place, observed, expected, both, wanted
        )
    branch = bad.statements.control(step)
    if branch is not None:
        yield Failed(
            FailureKind.OUTPUT,
            branch,
            other_way(bad, branch),
            message,
            place,
            observed,
            expected,
            both,
            green_event=other[2] if other else -1,
        )


def _swapped(departure: Departure) -> Departure:
    """The departure as the green run sees it."""
    return Departure(
        departure.fd,
        departure.green,
        departure.green_offset,
        departure.bad,
        departure.offset,
        departure.expected,
        departure.observed,
    )


def _output_call(process: Process, position: int) -> tuple[Instance, int, int] | None:
    """The call that wrote: the last CALL record before the position in the log."""
    at = process.recording.last(position, 0, records.TAG, records.CALL << records.TAG_SHIFT)
    instance = process.frames.instance(at) if at >= 0 else None
    site = instance.view.sites.get(process.recording.identifier(at)) if instance else None
    return (instance, site[1], at) if instance and site else None


def _missing(
    bad: Process, green: Process, departure: Departure, observed: str, expected: str
) -> Iterator[Failed]:
    """Green wrote more: what kept the failing run from it, or the last branch before it ended."""
    step = bad.statements.control_of(bad.frames.instance(bad.recording.end - 1))
    if step is None:  # it ended on a way that no branch decided
        end, tag = bad.recording.end, records.BLOCK << records.TAG_SHIFT
        position = bad.recording.last(end, 0, records.TAG, tag)
        step = bad.ids.of(position) if position >= 0 else None
    if step is None:
        return
    message = f"output on {_stream(departure.fd)} is missing"
    other = _output_call(green, departure.green.position) if departure.green else None
    yield Failed(
        FailureKind.OUTPUT,
        step,
        other_way(bad, step),
        message,
        bad.statements.statement(step).location,
        observed,
        expected,
        green_event=other[2] if other else -1,
    )


def _printed_otherwise(
    process: Process, instance: Instance, index: int, departure: Departure, green: Process
) -> Term | None:
    """That green printed the same, over the argument or the byte that made the difference."""
    instruction = instance.instructions[index]
    name, given = callee(instruction), arguments(instruction)
    other = _output_call(green, departure.green.position) if departure.green else None
    if name in _FORMATTED:
        argument = _conversion(instance, index, _FORMATTED[name], departure)
        if argument is None or argument >= len(given):
            return None
        kind, text = given[argument]
        term = process.values.operand(kind, text, instance, index)
        if kind.startswith("ptr"):
            return _byte_of_text(process, term, instance, index, departure)
        return _not_observed(term, _green_argument(green, other, name, argument))
    if name in _BUFFERS or name in _TEXTS:
        kind, text = given[{**_BUFFERS, **_TEXTS}[name]]
        pointer = process.values.pointer_value(kind, text, instance, index)
        return (
            _byte_at(process, pointer, departure.offset, instance, index, departure)
            if pointer
            else None
        )
    kind, text = given[0] if given else ("", "")
    if not kind.startswith("i"):
        return None
    given_term = process.values.operand(kind, text, instance, index)
    return _not_observed(given_term, _green_argument(green, other, name, 0))


def _green_argument(
    green: Process, call: tuple[Instance, int, int] | None, name: str, argument: int
) -> Const | None:
    """The value green gave to the same function, when the same one wrote there."""
    if call is None or callee(call[0].instructions[call[1]]) != name:
        return None
    given = arguments(call[0].instructions[call[1]])
    if argument >= len(given):
        return None
    term = green.values.operand(*given[argument], call[0], call[1])
    value = known(term)
    return (
        Const(value, term.sort)
        if value is not None and term.sort.kind is not SortKind.OPAQUE
        else None
    )


def _not_observed(term: Term, green: Const | None) -> Term | None:
    """The value is green's; where green's is not known, that it is not the one observed."""
    value = known(term)
    if green is not None and green.sort == term.sort and green.value != value:
        return Apply(Op.FEQ if term.sort.kind is SortKind.FLOAT else Op.EQ, (term, green), BOOL)
    if value is None or term.sort.kind is SortKind.OPAQUE:
        return None
    return Apply(
        Op.FNE if term.sort.kind is SortKind.FLOAT else Op.NE, (term, Const(value, term.sort)), BOOL
    )


def _conversion(instance: Instance, index: int, format_at: int, departure: Departure) -> int | None:
    """The argument whose conversion printed the byte at the departure's offset."""
    given = arguments(instance.instructions[index])
    text = _constant_text(given[format_at], instance)
    written = departure.bad.data if departure.bad else b""
    if text is None:
        return format_at + 1 if len(given) > format_at + 1 else None
    pattern, groups, argument = b"", list[int](), format_at + 1
    at = 0
    for found in _CONVERSION.finditer(text):
        pattern += re.escape(text[at : found.start()])
        at = found.end()
        if found.group(4) == b"%":
            pattern += b"%"
            continue
        argument += (found.group(1) == b"*") + (found.group(2) == b"*")
        pattern += b"(.*?)" if found.group(4) in b"sc" else rb"( *[-+\w.,]*? *)"
        groups.append(argument)
        argument += 1
    matched = re.fullmatch(pattern + re.escape(text[at:]), written, re.DOTALL)
    if not matched or not groups:
        return groups[0] if groups else None
    for number, used in enumerate(groups, start=1):
        if (
            matched.start(number)
            <= departure.offset
            <= max(matched.end(number) - 1, matched.start(number))
        ):
            return used
    after = [
        used
        for number, used in enumerate(groups, start=1)
        if matched.end(number) <= departure.offset
    ]
    return after[-1] if after else groups[0]


def _constant_text(given: tuple[str, str], instance: Instance) -> bytes | None:
    """The format string, when it is a literal of the module."""
    name = given[1].removeprefix("@")
    found = instance.view.unit.globals.get(name) if given[1].startswith("@") else None
    literal = (
        re.search(r'c"((?:[^"\\]|\\[0-9A-Fa-f]{2}|\\\\)*)"', found.definition) if found else None
    )
    if not literal:
        return None
    raw = re.sub(
        r"\\([0-9A-Fa-f]{2})", lambda hexed: chr(int(hexed.group(1), 16)), literal.group(1)
    )
    return raw.encode("latin-1", errors="replace").removesuffix(b"\0")


def _byte_of_text(
    process: Process, pointer: Term, instance: Instance, index: int, departure: Departure
) -> Term | None:
    """A string argument: the pointer itself, or the first byte of the string that is not as in green."""
    address = known(pointer)
    if not isinstance(address, int) or departure.bad is None:
        return None
    difference = departure.offset
    shown = departure.bad.data
    for start in range(max(0, difference - 4096), difference + 1):
        first = process.values.memory.read(
            address, 1, process.values.moment(instance, index), bitvec(8), None
        )
        if known(first) == shown[start] if start < len(shown) else False:
            found = _byte_at(process, address, difference - start, instance, index, departure)
            if found is not None:
                return found
    return _not_observed(pointer, None)


def _byte_at(
    process: Process,
    address: int,
    offset: int,
    instance: Instance,
    index: int,
    departure: Departure,
) -> Term | None:
    """That the byte is green's, as a condition over what wrote it."""
    before = process.values.moment(instance, index)
    shown = (
        departure.bad.data[departure.offset]
        if departure.bad and departure.offset < len(departure.bad.data)
        else None
    )
    term = process.values.memory.read(address + offset, 1, before, bitvec(8), shown)
    expected = (
        departure.green.data[departure.green_offset]
        if departure.green and departure.green_offset < len(departure.green.data)
        else None
    )
    if known(term) != shown or shown is None:
        return None
    wanted = Const(expected, bitvec(8)) if expected is not None and expected != shown else None
    return _not_observed(term, wanted)


def _exit(process: Process, expected: int) -> Iterator[Failed]:
    """A wrong exit status: the argument of exit, or what main returned."""
    call = _last_call(process)
    status = process.recording.ending.status & 0xFF
    message = f"exit status {status}"
    if call and callee(call[0].instructions[call[1]]) in _LEAVING:
        instance, index, position = call
        term = process.values.operand(
            "i32", arguments(instance.instructions[index])[0][1], instance, index
        )
        yield from _status(process, term, position, instance, index, message, status, expected)
        return
    last = process.frames.instance(process.recording.end - 1)
    if last and last.view.name == "main" and last.instructions[-1].opcode == "ret":
        index = len(last.instructions) - 1
        found = re.match(r"  ret i32 ([^,]+)", last.instructions[-1].text)
        if found:
            term = process.values.operand("i32", found.group(1), last, index)
            yield from _status(
                process, term, process.recording.end - 1, last, index, message, status, expected
            )


def _status(
    process: Process,
    term: Term,
    position: int,
    instance: Instance,
    index: int,
    message: str,
    status: int,
    expected: int,
) -> Iterator[Failed]:
    place = instance.view.place(instance.block, index)
    if isinstance(term, Const):
        branch = process.statements.control_of(instance)
        if branch is not None:
            yield Failed(
                FailureKind.EXIT,
                branch,
                other_way(process, branch),
                message,
                place,
                str(status),
                str(expected),
            )
        return
    condition = Apply(Op.EQ, (term, Const(expected, term.sort)), BOOL)
    yield Failed(
        FailureKind.EXIT,
        process.ids.of(position) + 1,
        condition,
        message,
        place,
        str(status),
        str(expected),
    )


def _stream(fd: int) -> str:
    return {1: "standard output", 2: "standard error"}.get(fd, f"descriptor {fd}")


def _readable(data: bytes) -> str:
    return data.decode(errors="backslashreplace")
