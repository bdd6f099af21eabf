"""Activations of a function by what they were given.

Where callers were divided, or made generators, nothing around a call corresponds to what was around it before. What
a function was given says which of its calls are to be held against each other, as in Shapiro's algorithmic debugging
(Algorithmic Program Debugging, 1983): given the same, did it do the same?
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from afterd.limits import PYTHON_PAIR
from afterd.trace.python.read import Frame, Node, Trace, identity, render

_Given = tuple[str, ...]
_Occurrence = tuple[_Given, int]
"""What was given, and how often it was before."""


class SameArguments:
    """Of the activations of ``bad`` those of ``green`` that were given the same."""

    def __init__(self, bad: Trace, green: Trace) -> None:
        self._bad = bad
        self._green = green
        self._mine: dict[Node, dict[int, _Occurrence]] = {}
        self._others: dict[Node, dict[_Occurrence, Frame]] = {}

    def frame(self, frame: Frame, mine: Sequence[Frame], others: Sequence[Frame]) -> Frame | None:
        """Of ``others`` the one that was given what ``frame``, one of ``mine``, was: of several the one before which
        as many were.
        """
        function = frame.node
        if function not in self._mine:
            found = _occurrences(self._bad, mine)
            self._mine[function] = {each.number: occurrence for occurrence, each in found}
            self._others[function] = dict(_occurrences(self._green, others))
        occurrence = self._mine[function].get(frame.number)
        return None if occurrence is None else self._others[function].get(occurrence)


def _occurrences(trace: Trace, frames: Sequence[Frame]) -> Iterator[tuple[_Occurrence, Frame]]:
    """Activations of one function that were given something telling; none of one that is called too often."""
    before = Counter[_Given]()
    for frame in frames if len(frames) <= PYTHON_PAIR.sequenced else ():
        if given := _told_arguments(trace, frame):
            yield (given, before[given]), frame
            before[given] += 1


def _told_arguments(trace: Trace, frame: Frame) -> _Given:
    """What the parameters of an activation held; nothing where that was objects alone: two of a class look alike."""
    nodes = ((row, trace.node(row)) for row in frame.rows[: PYTHON_PAIR.rows])
    values = {
        str(node["arg"]): trace.value(row)
        for row, node in nodes
        if node is not None and node.type == "arg" and node.frame is frame.node
    }
    if all(identity(value) is not None for value in values.values()):
        return ()
    types = trace.raw.header["types"]
    return tuple(f"{name} {render(value, types)}" for name, value in sorted(values.items()))
