"""The failed assertion of a traced run: abort, crash, or the first observable departure from green; of a
library, what it gave otherwise to the code that called it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice

from afterd.compare.c.dual import DualSlice
from afterd.compare.c.outer_calls import call_pairs
from afterd.compare.c.outputs import Departure, departures
from afterd.compare.c.printed import printed_otherwise
from afterd.compare.c.results import departures as given_otherwise
from afterd.limits import C_PAIR
from afterd.model.outcome import FailureKind
from afterd.model.term import Read, Term, reads
from afterd.model.trace import StepKind
from afterd.trace.c.build.source import Sources
from afterd.trace.c.failure import (
    NEVER,
    Failed,
    call_at,
    crash,
    hang,
    other_way,
    waiting,
    wrong_status,
)
from afterd.trace.c.ir.recorded import callee
from afterd.trace.c.read import Call, Process
from afterd.trace.c.window import records

_SYSTEM_LOG = 1 << 30  # runtime.c


def failures(
    bad: Process,
    green: Process | None,
    sources: Sources,
    rank: Callable[[str, str], tuple[bool, int]] = lambda _observed, _expected: (True, 0),
) -> list[Failed]:
    """The failed assertions of one process, the most telling first; where none of its own statements
    failed, what it gave otherwise to code that is not traced and that called it. Wrong outputs that ``rank`` first are
    looked at before there are too many.
    """
    own = list(_own_failures(bad, green, sources, rank))
    return own if own or green is None else list(islice(_results(bad, green), C_PAIR.results))


def _own_failures(
    bad: Process,
    green: Process | None,
    sources: Sources,
    rank: Callable[[str, str], tuple[bool, int]],
) -> Iterator[Failed]:
    ending = bad.recording.ending
    if ending.how == "signal" and not (green and green.recording.ending.how == "signal"):
        yield from crash(bad, sources)
    if ending.how == "cut" and green and green.recording.ending.how != "cut":
        yield from list(hang(bad)) or waiting(bad)
        return
    if green is None:
        return
    departed = departures(bad.recording, green.recording)
    if len(departed) > C_PAIR.departures:
        departed.sort(key=lambda d: rank(_readable_bytes(d.observed), _readable_bytes(d.expected)))
    for departure in departed[: C_PAIR.departures]:
        yield from _output(bad, green, departure)
    expected = green.recording.ending
    if ending.how == expected.how == "exit" and ending.status != expected.status:
        yield from wrong_status(bad, expected.status & 0xFF)


def kept_going(found: Iterable[Failed], bad: Process, dual: DualSlice | None) -> Iterator[Failed]:
    """A loop that does not end went on too long in the first round in which green left it; where it went round as
    green did, it was not the loop: the process waits in its last call.
    """
    for failed in found:
        if failed.kind is not FailureKind.HANG or dual is None or not _is_branch(bad, failed):
            yield failed
        elif (first := dual.parted(failed.step)) is not None:
            yield replace(failed, step=first, condition=other_way(bad, first))
        else:
            yield from list(waiting(bad)) or [failed]


def _is_branch(process: Process, failed: Failed) -> bool:
    return process.statements.statement(failed.step).kind is StepKind.BRANCH


def _results(bad: Process, green: Process) -> Iterator[Failed]:
    """What calls from outside gave otherwise. Where the caller went another way after one of them, the last
    ones first: it judged what it had. Else it went on whatever it was given, and the first one is the origin.
    """
    found = call_pairs(bad, green)
    pairs = found.pairs[-C_PAIR.outer :]
    for mine, other in reversed(pairs) if found.parted else pairs:
        for number, departure in enumerate(given_otherwise(bad, mine, green, other)):
            yield Failed(
                FailureKind.RESULT,
                bad.ids.of_failure(mine.last.position, number),
                departure.condition,
                f"{departure.deed} something else, to code that is not followed",
                departure.location,
                departure.observed,
                departure.expected,
                records=(mine.last.position, other.last.position),
                green=departure.green,
                at=mine.last,
            )


def _output(bad: Process, green: Process, departure: Departure) -> Iterator[Failed]:
    """Wrong output: the value that was printed, the byte that was written, or that anything was."""
    if departure.bad is None:
        yield from _missing_writes(bad, green, departure)
        return
    call = output_call(bad, departure.bad.position)
    other = output_call(green, departure.green.position) if departure.green else None
    if call is None:
        return
    if not departure.bad.data and not _calls_are_alike(call, other):
        yield from _missing_writes(bad, green, departure)
        return
    both = (call.position, other.position) if other else None
    message = f"wrong output on {_stream(departure.fd)}"
    shown = (
        message,
        call.location,
        _readable_bytes(departure.observed),
        _readable_bytes(departure.expected),
    )
    if departure.number:
        beside = printed_otherwise(bad, call, departure, green, other)
        if beside is not None:
            step = bad.ids.of_failure(call.position, departure.number)
            yield Failed(FailureKind.OUTPUT, step, beside, *shown, at=call.instance)
        return
    step = bad.ids.of(call.position)
    condition: Term | None = NEVER  # whatever it had printed, where green printed nothing
    if departure.green is not None:
        condition = printed_otherwise(bad, call, departure, green, other)
    if condition is not None:
        wanted = printed_otherwise(green, other, departure.swapped(), bad, call) if other else None
        yield Failed(FailureKind.OUTPUT, step, condition, *shown, records=both, green=wanted)
    branch = bad.statements.control(step)
    if branch is not None:
        way = other_way(bad, branch)
        event = other.position if other else -1
        yield Failed(FailureKind.OUTPUT, branch, way, *shown, records=both, green_event=event)


def _calls_are_alike(call: Call, other: Call | None) -> bool:
    """Whether two calls are of the same function from functions of the same name."""
    return (
        other is not None
        and callee(call.instruction) == callee(other.instruction)
        and call.instance.view.name == other.instance.view.name
    )


def output_call(process: Process, position: int) -> Call | None:
    """The call that wrote: the last CALL record before the position in the log."""
    at = process.recording.last(position, 0, records.TAG, records.CALL << records.TAG_SHIFT)
    return call_at(process, at)


def written_from(bad: Process, green: Process, departure: Departure) -> list[Read]:
    """What the failing run made the byte of that was not as in green; empty where that is not known."""
    if departure.bad is None or (call := output_call(bad, departure.bad.position)) is None:
        return []
    other = output_call(green, departure.green.position) if departure.green else None
    condition = printed_otherwise(bad, call, departure, green, other)
    return [] if condition is None else list(reads(condition))


def _missing_writes(bad: Process, green: Process, departure: Departure) -> Iterator[Failed]:
    """Green wrote more: what kept the failing run from it, or the last branch before it ended."""
    step = bad.statements.control_of(bad.frames.instance(bad.recording.end - 1))
    if step is None:  # it ended on a way that no branch decided
        end, tag = bad.recording.end, records.BLOCK << records.TAG_SHIFT
        position = bad.recording.last(end, 0, records.TAG, tag)
        step = bad.ids.of(position) if position >= 0 else None
    if step is None:
        return
    other = output_call(green, departure.green.position) if departure.green else None
    yield Failed(
        FailureKind.OUTPUT,
        step,
        other_way(bad, step),
        f"output on {_stream(departure.fd)} is missing",
        bad.statements.statement(step).location,
        _readable_bytes(departure.observed),
        _readable_bytes(departure.expected),
        green_event=other.position if other else -1,
    )


def _stream(fd: int) -> str:
    named = {1: "standard output", 2: "standard error", _SYSTEM_LOG: "the system log"}
    return named.get(fd, f"descriptor {fd}")


def _readable_bytes(data: bytes) -> str:
    return data.decode(errors="backslashreplace")
