"""The processes of a run that started one another, as one run: what a process did stands where it was started.

So what a test's child did is below the call that started it, as a callback's frames are: the call depends on what
they gave, and what it printed is found by its text. Two processes have other objects at one address, so those of a
child are moved out of the way; a fork goes on with those of the process that it left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from operator import itemgetter
from typing import Any

from afterd.trace.python.read.tracefile import Origin, Raw, Recorded, RowSpan
from afterd.trace.python.read.values import MUTABLE
from afterd.trace.python.record.rows import ADDRESSED, KIND_MASK

_SPACE = 1 << 64
"""As many addresses as one process can have."""
UNFOLLOWED = "The program starts processes; what some of them do is not followed."
TypeRow = tuple[
    str, str, int, tuple[int, ...]
]  # module, name, identity, identities of the ancestry
_Starts = dict[
    int, list[tuple[int, int]]
]  # by a process: (its row, the process that began before it)


def joined_processes(traces: Sequence[Raw]) -> tuple[Raw, ...]:
    """The traces of a run's processes, each with those in it that it started, in the order in which they are given.

    One that the window cut, and one whose start it cut, stays by itself; of a fork by itself nothing can be said.
    """
    starts = _starts(traces)

    def with_children(place: int) -> Raw:
        below = [(row, with_children(child)) for row, child in starts.get(place, [])]
        return _Joining(traces[place], place).joined(below)

    inner = {child for below in starts.values() for _, child in below}
    outer = [place for place in range(len(traces)) if place not in inner]
    return tuple(with_children(place) for place in outer if not traces[place].header["forked"])


def _starts(traces: Sequence[Raw]) -> _Starts:
    """Who started whom, in that order: the nearest ancestor that was recorded, if it knows of the start."""
    places = {raw.header["pid"]: place for place, raw in enumerate(traces)}
    found: dict[int, list[tuple[int, int, float, int]]] = {}
    for child, raw in enumerate(traces):
        line = [raw.header["pid"], *raw.header["ancestors"]]
        below = ((each, places[above]) for each, above in pairwise(line) if above in places)
        begun, parent = next(below, (0, child))
        begins = enumerate(traces[parent].header["started"])
        rows = [(row, place) for place, (process, row) in begins if process == begun]
        if rows and raw.kept == raw.total and _holds(traces[parent], rows[-1][0]):
            found.setdefault(parent, []).append((*rows[-1], raw.header["clock"][0], child))
    return {
        parent: [(row, child) for row, *_, child in sorted(below)]
        for parent, below in found.items()
    }


def _holds(raw: Raw, row: int) -> bool:
    return any(span.first <= row <= span.first + len(span.sites) for span in raw.spans)


class _Joining:
    """Puts processes into the one that started them."""

    def __init__(self, raw: Raw, place: int) -> None:
        self._own = raw
        self._place = place
        self._values = list(raw.values)
        self._types = [_type_row(each, 0) for each in raw.header["types"]]
        self._kinds = {each: number for number, each in enumerate(self._types)}
        self._origins = [Origin(0, place, 0)]
        self._put: list[tuple[int, Raw]] = []  # before which own row

    def joined(self, below: Sequence[tuple[int, Raw]]) -> Raw:
        """The process with others, each of them before a row of it, in the order of the rows."""
        waiting = list(below)
        spans = []
        for span in self._own.spans:
            here = [
                each for each in waiting if span.first <= each[0] <= span.first + len(span.sites)
            ]
            waiting = [each for each in waiting if each not in here]
            moved = here or self._put
            spans.append(self._widened(span, here) if moved else span)
        return Raw(
            self._own.path, self._header(), tuple(spans), tuple(self._values), tuple(self._origins)
        )

    def _widened(self, span: RowSpan, here: Sequence[tuple[int, Raw]]) -> RowSpan:
        """A span with the processes that were started within it."""
        first = self._now(span.first)
        frames = tuple((site, at, self._now(row)) for site, at, row in span.frames)
        sites: list[int] = []
        values: list[int] = []
        done = 0
        for row, child in here:
            cut = row - span.first
            sites += [*span.sites[done:cut], *(site for each in child.spans for site in each.sites)]
            values += [*span.values[done:cut], *self._values_of(child)]
            start = self._now(row)
            self._origins += [replace(each, first=each.first + start) for each in child.origins]
            self._put.append((row, child))
            self._origins.append(Origin(start + child.total, self._place, row))
            done = cut
        return RowSpan(first, [*sites, *span.sites[done:]], [*values, *span.values[done:]], frames)

    def _rows_before(self, row: int) -> int:
        """How many rows were put before one."""
        return sum(child.total for start, child in self._put if start <= row)

    def _now(self, row: int) -> int:
        """The number that a row of the process has now."""
        return row + self._rows_before(row)

    def _values_of(self, child: Raw) -> Iterator[int]:
        """The numbers that the values of a process have in the table of all."""
        shift = 0 if child.header["forked"] else _SPACE * (len(self._put) + 1)
        kinds = [self._kind(_type_row(each, shift)) for each in child.header["types"]]
        first = len(self._values)
        self._values += [_moved_value(value, shift, kinds) for value in child.values]
        addresses: dict[int, int] = {}
        for span in child.spans:
            for site, number in zip(span.sites, span.values, strict=True):
                if site & KIND_MASK not in ADDRESSED:
                    yield first + number
                    continue
                if number not in addresses:
                    addresses[number] = len(self._values)
                    self._values.append(_moved_address(child.values[number], shift, kinds))
                yield addresses[number]

    def _kind(self, row: TypeRow) -> int:
        """The number of a type among all, which may be new."""
        if row not in self._kinds:
            self._kinds[row] = len(self._types)
            self._types.append(row)
        return self._kinds[row]

    def _header(self) -> dict[str, Any]:
        own = self._own.header
        everyone = [own, *(child.header for _, child in self._put)]
        followed = {row for row, _ in self._put}
        beyond = any(row not in followed for _, row in own["started"])
        notes = {UNFOLLOWED} if beyond else set()
        return {
            **own,
            "total": self._own.total + sum(child.total for _, child in self._put),
            "types": self._types,
            "modules": [module for each in everyone for module in each["modules"]],
            "refused": {path: why for each in everyone for path, why in each["refused"].items()},
            "texts": {name: text for each in everyone for name, text in each["texts"].items()},
            "failures": self._failures(),
            "tests": [self._moved_test(test) for test in own["tests"]],
            "threads": sum(each["threads"] for each in everyone),
            "notes": sorted(notes.union(*(each["notes"] for each in everyone))),
            "replaced": any(each["replaced"] for each in everyone),
        }

    def _moved_test(self, test: dict[str, Any]) -> dict[str, Any]:
        return {**test, "first": self._now(test["first"]), "last": self._now(test["last"])}

    def _failures(self) -> list[dict[str, Any]]:
        """The failures that the process saw; where it saw none, those of which others died, in order."""
        own = [{**each, "row": self._now(each["row"])} for each in self._own.header["failures"]]
        others = [
            {**each, "row": each["row"] + row + self._rows_before(row - 1)}
            for row, child in self._put
            for each in child.header["failures"]
        ]
        return own or sorted(others, key=itemgetter("row"))


def _type_row(row: Sequence[Any], shift: int) -> TypeRow:
    module, name, kind, ancestry = row
    return module, name, kind + shift, tuple(base + shift for base in ancestry)


def _moved_value(value: Recorded, shift: int, kinds: Sequence[int]) -> Recorded:
    """A value with its objects' identities and types as they are among all."""
    if not isinstance(value, tuple) or not value or value[0] not in MUTABLE | {"t"}:
        return value
    tag, *rest = value
    if tag == "t":
        return (tag, *(_moved_value(item, shift, kinds) for item in rest))
    kept = kinds[rest[1]] if tag == "o" else rest[1]
    return (tag, rest[0] + shift, kept, *(_moved_value(item, shift, kinds) for item in rest[2:]))


def _moved_address(value: Recorded, shift: int, kinds: Sequence[int]) -> Recorded:
    """What a row says that names its frame, or its thread, by an address."""
    if not isinstance(value, tuple):
        return value + shift
    tag, address, error, line = value
    return (tag, address + shift, _moved_value(error, shift, kinds), line)
