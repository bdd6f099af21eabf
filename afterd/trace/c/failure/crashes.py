"""A run that ended by a signal: what was asserted, or which access could not be made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from afterd.model.location import Location
from afterd.model.outcome import FailureKind
from afterd.model.term import bitvec
from afterd.trace.c.build.source import Sources
from afterd.trace.c.failure.failed import Failed, another_value, call_at, other_way
from afterd.trace.c.ir import arithmetic
from afterd.trace.c.ir.ir import Instruction
from afterd.trace.c.ir.recorded import arguments, callee, operands
from afterd.trace.c.read.frames import Call, Instance
from afterd.trace.c.read.process import Process
from afterd.trace.c.read.values import known_value
from afterd.trace.c.window import records
from afterd.trace.rendering import rendered_value

_ILLEGAL, _ABORT, _DIVISION = 4, 6, 8  # SIGILL, SIGABRT, SIGFPE
_SIGNALS = {4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 11: "SIGSEGV"}
_DIVISIONS = frozenset(["sdiv", "udiv", "srem", "urem"])
_ACCESSES = frozenset(["load", "store", "atomicrmw", "cmpxchg"])
_THROWN = frozenset(["__cxa_throw", "__cxa_rethrow", "_Unwind_Resume"])
_PAGE = 4096  # bytes, of which Linux lends a program none at NULL (vm.mmap_min_addr)
_FRAME = 1 << 20  # bytes: no frame is larger, as a rule
_DEEP = 1000  # calls: a stack of 8 MB holds more, a fault there is not by accident


@dataclass(frozen=True, slots=True)
class Stop:
    """Where execution stopped: after instruction ``done`` of an instance, before ``following`` was done.

    ``following`` is the next instruction that would have left a record.
    """

    instance: Instance
    done: int
    following: int

    @property
    def unfinished(self) -> Instruction | None:
        """The instruction of which no record was left."""
        found = self.instance.instructions[self.following : self.following + 1]
        return found[0] if found else None

    def place(self, index: int) -> Location:
        """Where an instruction of the instance stands."""
        return self.instance.view.place(self.instance.block, index)


def crash(process: Process, sources: Sources) -> Iterator[Failed]:
    """The failed assertion of a process that a signal ended."""
    stop = _stop(process)
    if stop is None:
        return
    status = process.recording.ending.status
    call = call_at(process, process.recording.end - 1)
    if status == _ABORT and call is not None:
        yield from _aborted(process, call, sources)
    elif status == _ILLEGAL:
        yield from _trap_failures(process, stop)
    elif status == _DIVISION:
        yield from _division_failures(process, stop)
    elif status != _ABORT:
        yield from (
            _overflowed(process, stop)
            if _is_deep(process, stop)
            else _access_failures(process, stop)
        )


def _stop(process: Process) -> Stop | None:
    """Where the last record leaves off. Copies are recorded before they are made, calls likewise."""
    last = process.recording.end - 1
    instance = process.frames.instance(last) if last >= process.recording.first else None
    if instance is None:
        return None
    own = process.frames.own_records(instance)
    leaving = instance.view.leaving_records[instance.block]
    done = leaving[len(own) - 1][0] if own else -1
    following = leaving[len(own)][0] if len(own) < len(leaving) else len(instance.instructions)
    if own and process.recording.tag(last) in {records.CALL, records.LENGTH}:
        following = done
    return Stop(instance, done, following)


def _aborted(process: Process, call: Call, sources: Sources) -> Iterator[Failed]:
    """assert, abort, an exception that nobody caught: the branch that led to the call."""
    name = callee(call.instruction).removeprefix("@")
    place = call.location
    kind, message = FailureKind.ASSERTION, f"{name}() was called"
    if name == "__assert_fail":
        message = f"{sources.text(place.file, place.line)} failed"
    elif name in _THROWN:
        kind, message = FailureKind.EXCEPTION, "an exception was not caught"
    step = process.statements.control(process.ids.of(call.position))
    if step is not None:
        yield Failed(kind, step, other_way(process, step), message, place)


def _trap_failures(process: Process, stop: Stop) -> Iterator[Failed]:
    """``__builtin_trap``, or code that cannot be: the branch that led there."""
    step = process.statements.control_of(stop.instance)
    if step is not None:
        place = stop.place(len(stop.instance.instructions) - 1)
        message = "__builtin_trap() was reached"
        yield Failed(FailureKind.ASSERTION, step, other_way(process, step), message, place)


def _division_failures(process: Process, stop: Stop) -> Iterator[Failed]:
    """A division by zero (or of the smallest integer by -1): the divisor had to be another one."""
    for index in range(stop.done + 1, stop.following + 1):
        instruction = (
            stop.instance.instructions[index] if index < len(stop.instance.instructions) else None
        )
        if instruction is None or instruction.opcode not in _DIVISIONS:
            continue
        kind, _, text = arithmetic.binary_operands(instruction.body)
        divisor = process.values.operand(kind, text, stop.instance, index)
        condition = another_value(divisor)
        if condition is not None:
            shown = rendered_value(known_value(divisor), divisor.sort)
            message = f"division by {shown}"
            yield Failed(
                FailureKind.CRASH,
                _step_past_end(process),
                condition,
                message,
                stop.place(index),
                shown,
            )


def _is_deep(process: Process, stop: Stop) -> bool:
    """Whether the stack ran out: very many calls, and a fault that no pointer of the program made, or
    one on the stack: the first store to a local may be what meets its end.
    """
    fault = process.recording.ending.fault
    if stop.instance.depth <= _DEEP:
        return False
    asked = {address for _, address in _pointers(process, stop)}
    return fault not in asked or abs(fault - _last_object(process)) < _FRAME


def _last_object(process: Process) -> int:
    """The address of the last stack object that was made in the window; 0 if none was."""
    recording = process.recording
    at = recording.last(recording.end, 0, records.TAG, records.PLACE << records.TAG_SHIFT)
    return recording.value(at) if at >= 0 else 0


def _overflowed(process: Process, stop: Stop) -> Iterator[Failed]:
    """Recursion without an end: the branch that went on."""
    step = process.statements.control_of(stop.instance)
    if step is not None:
        message = f"the stack overflowed, {stop.instance.depth:,} calls deep"
        yield Failed(
            FailureKind.CRASH, step, other_way(process, step), message, _deepest_call(process, stop)
        )


def _deepest_call(process: Process, stop: Stop) -> Location:
    """Where the last call stands: a stack gives out in a call, or in what its callee does first."""
    last = process.recording.end - 1
    caller = process.frames.caller(last)
    if process.recording.tag(last) == records.CALL or caller is None:
        return stop.place(max(stop.done, 0))
    instance, index, _ = caller
    return instance.view.place(instance.block, index)


def _access_failures(process: Process, stop: Stop) -> Iterator[Failed]:
    """An access that could not be made: its pointer had to be another one."""
    ending = process.recording.ending
    message = (
        f"{_SIGNALS.get(ending.status, f'signal {ending.status}')} at address {ending.fault:#x}"
    )
    found = list(_pointers(process, stop))
    exact = [text for text, address in found if address == ending.fault]
    for text, address in found:
        pointer = process.values.operand("ptr", text, stop.instance, stop.following)
        condition = another_value(pointer)
        if condition is not None and (not exact or text in exact):
            shown = _shown_address(address)
            place = stop.place(stop.following)
            yield Failed(
                FailureKind.CRASH, _step_past_end(process), condition, message, place, shown
            )


def _shown_address(address: int) -> str:
    """A pointer; one into the first page, where nothing is, as what it was made from: a field of NULL."""
    if 0 < address < _PAGE:
        return f"NULL + {address}"
    return rendered_value(address, bitvec(64), pointer=True)


def _pointers(process: Process, stop: Stop) -> Iterator[tuple[str, int]]:
    """The pointers of the instruction that was not finished, with their addresses."""
    instruction = stop.unfinished
    if instruction is None:
        return
    texts: list[str] = []
    if instruction.opcode in {"load", "store"}:
        texts = [operands(instruction)[1][1]]
    elif instruction.opcode in _ACCESSES:
        texts = [operands(instruction)[0][1]]
    elif instruction.opcode in {"call", "invoke"}:
        called = callee(instruction)
        texts = [called] if called.startswith("%") else []
        texts += [text for kind, text in arguments(instruction) if kind.startswith("ptr")]
    for text in texts:
        address = process.values.pointer_value("ptr", text, stop.instance, stop.following)
        if address is not None:
            yield text, address


def _step_past_end(process: Process) -> int:
    """An id after every step of the run."""
    return process.ids.of(process.recording.end)
