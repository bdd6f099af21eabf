"""Calls of code that is not traced, which may write what a program reads and keeps what it is given."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

from afterd.limits import C_TRACE
from afterd.model.term import OPAQUE, Read
from afterd.trace.c.ir.recorded import arguments, callee, result_type
from afterd.trace.c.read import libc
from afterd.trace.c.read.frames import Call
from afterd.trace.c.read.steps import ADDRESS_BITS, ADDRESSES, Cells

if TYPE_CHECKING:  # values read memory, and tell what such calls were given
    from afterd.trace.c.read.values import Values

_WORD = ADDRESS_BITS // 8
_ONLY_GIVEN = ("@llvm.", "@_ZNK")
"""Beginnings of the names of what writes no farther than it is told: intrinsics, and C++'s const methods."""


class Outside:
    """Who of the code that is not traced may have written some bytes."""

    def __init__(self, values: Values) -> None:
        self._values = values
        self._may_matter = cache(self._may_matter_uncached)
        self._setting = cache(self._setting_uncached)
        # each byte of a text asks the same hundreds of calls, and what one wrote to does not depend on who asks
        self._made = cache(self._made_uncached)
        self._written = cache(self._written_uncached)
        self._handed = cache(self._handed_uncached)
        self._filled = cache(self._filled_uncached)
        self._reach = cache(self._reach_uncached)
        self._room = cache(self._room_uncached)

    def writer(
        self, address: int, size: int, before: int, after: int, variable: str = ""
    ) -> Call | None:
        """The last call before a record that may have written the bytes since ``after``; ``variable``: they are one
        of the C library's.
        """
        if libc.is_set_by_some(variable):
            return next(self._calls(before, after, self._setting(variable)), None)
        made = self._calls(before, after, self._may_matter)
        return next((call for call in made if self._may_write(call, address, size)), None)

    def made_of(self, address: int, size: int, before: int) -> list[Read]:
        """What the last call left of an object that it was given a pointer into: its state, of which nobody saw
        the bytes. A stream is given to one function after the other. Nothing where there is no such call.
        """
        made = self._calls(before, 0, self._may_matter) if size else ()
        for call in made:
            pointers = self._written(call.position).values()
            if any(address <= pointer < address + size for pointer in pointers):
                step = self._values.ids.of_cells(call.position, Cells(address, size))
                return [Read(step, OPAQUE)]
        return []

    def result(self, call: Call) -> int:
        """The address that a call returned; 0 if it returned none."""
        back = self._values.frames.returned(call.position)
        found = back >= 0 and call.instruction.result
        return self._values.recording.value(back) if found else 0

    def _calls(
        self, before: int, after: int, concerned: Callable[[int], bool | None]
    ) -> Iterator[Call]:
        """The calls between two records, last first; as many as are looked at for one value."""
        calls = self._values.recording.calls(before, max(after, 0), concerned)
        for position in islice(calls, C_TRACE.calls):
            if (made := self._made(position)) is not None:
                yield made

    def _made_uncached(self, position: int) -> Call | None:
        made = self._values.frames.calling(position)
        return Call(*made, position) if made else None

    def _may_matter_uncached(self, site: int) -> bool | None:
        """Whether a call site calls code that is not traced and that may write what a program sees;
        None for a call through a pointer.
        """
        instruction = self._values.frames.program.call_of_site(site)
        name = callee(instruction)
        if not name.startswith("@"):
            return None
        kinds = enumerate(kind for kind, _ in arguments(instruction))
        writes = libc.returns_written(name) or any(
            kind.startswith("ptr") and libc.writes_through(name, number) for number, kind in kinds
        )
        return writes and self._values.frames.program.is_outside(name)

    def _setting_uncached(self, variable: str) -> Callable[[int], bool]:
        program = self._values.frames.program

        def sets(site: int) -> bool:
            name = callee(program.call_of_site(site))
            return program.is_outside(name) and libc.sets(name, variable)

        return cache(sets)

    def handed(self, call: Call) -> tuple[int, ...]:
        """The pointers in the first words of what a call's arguments point to: where a function that nobody knows
        may read, and write (``iconv(handle, &in, &left, &out, &room)``, the buffer of a C++ string).
        """
        return self._handed(call.position)

    def _may_write(self, call: Call, address: int, size: int) -> bool:
        """How far is asked last: that may be told by what calls before this one wrote."""
        at = call.position
        if any(
            pointer < address + size and address < pointer + self._reach(at, number, pointer)
            for number, pointer in self._written(at).items()
        ):
            return True
        if any(
            pointer < address + size and address < pointer + self._room(at, pointer)
            for pointer in self._handed(at)
        ):
            return True
        result = self._filled(at)
        return 0 < result <= address < result + self._reach(at, -1, result)

    def _handed_uncached(self, position: int) -> tuple[int, ...]:
        call = self._made(position)
        name = callee(call.instruction) if call is not None else ""
        if call is None or libc.is_known_function(name) or name.startswith(_ONLY_GIVEN):
            return ()
        held = (
            self._values.memory.bits(pointer + _WORD * at, _WORD, position)
            for pointer in self._written(position).values()
            for at in range(C_TRACE.handed)
        )
        return tuple(dict.fromkeys(found for found in held if found and found in ADDRESSES))

    def _filled_uncached(self, position: int) -> int:
        """The address that a call returned, if it may say what is behind it; else 0. Of a function that nobody knows
        it may (``c_str()`` of C++'s library, of which nobody saw who wrote the text).
        """
        call = self._made(position)
        if call is None:
            return 0
        name = callee(call.instruction)
        if libc.is_known_function(name):
            fills = libc.returns_written(name)
        else:
            fills = result_type(call.instruction).startswith("ptr") and not libc.allocates(name)
        return self.result(call) if fills else 0

    def _written_uncached(self, position: int) -> Mapping[int, int]:
        """The arguments through which a call may write: addresses by number."""
        call = self._made(position)
        if call is None:
            return {}
        name, found = callee(call.instruction), dict[int, int]()
        for number, (kind, text) in enumerate(arguments(call.instruction)):
            if kind.startswith("ptr") and libc.writes_through(name, number):
                pointer = self._values.pointer_value(kind, text, call.instance, call.index)
                if pointer:
                    found[number] = pointer
        return found

    def _reach_uncached(self, position: int, number: int, pointer: int) -> int:
        """How many bytes a call may have written where an argument, or (-1) its result, points to: no more
        than its object has.

        A chunk of code that realloc had moved was taken for a text: vsnprintf wrote six bytes 40 KiB
        below, and nothing said that it could not have written more.
        """
        call = self._made(position)
        if call is None:
            return 0
        most = libc.at_most(callee(call.instruction), number)
        if isinstance(most, int):
            return most
        given = arguments(call.instruction)
        if most is not None and max(most) < len(given):
            size = self._values.product([given[at] for at in most], call.instance, call.index)
            return C_TRACE.reach if size is None else size
        return self._room(position, pointer)

    def _room_uncached(self, position: int, pointer: int) -> int:
        room = self._values.allocations.room(pointer, position)
        return C_TRACE.reach if room is None else min(room, C_TRACE.reach)
