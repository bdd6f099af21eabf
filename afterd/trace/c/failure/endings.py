"""A wrong exit status: the argument of exit, or what main returned."""

from __future__ import annotations

from collections.abc import Iterator

from afterd.model.location import Location
from afterd.model.outcome import FailureKind
from afterd.model.term import BOOL, Apply, Const, Op, Term
from afterd.trace.c.failure.failed import Failed, call_at, other_way
from afterd.trace.c.ir.recorded import arguments, callee, split_typed
from afterd.trace.c.read.frames import Call, Instance
from afterd.trace.c.read.process import Process
from afterd.trace.c.read.values import known_value

_LEAVING = frozenset(
    ["@exit", "@_exit", "@_Exit", "@quick_exit", "@err", "@errx", "@verr", "@verrx"]
)
_LEAVING_UNLESS_0 = frozenset(["@error", "@error_at_line"])


def wrong_status(process: Process, expected: int) -> Iterator[Failed]:
    """The failed assertion of a process that left with another status than ``expected``.

    Handlers that run after exit leave records too: the call is not the last one.
    """
    call = _exit_call(process)
    if call is not None:
        kind, text = arguments(call.instruction)[0]
        term = process.values.operand(kind, text, call.instance, call.index)
        yield from _status(process, term, call.position, call.instance, call.location, expected)
        return
    last = _end_of_main(process)
    if last is not None:
        index = len(last.instructions) - 1
        term = process.values.operand(*split_typed(last.instructions[index].body), last, index)
        own = process.frames.own_records(last)
        position = own[-1] if own else last.position
        place = last.view.place(last.block, index)
        yield from _status(process, term, position, last, place, expected)


def _exit_call(process: Process) -> Call | None:
    """The call of exit or its like that ended the process."""

    def leaves(site: int) -> bool:
        return callee(process.program.call_of_site(site)) in _LEAVING | _LEAVING_UNLESS_0

    for position in process.recording.calls(process.recording.end, 0, leaves):
        call = call_at(process, position)
        if call is None or callee(call.instruction) in _LEAVING or _status_given(process, call):
            return call
    return None


def _status_given(process: Process, call: Call) -> bool:
    """Whether the status that a call of error was given is not 0, with which it comes back."""
    given = arguments(call.instruction)[0]
    return known_value(process.values.operand(*given, call.instance, call.index)) != 0


def _end_of_main(process: Process) -> Instance | None:
    """The block instance in which main returned."""

    def is_main(block: int) -> bool:
        return process.program.function_of_block(block).name == "main"

    recording = process.recording
    position = next(recording.blocks_back(recording.end, 0, is_main), -1)
    last = process.frames.instance_at(position) if position >= 0 else None
    return last if last and last.instructions[-1].opcode == "ret" else None


def _status(
    process: Process, term: Term, position: int, instance: Instance, place: Location, expected: int
) -> Iterator[Failed]:
    status = process.recording.ending.status & 0xFF
    shown = (f"exit status {status}", place, str(status), str(expected))
    if not isinstance(term, Const):
        condition = Apply(Op.EQ, (term, Const(expected, term.sort)), BOOL)
        yield Failed(FailureKind.EXIT, process.ids.of_failure(position), condition, *shown)
        return
    branch = process.statements.control_of(instance)
    if branch is not None:
        yield Failed(FailureKind.EXIT, branch, other_way(process, branch), *shown)
