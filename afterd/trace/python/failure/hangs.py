"""A run that did not end: the loop in which it was, and the branches that could have left it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import takewhile
from operator import is_not

from afterd.trace.python.failure.failures import Place
from afterd.trace.python.read.frames import Frame
from afterd.trace.python.read.program import Node
from afterd.trace.python.read.ssa import Steps
from afterd.trace.python.read.trace import Trace
from afterd.trace.python.record.rows import Kind

_LOOPS = frozenset({"While", "For", "AsyncFor"})
_EXITS = frozenset({"Break", "Return", "Raise"})


def rounds(steps: Steps, place: Place) -> list[int]:
    """The positions, oldest first, of the executions of the branch that was asked most often whether to
    leave a loop around ``place``, in the activations that were open there; empty where there is no loop.
    """
    asked = (
        _executions(steps.trace, branch, frame)
        for frame, loop in _loops(steps, place)
        for branch in _leaving_branches(loop)
    )
    return max(asked, key=len, default=[])


def _executions(trace: Trace, branch: Node, frame: Frame) -> list[int]:
    """The positions at which an activation decided a branch, in order."""
    rows = (row for kind in (Kind.TRUE, Kind.FALSE) for row in trace.at_site(branch, kind))
    return sorted(row for row in rows if trace.frame(row) is frame)


def _loops(steps: Steps, place: Place) -> Iterator[tuple[Frame, Node]]:
    """The loops around a place, innermost first, each with the activation that is in it."""
    frame: Frame | None = place.frame
    node: Node | None = place.node
    while frame is not None and node is not None:
        own = takewhile(partial(is_not, frame.node), (node, *node.ancestors()))
        yield from ((frame, each) for each in own if each.type in _LOOPS)
        caller, entered = frame.parent, frame.entered
        node = steps.parameters.statement_at(caller, entered) if caller else None
        frame = caller


def _leaving_branches(loop: Node) -> list[Node]:
    """The loop itself; of one whose condition is written as always true, the branches that leave it."""
    test = loop["test"]
    if not isinstance(test, Node) or test.type != "Constant":
        return [loop]
    return [
        node
        for node in loop.walk()
        if node.type == "If" and any(part.type in _EXITS for part in node.walk())
    ]
