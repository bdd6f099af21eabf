"""Which iterations a row belongs to: of the loops around it, by the items' values and by count.

Told for all rows of an activation at once, when first asked for; whoever compares the run with another asks the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from afterd.trace.python.read.frames import Frame
from afterd.trace.python.read.program import Node
from afterd.trace.python.record.rows import Kind

if TYPE_CHECKING:
    from afterd.trace.python.read.trace import Trace

Name = tuple[object, ...]
"""How the loops are named (``value`` or ``count``), how often the row's site came before in these iterations, and
which iterations they are, the innermost first.
"""
_LOOPS = frozenset({"For", "AsyncFor", "While", "comprehension"})
_OVER_ITEMS = frozenset({"For", "comprehension"})


@dataclass(frozen=True, slots=True)
class RowNames:
    """Of one activation: each row's name by value and by count, in order, and the rows of each node."""

    names: dict[int, tuple[Name, Name]]
    rows: Mapping[Node, Sequence[int]]


class Iterations:
    """The names of the rows of one trace."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._named: dict[int, RowNames] = {}
        self._around: dict[Node, tuple[Node, ...]] = {}

    def of(self, frame: Frame) -> RowNames:
        """The names of an activation's rows."""
        found = self._named.get(frame.number)
        if found is None:
            found = self._named[frame.number] = self._names(frame)
        return found

    def _names(self, frame: Frame) -> RowNames:
        """One pass; what the loops around a node are at is put together once an iteration."""
        trace = self._trace
        loops: dict[Node, tuple[int, object]] = {}
        now: dict[tuple[Node, bool], tuple[tuple[int, ...], tuple[object, ...]]] = {}
        seen: dict[tuple[Node, Kind, tuple[int, ...]], int] = {}
        names: dict[int, tuple[Name, Name]] = {}
        rows: dict[Node, list[int]] = {}
        for index, row in enumerate(frame.rows):
            own, kind = trace.decode(trace.sites[row])
            if own is None:
                continue
            rows.setdefault(own, []).append(row)
            node = trace.raised.statement(row) or own
            entered = kind is Kind.TRUE and node.type in _LOOPS
            if entered:
                self._iterate(frame, index, node, loops)
                now.clear()
            at = now.get((node, entered))
            if at is None:
                around = [outer for outer in self._loops_around(node) if outer in loops]
                around[:0] = [node] * entered
                at = now[node, entered] = (
                    tuple(loops[loop][0] for loop in around),
                    tuple(loops[loop][1] for loop in around),
                )
            by_count, by_value = at
            again = seen.get((node, kind, by_count), 0)
            seen[node, kind, by_count] = again + 1
            names[row] = (("value", again, by_value), ("count", again, by_count))
        return RowNames(names, rows)

    def _loops_around(self, node: Node) -> tuple[Node, ...]:
        found = self._around.get(node)
        if found is None:
            found = tuple(outer for outer in node.ancestors() if outer.type in _LOOPS)
            self._around[node] = found
        return found

    def _iterate(
        self, frame: Frame, index: int, loop: Node, loops: dict[Node, tuple[int, object]]
    ) -> None:
        """A loop's next iteration: what is inside begins anew."""
        trace = self._trace
        count = loops[loop][0] + 1 if loop in loops else 0
        for inner in [other for other in loops if loop in self._loops_around(other)]:
            del loops[inner]
        item: object = count
        if index + 1 < len(frame.rows) and loop.type in _OVER_ITEMS:
            row = frame.rows[index + 1]
            value = trace.value(row)
            target = trace.node(row)
            bound = target is not None and target["store"] and target.type == "Name"
            if bound and not isinstance(value, tuple) and value is not None:
                item = (type(value).__name__, value)
        loops[loop] = (count, item)
