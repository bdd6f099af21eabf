"""Which row of the green run corresponds to a row of the failing one.

Rows are named by where they are, not by when they come: the activation (found the same way from
its caller), the statement (through ``matching``) and the iterations of the loops around it.
Iterations of a ``for`` over plain values are named by the value first, so that one item more at
the front shifts none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cached_property

from afterd.compare.python.matching import Matching
from afterd.compare.python.same_arguments import SameArguments
from afterd.limits import PYTHON_PAIR
from afterd.trace.python.read import Frame, Node, Trace
from afterd.trace.python.record.rows import Kind

_Key = tuple[object, ...]
_OUTCOMES = {Kind.TRUE: Kind.FALSE, Kind.FALSE: Kind.TRUE}


class Alignment:
    """Rows of ``bad`` found in ``green``."""

    def __init__(self, bad: Trace, green: Trace, matching: Matching) -> None:
        self.bad = bad
        self.green = green
        self.matching = matching
        self._frames: dict[int, Frame | None] = {}
        self._children: dict[int, dict[int, Frame]] = {}
        self._keys: dict[tuple[int, Node], dict[_Key, int]] = {}
        self._claimed: dict[int, set[_Key]] = {}
        self._rows: dict[int, int | None] = {}
        self._displaced: dict[tuple[int, Node], Sequence[Frame]] = {}
        self._same_arguments = SameArguments(bad, green)
        self._activations: dict[Node, list[Frame]] = {}
        self._processes: dict[int, int | None] = {}
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
            return self._loaded(frame, activations)
        outer = frame.parent
        while outer is not None and self._frames[outer.number] is None:
            outer = outer.parent
        parent = self._frames[outer.number] if outer is not None else None
        if outer is not None and parent is not None:
            found = self._paired_children(outer, parent).get(frame.number)
            if found is not None:
                return found
        if outer is None:
            return self._by_ordinal(frame, activations) or self._paired_roots.get(frame.number)
        mine = self.activations(frame.node)
        return self._same_arguments.frame(frame, mine, activations) or self._by_ordinal(
            frame, activations
        )

    def _loaded(self, frame: Frame, activations: Sequence[Frame]) -> Frame | None:
        """Of the times at which green loaded a module, from wherever, that in the process which is this one's."""
        process = self._green_process(self.bad.process(frame))
        return next((each for each in activations if self.green.process(each) == process), None)

    def _green_process(self, process: int) -> int | None:
        """Green's counterpart of a process: that of the test, or one that was started by the same call."""
        if process == self.bad.raw.origins[0].process:
            return self.green.raw.origins[0].process
        if process not in self._processes:
            entered = self._first_frames.get(process, [])
            twins = (self._twin_below(frame.parent, frame) for frame in entered if frame.parent)
            found = (self.green.process(twin) for twin in twins if twin is not None)
            self._processes[process] = next(found, None)
        return self._processes[process]

    def _twin_below(self, parent: Frame, frame: Frame) -> Frame | None:
        green = self.frame(parent)
        return None if green is None else self._paired_children(parent, green).get(frame.number)

    @cached_property
    def _first_frames(self) -> dict[int, list[Frame]]:
        """By a process, the activations that were entered from another one."""
        found: dict[int, list[Frame]] = {}
        for frame in self.bad.frames:
            process = self.bad.process(frame)
            if frame.parent is not None and self.bad.process(frame.parent) != process:
                found.setdefault(process, []).append(frame)
        return found

    @cached_property
    def _paired_roots(self) -> dict[int, Frame]:
        """Activations that no recorded one called, in order: a run that ends at its first failure (``-x``) made fewer
        of a test than the green one.
        """
        paired: dict[int, Frame] = {}
        mine, others = (
            [frame for frame in trace.frames if frame.parent is None]
            for trace in (self.bad, self.green)
        )
        self._sequence(mine, others, self._function_name, paired, set())
        return paired

    def _by_ordinal(self, frame: Frame, activations: list[Frame]) -> Frame | None:
        """The n-th activation of a function that both runs called equally often."""
        mine = self._own_activations.get(frame.node, [])
        if len(mine) != len(activations):
            return None
        return activations[mine.index(frame)]

    def activations(self, function: Node) -> Sequence[Frame]:
        """The failing run's activations of a function, in order."""
        return self._own_activations.get(function, [])

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
        """Calls from the same statement first, then of the same function, then below new frames."""
        mine, others = parent.children, green.children
        paired: dict[int, Frame] = {}
        taken: set[int] = set()
        for named in (self._call_name, self._function_name):
            left = [child for child in mine if child.number not in paired]
            right = [child for child in others if child.number not in taken]
            self._sequence(left, right, named, paired, taken)
        left = list(_frames_below(child for child in mine if child.number not in paired))
        right = list(_frames_below(child for child in others if child.number not in taken))
        self._sequence(left, right, self._function_name, paired, taken)
        yield from paired.items()

    def _sequence(
        self,
        mine: list[Frame],
        greens: list[Frame],
        named: Callable[[Trace, Frame], object],
        paired: dict[int, Frame],
        taken: set[int],
    ) -> None:
        left = [(child, name) for child in mine if (name := named(self.bad, child)) is not None]
        right = [
            (child, name) for child in greens if (name := named(self.green, child)) is not None
        ]
        for child, twin in _matched(left, right):
            paired[child.number] = twin
            taken.add(twin.number)

    def _function_name(self, trace: Trace, child: Frame) -> Node | None:
        return self.matching.good.get(child.node) if trace is self.bad else child.node

    def _call_name(self, trace: Trace, child: Frame) -> tuple[Node, Node] | None:
        function, call = self._function_name(trace, child), self._call(trace, child)
        return None if function is None or call is None else (function, call)

    def _call(self, trace: Trace, child: Frame) -> Node | None:
        """The statement of the caller, in the good version's terms."""
        parent = child.parent
        if parent is None:
            return None
        row = trace.next_in_frame(parent, child.left if child.left is not None else child.entered)
        node = trace.node(row) if row is not None else None
        if node is None:
            return None
        statement = node.statement
        return self.matching.good.get(statement) if trace is self.bad else statement

    # -- rows --------------------------------------------------------------------------------

    def row(self, position: int) -> int | None:
        """The green row; None when the green run has none at this point."""
        if position not in self._rows:
            self._rows[position] = self._row(position)
        return self._rows[position]

    def _row(self, position: int) -> int | None:
        node, frame = self.bad.node(position), self.bad.frame(position)
        if node is None or frame is None:
            return None
        kind, twin = self.bad.kind(position), self.matching.good.get(node)
        green = self.frame(frame) if twin is None else self._frame_of(node, twin, frame)
        if green is None:
            return None
        if (raising := self.bad.raised.statement(position)) is not None:
            return self._instead(raising, position, frame, green)
        if kind in {Kind.RETURN, Kind.EXIT}:
            return self._end(green, kind)
        if twin is None:
            return None
        keys = self._green_keys(green, twin)
        for name in self._bad_names(frame).get(position, ()):
            for outcome in (kind, _OUTCOMES.get(kind)):
                found = keys.get((outcome, *name)) if outcome is not None else None
                if found is not None and self._trusted(name, found, green, frame):
                    return found
        return None

    def _frame_of(self, node: Node, twin: Node, frame: Frame) -> Frame | None:
        """The green activation in which a node's counterpart stands: its own, unless the statement moved."""
        green = self.frame(frame)
        if frame.node.type == "Module":
            return self._loaded(frame, self._activations.get(twin.frame, [])) or green
        return self._displaced_to(twin.frame, frame) if node in self.matching.displaced else green

    def _displaced_to(self, function: Node, frame: Frame) -> Frame | None:
        """The green activation of the function in which a statement of ``frame`` stood: the only one below the nearest
        activation that both runs have and that entered it, where it entered the failing run's function once as well.
        """
        found = self._displaced.get((frame.number, function))
        if found is None:
            found = self._displaced[frame.number, function] = tuple(self._entered(function, frame))
        return found[0] if len(found) == 1 else None

    def _entered(self, function: Node, frame: Frame) -> Sequence[Frame]:
        others, mine = self._activations.get(function, []), self.activations(frame.node)
        if max(len(others), len(mine)) > PYTHON_PAIR.sequenced:
            return ()
        for outer in frame.with_callers():
            if (green := self.frame(outer)) is not None:
                entered = [each for each in others if green in each.with_callers()]
                if entered:
                    once = sum(outer in each.with_callers() for each in mine) == 1
                    return entered if once else ()
        return ()

    def _trusted(self, name: _Key, row: int, green: Frame, frame: Frame) -> bool:
        """An iteration found by count must not be one that another finds by its item."""
        if name[0] == "value":
            return True
        claimed = self._claimed.get(frame.number)
        if claimed is None:
            claimed = {names[0] for names in self._bad_names(frame).values()}
            self._claimed[frame.number] = claimed
        by_value = self.green.iterations.of(green).names[row][0]
        return by_value not in claimed

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

    def _instead(self, raising: Node, position: int, frame: Frame, green: Frame) -> int | None:
        """What green's run did where a statement raised: the last row of its counterpart in that round."""
        twin = self.matching.good.get(raising)
        rounds = {name[::2] for name in self._bad_names(frame)[position]}
        for row, names in reversed(self.green.iterations.of(green).names.items()):
            node = self.green.raised.statement(row) or self.green.node(row)
            if node is not None and node.statement is twin and rounds & {n[::2] for n in names}:
                return row
        return None

    def _end(self, green: Frame, kind: Kind) -> int | None:
        """How an activation ended: its RETURN, or the EXIT of one that returned nothing."""
        if kind is Kind.EXIT and green.left is None:
            return None
        for row in reversed(green.rows[-8:]):
            if self.green.kind(row) is Kind.RETURN:
                return row
        return green.left

    def _green_keys(self, frame: Frame, node: Node) -> dict[_Key, int]:
        """The rows of a node in a green activation, by kind and name."""
        found = self._keys.get((frame.number, node))
        if found is None:
            found = self._keys[frame.number, node] = {}
            named = self.green.iterations.of(frame)
            for row in named.rows.get(node, ()):
                kind = self.green.kind(row)
                for name in named.names[row]:
                    found.setdefault((kind, *name), row)
        return found

    def _bad_names(self, frame: Frame) -> Mapping[int, tuple[_Key, _Key]]:
        return self.bad.iterations.of(frame).names


def _frames_below(frames: Iterable[Frame]) -> Iterator[Frame]:
    """Frames and what they entered, in order: a new function in between hides what it calls."""
    stack = list(frames)[::-1]
    seen = 0
    while stack and seen < PYTHON_PAIR.sequenced:
        frame = stack.pop()
        seen += 1
        yield frame
        stack.extend(reversed(frame.children))


def _matched(
    mine: list[tuple[Frame, object]], greens: list[tuple[Frame, object]]
) -> Iterator[tuple[Frame, Frame]]:
    """The longest common subsequence; the n-th of each name where that would take too long."""
    names, others = [name for _, name in mine], [name for _, name in greens]
    if names == others:
        yield from ((left[0], right[0]) for left, right in zip(mine, greens, strict=True))
    elif max(len(names), len(others)) > PYTHON_PAIR.sequenced:
        queues: dict[object, list[Frame]] = {}
        for frame, name in reversed(greens):
            queues.setdefault(name, []).append(frame)
        for frame, name in mine:
            if queues.get(name):
                yield frame, queues[name].pop()
    else:
        for block in SequenceMatcher(None, names, others, autojunk=False).get_matching_blocks():
            for offset in range(block.size):
                yield mine[block.a + offset][0], greens[block.b + offset][0]
