"""Activations of a function by what they were given.

Where callers were divided, or made generators, nothing around a call corresponds to what was around it before. What
a function was given says which of its calls are to be held against each other, as in Shapiro's algorithmic debugging
(Algorithmic Program Debugging, 1983): given the same, did it do the same?
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from afterd.limits import PYTHON_PAIR
from afterd.trace.python.read import Frame, Node, Trace, identity, render

_Given = tuple[str, ...]


class SameArguments:
    """Of the activations of ``bad`` those of ``green`` that were given the same."""

    def __init__(self, bad: Trace, green: Trace) -> None:
        self._bad = bad
        self._green = green
        self._known: dict[Node, dict[_Given, list[Frame]]] = {}

    def frame(self, frame: Frame, mine: Sequence[Frame], others: Sequence[Frame]) -> Frame | None:
        """Of ``others`` the one that was given what ``frame``, one of ``mine``, was: of several the one before which
        as many were.
        """
        if not others:
            return None
        here = self._by_given(frame.node, self._bad, mine)
        there = self._by_given(others[0].node, self._green, others)
        for given, frames in here.items():
            if frame in frames:
                earlier, alike = frames.index(frame), there.get(given, [])
                return alike[earlier] if earlier < len(alike) else None
        return None

    def _by_given(
        self, function: Node, trace: Trace, frames: Sequence[Frame]
    ) -> Mapping[_Given, list[Frame]]:
        if function not in self._known:
            found = self._known[function] = {}
            for frame in frames if len(frames) <= PYTHON_PAIR.sequenced else ():
                if given := _told_arguments(trace, frame):
                    found.setdefault(given, []).append(frame)
        return self._known[function]


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
