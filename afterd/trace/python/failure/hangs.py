"""A run that did not end: the loop in which it was, the branches that could have left it, or the statement
that waits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import takewhile
from operator import is_not

from afterd.model.location import Location
from afterd.model.outcome import FailureKind
from afterd.model.term import BOOL
from afterd.model.trace import Predicate
from afterd.trace.python.failure.failures import Place
from afterd.trace.python.read.frames import Frame
from afterd.trace.python.read.program import Node
from afterd.trace.python.read.ssa import Steps, failing_expression
from afterd.trace.python.read.trace import Trace
from afterd.trace.python.record.rows import Kind

_LOOPS = frozenset({"While", "For", "AsyncFor"})
_EXITS = frozenset({"Break", "Return", "Raise"})


def never_left(
    steps: Steps, place: Place, parts: Callable[[int], bool], *, waits: bool
) -> Predicate:
    """The failed assertion of a run that was ended at ``place``: the condition of the loop, in the first
    round that ``parts`` from green. Of one that ``waits`` (it left no more rows), and went round as green did, that the
    statement comes back.
    """
    control = steps.control(place.position)
    known = rounds(steps, place) or ([] if control is None else [control])
    branch = next(filter(parts, known), None if waits else next(reversed(known), None))
    at = Location(place.node.module.path, place.node.line)
    message = f"it does not end; it was at {at.file}:{at.line} when it was ended"
    if branch is not None:
        step = steps.step(steps.trace.number(branch))
        failed = (step.id, steps.other_way(branch), step.text)
    else:
        found = steps.terms.opaque_reads(
            failing_expression(place.node), place.position, place.frame
        )
        condition = steps.terms.concrete(False, "the statement does not end", found, BOOL)  # noqa: FBT003 # the condition is false
        failed = (steps.trace.number(place.position), condition, place.node.statement.text)
    return Predicate(*failed, FailureKind.HANG, message, failed_at=at)


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
