"""Addresses that a program took for values: what ``id()`` gave, a default ``hash()`` or ``repr()``.

No two runs share them, so they tell nothing of a difference. A number is one because of where it came
from, not because of its size: it is the identity of an object that the run recorded, or what ``id()``
was seen to give.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from afterd.trace.python.read.program import BUILTIN
from afterd.trace.python.read.tracefile import Recorded

if TYPE_CHECKING:
    from afterd.trace.python.read.trace import Trace

_IDENTIFIED = frozenset({"l", "d", "s", "o"})
_PRINTED = re.compile(r" at 0x[0-9a-fA-F]+(?=[ >])")
_NUMBER = re.compile(r"\b(?:0x[0-9a-fA-F]+|\d+)\b")
_HASHED = 4  # bits by which the default hash is the address shifted
_LOWEST = 1 << 16  # no object lives, and none is hashed, below: most numbers are not looked up
ADDRESS = "<address>"


class Addresses:
    """Of the objects of one trace."""

    def __init__(self, trace: Trace | None) -> None:
        self._trace = trace

    @cached_property
    def known(self) -> frozenset[int]:
        """All numbers that are addresses, or the default hash of one."""
        if self._trace is None:
            return frozenset()
        raw = self._trace.raw
        found = {int(kind[2]) for kind in raw.header["types"]}
        found.update(_identities(raw.values), _given_by_id(self._trace))
        return frozenset(found | {address >> _HASHED for address in found})

    def masked(self, text: str) -> str:
        """A text without the addresses in it."""
        return _NUMBER.sub(self._name, _PRINTED.sub("", text))

    def _name(self, found: re.Match[str]) -> str:
        digits = found[0]
        return ADDRESS if self.is_address(int(digits, 16 if "x" in digits else 10)) else digits

    def is_address(self, value: Recorded) -> bool:
        """Whether a plain value is an address."""
        return type(value) is int and value > _LOWEST and value in self.known

    def are_in(self, value: Recorded) -> bool:
        """Whether a plain value, or a tuple of them, has an address in it."""
        if isinstance(value, tuple):
            return any(map(self.are_in, value[1:]))
        if isinstance(value, str):
            return self.masked(value) != value
        return self.is_address(value)


NO_ADDRESSES = Addresses(None)
"""Of values that no trace is known of."""


def _given_by_id(trace: Trace) -> Iterator[int]:
    """What calls of ``id()`` gave: of texts and tuples no row keeps the identity."""
    for module in trace.all_modules():
        for node in module.of_type("Call"):
            function = node["func"]
            if function["id"] == "id" and function["owner"] == BUILTIN:
                values = map(trace.value, trace.at_site(node))
                yield from (value for value in values if isinstance(value, int))


def _identities(values: Iterable[Recorded]) -> Iterator[int]:
    for value in values:
        if isinstance(value, tuple) and value:
            if value[0] in _IDENTIFIED:
                yield value[1]
            if value[0] != "n":
                yield from _identities(value[2:] if value[0] != "t" else value[1:])
