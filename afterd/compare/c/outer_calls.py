"""The calls that code which is not traced made of traced functions: what it judged when the test failed.

A library that an interpreter loads, an extension module, a test program that the build does not make: what
failed is outside, and no statement of the program's own says so. But each call from there is an event
(Shapiro's question, asked of both runs): given this it gave that. While both runs are called for the same
functions with the same arguments, whatever told the test apart was given by one of these calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from afterd.trace.c.ir.ir import Instruction
from afterd.trace.c.ir.recorded import operands
from afterd.trace.c.read import FunctionView, Instance, Process
from afterd.trace.c.window import records

_OUTERMOST = 1  # the call depth of what no traced code called: weaver.py counts from there
_ENTRIES = records.TAG | records.DEPTH_MASK
_INSTANCES = records.ANY_BLOCK | records.DEPTH_MASK


@dataclass(frozen=True, slots=True)
class OuterCall:
    """An activation that code which is not traced began: its ENTER record, the block instance that returned,
    and the first position past its records.
    """

    entry: Instance
    last: Instance
    end: int

    @property
    def view(self) -> FunctionView:
        """The function that was called."""
        return self.entry.view

    @property
    def returning(self) -> Instruction:
        """The ``ret`` that ended it."""
        return self.last.instructions[-1]


@dataclass(frozen=True, slots=True)
class Parameter:
    """What a call was given: the source's name, the type in the IR, the bits, and the record that says so."""

    name: str
    kind: str
    value: int
    position: int

    @property
    def is_pointer(self) -> bool:
        """Whether it is an address."""
        return self.kind.startswith("ptr")

    @property
    def comparable(self) -> int:
        """What of it two runs can compare: of an address, that it is one."""
        return int(bool(self.value)) if self.is_pointer else self.value


@dataclass(frozen=True, slots=True)
class CallPairs:
    """The calls of both runs that correspond, in order; ``parted``: after them the runs were called for
    different things.
    """

    pairs: Sequence[tuple[OuterCall, OuterCall]]
    parted: bool


def call_pairs(bad: Process, green: Process) -> CallPairs:
    """The calls from outside up to where the two runs were called for something else.

    A program whose own ``main`` is traced is its own judge; of one that was recorded in part nobody knows
    which calls correspond.
    """
    if bad.recording.first or green.recording.first:
        return CallPairs((), parted=False)
    mine, other = _outer_calls(bad), _outer_calls(green)
    if any(call.view.name == "main" for call in (*mine, *other)):
        return CallPairs((), parted=False)
    pairs: list[tuple[OuterCall, OuterCall]] = []
    for here, there in zip(mine, other, strict=False):
        if here.view.name != there.view.name or not _given_alike(bad, here, green, there):
            return CallPairs(pairs, parted=True)
        pairs.append((here, there))
    return CallPairs(pairs, parted=len(mine) != len(other))


def parameters(process: Process, call: OuterCall) -> Iterator[Parameter]:
    """What a call was given, as far as it was stored to a variable: clang stores every parameter at -O0."""
    entry = call.entry
    for number, instruction in enumerate(entry.instructions):
        if instruction.opcode != "store":
            continue
        (kind, text), (_, slot) = operands(instruction)
        at = process.frames.record_of(entry, number)
        if text in entry.view.parameters and at >= 0:
            name = entry.view.slot_names.get(slot, "")
            yield Parameter(name, kind, process.recording.value(at), at)


def _given_alike(bad: Process, here: OuterCall, green: Process, there: OuterCall) -> bool:
    """Whether two calls were given the same: numbers by their value, pointers by being null."""
    mine = [each.comparable for each in parameters(bad, here)]
    other = [each.comparable for each in parameters(green, there)]
    return len(mine) != len(other) or mine == other


def _outer_calls(process: Process) -> list[OuterCall]:
    """The last calls from outside that came back, in order."""
    recording = process.recording
    wanted = records.ENTER << records.TAG_SHIFT | _OUTERMOST
    entries = recording.positions(recording.first, recording.end, _ENTRIES, wanted)
    borders = [*map(int, entries), recording.end]  # of no call, in a child that was forked inside
    found = (_outer_call(process, entry, end) for entry, end in pairwise(borders))
    return [call for call in found if call is not None]


def _outer_call(process: Process, entry: int, end: int) -> OuterCall | None:
    """The call that began with an ENTER record; None where it did not come back."""
    wanted = records.BLOCK << records.TAG_SHIFT | _OUTERMOST
    at = process.recording.last(end, entry, _INSTANCES, wanted)
    first, last = process.frames.instance_at(entry), process.frames.instance_at(at)
    if first is None or last is None or last.instructions[-1].opcode != "ret":
        return None
    return OuterCall(first, last, end)
