"""Which changed entries of tables the failing run read: no code of theirs is ever executed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from afterd.compare.c.ties import Ties
from afterd.model.change import ChangeId
from afterd.trace.c.read import Placed, Process
from afterd.trace.c.window import records
from afterd.trace.c.window.buckets import PART, Words

_WORD = np.uint64
_LOAD, _COPY = _WORD(records.LOAD), _WORD(records.COPY)


def read_entries(process: Process, ties: Ties) -> dict[ChangeId, None]:
    """The changes of the entries that were loaded, or copied out of a table, within the window. A table that is copied
    as a whole (a local array is, from its initial value) is no reading of each of its entries.
    """
    found: dict[ChangeId, None] = {}
    tables = [each for each in process.symbols.variables() if ties.changes_table(each)]
    if not tables:
        return found
    for address in _addresses_read(process, tables):
        placed = process.symbols.at(address)
        entry = ties.entry(placed, address) if placed is not None else None
        if entry is not None:
            found.update(dict.fromkeys(ties.of_rows(entry)))
    return found


def _addresses_read(process: Process, tables: Sequence[Placed]) -> list[int]:
    """The addresses in some tables that were loaded from, or are in what was copied from there."""
    a, b = process.recording.window.a, process.recording.window.b
    found = set[int]()
    for start in range(0, len(a), PART):
        words, values = a[start : start + PART], b[start : start + PART]
        tags = words >> _WORD(records.TAG_SHIFT)
        loaded = np.unique(words[tags == _LOAD] & _WORD(records.ADDRESS_MASK))
        copies = np.flatnonzero(tags == _COPY)
        for table in tables:
            end = table.address + table.size
            found.update(map(int, _within(loaded, table.address, end)))
            for at in copies[(values[copies] >= table.address) & (values[copies] < end)]:
                found.update(_copied(a, int(values[at]), start + int(at), table.size))
    return sorted(found)


def _within(addresses: Words, first: int, end: int) -> Words:
    """Those of some sorted addresses that are in a range."""
    low, high = np.searchsorted(addresses, [first, end])
    return addresses[low:high]


def _copied(words: Words, source: int, at: int, whole: int) -> Iterator[int]:
    """The addresses that the copy of a record took bytes from; its length stands in the record behind it."""
    if at + 1 >= len(words) or int(words[at + 1]) >> records.TAG_SHIFT != records.LENGTH:
        return
    length = int(words[at + 1]) & records.LENGTH_MASK
    if length < whole:
        yield from range(source, source + length)
