"""One process's trace with its program: rows, nodes, frames and values, by position.

A *position* counts the rows that were kept; a *row number* counts all rows of the run and is what
step ids are made of. They differ where the window dropped rows in between.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from afterd.trace.python.read.addresses import Addresses
from afterd.trace.python.read.clock import Clock
from afterd.trace.python.read.frames import Frame, FrameBuilder
from afterd.trace.python.read.iterations import Iterations
from afterd.trace.python.read.program import Module, Node, load_lines, load_module
from afterd.trace.python.read.raised import Raised
from afterd.trace.python.read.tracefile import Raw, Recorded
from afterd.trace.python.record.rows import (
    ADDRESSED,
    KIND_BITS,
    KIND_MASK,
    MAX_NODES,
    NODE_BITS,
    OUTCOMES,
    Kind,
)

_KINDS = {kind.value: kind for kind in Kind}  # quicker than Kind(…), which is asked per row


def _node_of_site(site: int) -> tuple[int, int]:
    """The module's fingerprint and the node's number."""
    return site >> (KIND_BITS + NODE_BITS), site >> KIND_BITS & (MAX_NODES - 1)


class Trace:
    """The rows of a process and what they mean. Modules are loaded when a row first needs them."""

    def __init__(self, raw: Raw, cache: Path) -> None:
        self.raw = raw
        self.cache = cache
        self.sites: list[int] = [site for span in raw.spans for site in span.sites]
        self.numbers: list[int] = [value for span in raw.spans for value in span.values]
        self.modules: dict[int, Module] = {}
        self._files = {key: (path, name) for key, path, name in raw.header["modules"]}
        self._nodes: dict[int, tuple[Node | None, Kind]] = {}
        self.raised = Raised(self)
        self.addresses = Addresses(self)
        self.clock = Clock(self)
        self.iterations = Iterations(self)

    def __len__(self) -> int:
        return len(self.sites)

    # -- rows --------------------------------------------------------------------------------

    def node(self, position: int) -> Node | None:
        """The node of a row; None for rows that have none (threads, output)."""
        return self.decode(self.sites[position])[0]

    def kind(self, position: int) -> Kind:
        """What the row says."""
        return _KINDS[self.sites[position] & KIND_MASK]

    def value(self, position: int) -> Recorded:
        """The recorded value."""
        return self.raw.values[self.numbers[position]]

    def decode(self, site: int) -> tuple[Node | None, Kind]:
        """The node and kind of a site."""
        found = self._nodes.get(site)
        if found is None:
            found = self._nodes[site] = (self._lookup(site), _KINDS[site & KIND_MASK])
        return found

    def _lookup(self, site: int) -> Node | None:
        key, number = _node_of_site(site)
        module = self.module(key)
        return module.nodes.get(number) if module else None

    def module(self, key: int) -> Module | None:
        """The module with this fingerprint; None for one this run did not load."""
        if key not in self.modules and key in self._files:
            path, name = self._files[key]
            self.modules[key] = load_module(key, path, self.cache / f"{name}.json")
        return self.modules.get(key)

    def all_modules(self) -> list[Module]:
        """Every traced module of the run."""
        found = [self.module(key) for key in self._files]
        return [module for module in found if module is not None]

    def files(self) -> frozenset[str]:
        """The files of every traced module of the run, read or not."""
        return frozenset(path for path, _ in self._files.values())

    def lines(self) -> dict[str, frozenset[int]]:
        """By file, the lines on which something that was executed begins."""
        found: dict[str, set[int]] = {}
        tables: dict[int, array[int]] = {}
        for site in set(self.sites):
            key, number = _node_of_site(site)
            if key not in self._files or site & KIND_MASK == Kind.EXIT.value:
                continue
            path, name = self._files[key]
            if key not in tables:
                tables[key] = load_lines(path, self.cache / f"{name}.lines")
            if number < len(tables[key]) and tables[key][number]:
                found.setdefault(path, set()).add(tables[key][number])
        return {path: frozenset(lines) for path, lines in found.items()}

    # -- numbering ---------------------------------------------------------------------------

    @cached_property
    def _starts(self) -> list[tuple[int, int]]:
        """(position, row number) where each span begins."""
        starts, position = [], 0
        for span in self.raw.spans:
            starts.append((position, span.first))
            position += len(span.sites)
        return starts

    def number(self, position: int) -> int:
        """The row number at a position."""
        start, first = self._starts[bisect_right(self._starts, (position, 1 << 62)) - 1]
        return first + position - start

    def position(self, number: int) -> int:
        """The position of a row number; raises KeyError when the window does not hold it."""
        for (start, first), span in zip(self._starts, self.raw.spans, strict=True):
            if first <= number < first + len(span.sites):
                return start + number - first
        raise KeyError(number)

    def position_or_end(self, number: int) -> int:
        """The position that a row number has; the end of the trace where the window does not hold it."""
        try:
            return self.position(number)
        except KeyError:
            return len(self)

    @property
    def gap(self) -> int:
        """How many rows fell out of the window."""
        return self.raw.total - self.raw.kept

    # -- frames ------------------------------------------------------------------------------

    @cached_property
    def _built(self) -> FrameBuilder:
        builder = FrameBuilder()
        owners: dict[int, tuple[Node | None, Node | None, Kind, bool]] = {}
        processes = {origin.first: origin.process for origin in self.raw.origins}
        position = 0
        for span in self.raw.spans:
            for site, address, row in span.frames:
                node, _ = self.decode(site)
                if node is not None:
                    builder.opened_before(node, address, row)
            for number, site in enumerate(span.sites, span.first):
                if number in processes:
                    builder.goes_on_in(processes[number])
                known = owners.get(site)
                if known is None:
                    node, kind = self.decode(site)
                    addressed = kind in ADDRESSED
                    known = owners[site] = (node, _owner(node, kind), kind, addressed)
                node, owner, kind, addressed = known
                if addressed:
                    value = self.raw.values[self.numbers[position]]
                    address = value[1] if isinstance(value, tuple) else value
                    builder.addressed_row(position, node, owner, kind, address)
                else:
                    builder.row(position, owner, kind)
                position += 1
        return builder

    @property
    def frames(self) -> list[Frame]:
        """All frames, in the order they were entered."""
        return self._built.frames

    def frame(self, position: int) -> Frame | None:
        """The frame a row belongs to."""
        return self._built.of_row[position]

    def process(self, frame: Frame) -> int:
        """The process that an activation is of."""
        return self.raw.origin(self.number(max(frame.entered, 0)))[0]

    # -- looking rows up ---------------------------------------------------------------------

    def at_site(self, node: Node, kind: Kind = Kind.VALUE) -> list[int]:
        """The positions of a node's rows of one kind, in order."""
        return self._rows_by_site.get(self.site(node, kind), [])

    def branches(self) -> Iterator[tuple[Node, Kind, list[int]]]:
        """Each node at which the run went one way or the other, the way, and the rows of it in order."""
        for site, rows in self._rows_by_site.items():
            node, kind = self.decode(site)
            if node is not None and kind in OUTCOMES:
                yield node, kind, rows

    @cached_property
    def _rows_by_site(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for position, site in enumerate(self.sites):
            found.setdefault(site, []).append(position)
        return found

    @staticmethod
    def site(node: Node, kind: Kind) -> int:
        """The site code of a node's rows."""
        return ((node.module.key << NODE_BITS | node.number) << KIND_BITS) | kind

    def last_at(
        self, node: Node, frame: Frame | None, before: int, kind: Kind = Kind.VALUE
    ) -> int | None:
        """The node's last row before a position, in ``frame`` (None: in any)."""
        rows = self.at_site(node, kind)
        index = bisect_left(rows, before) - 1
        while index >= 0:
            if frame is None or self.frame(rows[index]) is frame:
                return rows[index]
            index -= 1
        return None

    def previous_in_frame(self, frame: Frame, position: int) -> int:
        """The frame's row before this one; where the frame began when there is none."""
        index = bisect_left(frame.rows, position) - 1
        return frame.rows[index] if index >= 0 else frame.entered

    def next_in_frame(self, frame: Frame, position: int) -> int | None:
        """The frame's first row after a position."""
        index = bisect_right(frame.rows, position)
        return frame.rows[index] if index < len(frame.rows) else None


_OWN_FRAME = frozenset({Kind.ENTER, Kind.EXIT})


def _owner(node: Node | None, kind: Kind) -> Node | None:
    """The frame node whose frame writes this row."""
    if node is None:
        return None
    if kind in _OWN_FRAME or node.type == "Module":
        return node
    if kind is Kind.RETURN and node.type == "Lambda":
        return node
    return node.frame
