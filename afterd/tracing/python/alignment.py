"""Which row of the green run corresponds to a row of the failing one.

Rows are named by where they are, not by when they come: the activation (found the same way from its
caller), the statement (through ``matching``) and the iterations of the loops around it. Iterations of
a ``for`` over plain values are named by the value first, so one item more at the front shifts none.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from functools import cached_property

from afterd.tracing.python.frames import Frame
from afterd.tracing.python.matching import Matching
from afterd.tracing.python.program import Node
from afterd.tracing.python.runtime.rows import Kind
from afterd.tracing.python.trace import Trace

_Key = tuple[object, ...]
_LOOPS = frozenset({"For", "AsyncFor", "While", "comprehension"})
_SEQUENCED = 400  # calls of one frame that are aligned as sequences; more by their ordinal
_OUTCOMES = {Kind.TRUE: Kind.FALSE, Kind.FALSE: Kind.TRUE}


class Alignment:
    """Rows of ``bad`` found in ``green``."""

    def __init__(self, bad: Trace, green: Trace, matching: Matching) -> None:
        self.bad = bad
        self.green = green
        self.matching = matching
        self._frames: dict[int, Frame | None] = {}
        self._children: dict[int, dict[int, Frame]] = {}
        self._keys: dict[int, dict[_Key, int]] = {}
        self._names: dict[int, dict[int, tuple[_Key, _Key]]] = {}
        self._activations: dict[Node, list[Frame]] = {}
        for frame in green.frames:
            self._activations.setdefault(frame.node, []).append(frame)

    # -- activations -------------------------------------------------------------------------

    def frame(self, frame: Frame) -> Frame | None:
        """The green activation; None when there is none, or none that can be trusted."""
        pending: list[Frame] = []
        outer: Frame | None = frame
        while outer is not None and outer.number not in self._frames:
            pending.append(outer)
            outer = outer.parent
        for waiting in reversed(pending):
            self._frames[waiting.number] = self._find(waiting)
        return self._frames[frame.number]

    def _find(self, frame: Frame) -> Frame | None:
        node = self.matching.good.get(frame.node)
        if node is None:
            return None
        activations = self._activations.get(node, [])
        if frame.node.type == "Module":
            return activations[0] if activations else None
        parent = self._frames[frame.parent.number] if frame.parent is not None else None
        if parent is not None and frame.parent is not None:
            found = self._paired_children(frame.parent, parent).get(frame.number)
            if found is not None:
                return found
        return self._by_ordinal(frame, activations)

    def _by_ordinal(self, frame: Frame, activations: list[Frame]) -> Frame | None:
        """The n-th activation of a function that both runs called equally often."""
        mine = self._own_activations.get(frame.node, [])
        if len(mine) != len(activations):
            return None
        return activations[mine.index(frame)]

    @cached_property
    def _own_activations(self) -> dict[Node, list[Frame]]:
        found: dict[Node, list[Frame]] = {}
        for frame in self.bad.frames:
            found.setdefault(frame.node, []).append(frame)
        return found

    def _paired_children(self, parent: Frame, green: Frame) -> dict[int, Frame]:
        found = self._children.get(parent.number)
        if found is None:
            found = self._children[parent.number] = dict(self._pair_children(parent, green))
        return found

    def _pair_children(self, parent: Frame, green: Frame) -> Iterator[tuple[int, Frame]]:
        mine = [child for child in parent.children if child.node in self.matching.good]
        names = [(self.matching.good[child.node], self._call(self.bad, parent, child)) for child in mine]
        others = [
            (child.node, self._call(self.green, green, child)) for child in green.children
        ]
        if names == others:
            yield from ((c.number, g) for c, g in zip(mine, green.children, strict=True))
            return
        if len(names) > _SEQUENCED or len(others) > _SEQUENCED:
            yield from self._pair_by_count(mine, names, green.children, others)
            return
        matcher = SequenceMatcher(None, names, others, autojunk=False)
        for block in matcher.get_matching_blocks():
            for offset in range(block.size):
                yield mine[block.a + offset].number, green.children[block.b + offset]

    @staticmethod
    def _pair_by_count(
        mine: list[Frame],
        names: list[tuple[Node, Node | None]],
        greens: list[Frame],
        others: list[tuple[Node, Node | None]],
    ) -> Iterator[tuple[int, Frame]]:
        queues: dict[tuple[Node, Node | None], list[Frame]] = {}
        for name, child in zip(reversed(others), reversed(greens), strict=True):
            queues.setdefault(name, []).append(child)
        for name, child in zip(names, mine, strict=True):
            if queues.get(name):
                yield child.number, queues[name].pop()

    def _call(self, trace: Trace, parent: Frame, child: Frame) -> Node | None:
        """The statement of the caller, in the good version's terms."""
        row = trace.next_in_frame(parent, child.left if child.left is not None else child.entered)
        node = trace.node(row) if row is not None else None
        if node is None:
            return None
        statement = node.statement
        return self.matching.good.get(statement) if trace is self.bad else statement

    # -- rows --------------------------------------------------------------------------------

    def row(self, position: int) -> int | None:
        """The green row; None when the green run has none at this point."""
        node, frame = self.bad.node(position), self.bad.frame(position)
        if node is None or frame is None:
            return None
        green = self.frame(frame)
        if green is None:
            return None
        kind = self.bad.kind(position)
        if kind in {Kind.RETURN, Kind.EXIT}:
            return self._end(green, kind)
        twin = self.matching.good.get(node)
        if twin is None:
            return None
        keys = self._green_keys(green)
        for name in self._bad_names(frame).get(position, ()):
            for outcome in (kind, _OUTCOMES.get(kind)):
                found = keys.get((twin, outcome, *name)) if outcome is not None else None
                if found is not None:
                    return found
        return None

    def was_executed(self, node: Node) -> bool:
        """Whether the green run has an activation of a function of the good version."""
        return node in self._activations

    def opposite(self, green_row: int) -> int | None:
        """The failing run's branch row that corresponds to a green one and went the other way."""
        node, kind = self.green.node(green_row), self.green.kind(green_row)
        mine = self.matching.bad.get(node) if node is not None else None
        other = _OUTCOMES.get(kind)
        if mine is None or other is None:
            return None
        for row in reversed(self.bad.at_site(mine, other)):
            if self.row(row) == green_row:
                return row
        return None

    def _end(self, green: Frame, kind: Kind) -> int | None:
        """How an activation ended: its RETURN, or the EXIT of one that returned nothing."""
        if kind is Kind.EXIT and green.left is None:
            return None
        for row in reversed(green.rows[-3:]):
            if self.green.kind(row) is Kind.RETURN:
                return row
        return green.left

    def _green_keys(self, frame: Frame) -> dict[_Key, int]:
        found = self._keys.get(frame.number)
        if found is None:
            found = self._keys[frame.number] = {}
            for row, names in self._named(self.green, frame).items():
                node, kind = self.green.node(row), self.green.kind(row)
                for name in names:
                    found.setdefault((node, kind, *name), row)
        return found

    def _bad_names(self, frame: Frame) -> dict[int, tuple[_Key, _Key]]:
        found = self._names.get(frame.number)
        if found is None:
            found = self._names[frame.number] = self._named(self.bad, frame)
        return found

    def _named(self, trace: Trace, frame: Frame) -> dict[int, tuple[_Key, _Key]]:
        """For each row of a frame its iterations: by the items' values, and by count."""
        loops: dict[Node, tuple[int, object]] = {}
        seen: dict[tuple[Node, int, _Key], int] = {}
        named: dict[int, tuple[_Key, _Key]] = {}
        for index, row in enumerate(frame.rows):
            node = trace.node(row)
            if node is None:
                continue
            kind = trace.kind(row)
            if node.type in _LOOPS and kind is Kind.TRUE:
                self._iterate(trace, frame, index, node, loops)
            around = [outer for outer in node.ancestors() if outer in loops]
            if node in loops and kind is Kind.TRUE:
                around.insert(0, node)
            by_count = tuple(loops[loop][0] for loop in around)
            by_value = tuple(loops[loop][1] for loop in around)
            again = seen.get((node, kind, by_count), 0)
            seen[node, kind, by_count] = again + 1
            named[row] = (("value", again, by_value), ("count", again, by_count))
        return named

    def _iterate(
        self, trace: Trace, frame: Frame, index: int, loop: Node, loops: dict[Node, tuple[int, object]]
    ) -> None:
        count = loops[loop][0] + 1 if loop in loops else 0
        for inner in [other for other in loops if loop in set(other.ancestors())]:
            del loops[inner]
        item: object = count
        if index + 1 < len(frame.rows) and loop.type in {"For", "comprehension"}:
            row = frame.rows[index + 1]
            value = trace.value(row)
            target = trace.node(row)
            bound = target is not None and target["store"] and target.type == "Name"
            if bound and not isinstance(value, tuple) and value is not None:
                item = (type(value).__name__, value)
        loops[loop] = (count, item)
