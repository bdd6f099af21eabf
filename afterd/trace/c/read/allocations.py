"""Which allocation a heap pointer points into: what two runs can compare where addresses mean nothing."""

from __future__ import annotations

import bisect
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from afterd.trace.c.ir.recorded import arguments, callee
from afterd.trace.c.read import libc
from afterd.trace.c.read.frames import Frames, Instance
from afterd.trace.c.window import records

if TYPE_CHECKING:  # values are compared by the objects that they point into
    from afterd.trace.c.read.values import Values

_OLDER, _NEIGHBOURS = 64, 4
"""Allocations at one address, and addresses below a pointer, that are looked at."""


@dataclass(frozen=True, slots=True)
class Allocated:
    """A place in a heap object: the instance and instruction that allocated it, the CALL record, how many
    bytes into the object, and how many are ``left`` of it.
    """

    instance: Instance
    instruction: int
    call: int
    offset: int
    left: int


class Allocations:
    """The heap objects of one process, as far as its window goes."""

    def __init__(self, frames: Frames, values: Values) -> None:
        self._frames = frames
        self._values = values
        self._size = cache(self._size_uncached)
        self.of = cache(self._of)

    def _of(self, address: int, before: int) -> Allocated | None:
        """The object that an address was in just before a record; None where that is not known."""
        addresses, calls = self._sorted
        at = bisect.bisect_right(addresses, address) - 1
        for _ in range(_NEIGHBOURS):
            if at < 0:
                return None
            start = int(addresses[at])
            for _ in range(_OLDER):
                if at < 0 or addresses[at] != start or calls[at] < before:
                    break
                at -= 1
            if at >= 0 and addresses[at] == start:
                offset, size = address - start, self._size(int(calls[at]))
                if offset < size:
                    return self._allocated(int(calls[at]), offset, size)
                at = bisect.bisect_left(addresses, start) - 1
        return None

    def room(self, address: int, before: int) -> int | None:
        """How many bytes an object has at most from an address in it on, just before a record: to its end, or, of
        one that the program did not allocate within the window, to where the next one begins that it did
        allocate. None where that is not known.
        """
        placed = self.of(address, before)
        if placed is not None:
            return placed.left
        addresses, calls = self._sorted
        above = bisect.bisect_right(addresses, address)
        nearest = range(above, min(above + _OLDER, len(addresses)))
        return next((int(addresses[at]) - address for at in nearest if calls[at] < before), None)

    def _allocated(self, call: int, offset: int, size: int) -> Allocated | None:
        made = self._frames.calling(call)
        return Allocated(*made, call, offset, size - offset) if made else None

    @cached_property
    def _sorted(self) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
        """Addresses of all allocations, ascending, and their CALL records, ascending for an address."""
        recording = self._frames.recording
        calls = np.fromiter(
            recording.calls(recording.end, recording.first, cache(self._allocates)), dtype=np.int64
        )
        found = np.fromiter(map(self._returned, calls), dtype=np.uint64, count=len(calls))
        order = np.lexsort((calls, found))
        return found[order], calls[order]

    def _returned(self, call: int) -> int:
        recording, back = self._frames.recording, int(call) + 1
        if back >= recording.end or recording.tag(back) != records.RETURN:
            back = self._frames.returned(int(call))
        return recording.value(back) if back >= 0 else 0

    def _allocates(self, site: int) -> bool:
        name = callee(self._frames.program.call_of_site(site))
        return bool(libc.allocates(name)) and not self._frames.program.resolved(name[1:])

    def _size_uncached(self, call: int) -> int:
        """How many bytes were asked for; 1 where that is not known: then only the start is known."""
        made = self._frames.calling(call)
        if made is None:
            return 1
        instance, index = made
        instruction = instance.instructions[index]
        given = arguments(instruction)
        sizes = [given[number] for number in libc.allocates(callee(instruction))]
        size = self._values.product(sizes, instance, index)
        return 1 if size is None else size
