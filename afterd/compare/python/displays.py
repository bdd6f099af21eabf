"""Values that lie deeper in a display than was recorded of it: ``{"message": text, "params": {"k": [1, 2]}}``.

Of a container so many levels are kept. What was written into it lies in rows of its own where it was written as a
display: part by part, as deep as the text goes, these tell what the whole does not.
"""

from __future__ import annotations

from collections.abc import Iterator

from afterd.compare.python.likeness import Likeness
from afterd.trace.python.read import Frame, Node, Steps, Unknown, constant

_SEQUENCES = frozenset({"List", "Tuple"})
_Pair = tuple[Node, Node]


class Displays:
    """Compares displays of the failing run with those of the green one, by their parts."""

    def __init__(self, steps: Steps, green: Steps, likeness: Likeness) -> None:
        self._steps = steps
        self._green = green
        self._likeness = likeness

    def are_alike(self, position: int, row: int) -> bool:
        """Whether no part of the display whose row is at a position is seen to be another one than that of a green
        row; true of anything else.
        """
        mine, other = self._steps.trace.node(position), self._green.trace.node(row)
        frame, green_frame = self._steps.trace.frame(position), self._green.trace.frame(row)
        if mine is None or other is None or frame is None or green_frame is None:
            return True
        here, there = (position, frame), (row, green_frame)
        return all(self._part_is_alike(each, here, there) for each in _parts(mine, other))

    def _part_is_alike(
        self, pair: _Pair, here: tuple[int, Frame], there: tuple[int, Frame]
    ) -> bool:
        inner = list(_parts(*pair))
        if inner:
            return all(self._part_is_alike(each, here, there) for each in inner)
        value = self._steps.cells.value_of(pair[0], *here)
        green = self._green.cells.value_of(pair[1], *there)
        if isinstance(value, Unknown) or isinstance(green, Unknown):
            return True
        return self._likeness.alike(value, here[0], green, there[0])


def _parts(mine: Node, other: Node) -> Iterator[_Pair]:
    """What stands at the same place, or at the same key, of two displays of one kind."""
    if mine.type == other.type == "Dict":
        there = {_key(key): value for key, value in _items(other)}
        for key, value in _items(mine):
            if key is not None and (twin := there.get(_key(key))) is not None:
                yield value, twin
    elif mine.type == other.type and mine.type in _SEQUENCES:
        items, twins = mine["elts"], other["elts"]
        spread = any(each.type == "Starred" for each in (*items, *twins))
        yield from () if spread else zip(items, twins, strict=False)


def _items(display: Node) -> Iterator[tuple[Node | None, Node]]:
    yield from zip(display["keys"], display["values"], strict=True)


def _key(node: Node | None) -> object:
    return constant(node["value"]) if node is not None and node.type == "Constant" else node
