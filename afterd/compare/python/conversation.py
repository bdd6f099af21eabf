"""What a generator did on what it was given, request by request.

A generator does nothing unless it is asked for more, and takes what it works on piece by piece. So
that it handed out less than its counterpart in green is no deed of its own where nobody asked for
the rest, or where what it iterates over gave it less. The two are compared in order, up to the first
point at which they are not alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import takewhile, zip_longest

from afterd.compare.python.likeness import Likeness
from afterd.compare.python.matching import Matching
from afterd.limits import PYTHON_PAIR
from afterd.trace.python.read import (
    Frame,
    Node,
    Recorded,
    Steps,
    Trace,
    Unknown,
    recorded_items,
)
from afterd.trace.python.record.rows import Kind

_OUT = {Kind.YIELD: "yield", Kind.RETURN: "return", Kind.RAISE: "raise"}
_FRESH = frozenset({"List", "ListComp", "Call"})
_TAKEN = frozenset({"item", "no item", "sent"})


class Parting(Enum):
    """How two generators first differ."""

    NOWHERE = "they did the same"
    UNASKED = "they did the same, as far as both were asked"
    GIVEN = "what they got differs"
    DONE = "what they did differs"
    UNKNOWN = "what one of them handed out is not known"


@dataclass(frozen=True, slots=True)
class _Turn:
    """Something taken in or given out; ``what`` is empty where nobody knows what was handed out."""

    what: str
    value: Recorded
    row: int

    @property
    def taken(self) -> bool:
        """Whether it came from outside."""
        return self.what in _TAKEN


def first_parting(
    bad: Steps, frame: Frame, good: Steps, twin: Frame, likeness: Likeness, matching: Matching
) -> tuple[Parting, int]:
    """How an activation and its counterpart first differ, and the row of the first one there."""
    mine, other = list(_turns(bad, frame)), list(_turns(good, twin))
    loops = {matching.good.get(loop) for loop in _inputs(frame.node)}
    comparable = loops == set(_inputs(twin.node))
    if not comparable:
        mine, other = ([turn for turn in each if not turn.taken] for each in (mine, other))
    for here, there in zip_longest(mine, other):
        if here is None or there is None:
            closed = {turn.what for turn in (here, there) if turn is not None} == {"end"}
            return Parting.NOWHERE if closed else Parting.UNASKED, frame.entered
        if not (here.what and there.what):
            return Parting.UNKNOWN, here.row
        alike = here.what == there.what
        if alike and likeness.alike(here.value, here.row, there.value, there.row):
            continue
        if not comparable and loops | set(_inputs(twin.node)):
            return Parting.UNKNOWN, here.row
        return (Parting.GIVEN if alike and here.taken else Parting.DONE), here.row
    return Parting.NOWHERE, frame.entered


def _turns(run: Steps, frame: Frame) -> Iterator[_Turn]:
    trace, inputs = run.trace, _inputs(frame.node)
    rows = frame.rows[: PYTHON_PAIR.rows]
    for index, row in enumerate(rows):
        node, kind = trace.node(row), trace.kind(row)
        if node is not None and node in inputs:
            yield from _iteration(trace, node, rows[index : index + PYTHON_PAIR.targets])
        elif kind in _OUT:
            yield _Turn(_OUT[kind], trace.value(row), row)
        elif node is not None and node.type in {"Yield", "YieldFrom"}:
            yield from _resumed_turns(run, frame, node, row)
    yield from _ending(trace, frame, rows)


def _resumed_turns(run: Steps, frame: Frame, node: Node, row: int) -> Iterator[_Turn]:
    """What was sent in; before that, what had been handed out without leaving a row."""
    kind = run.trace.kind(row)
    if kind is Kind.SYNC and node.type == "Yield" and node["value"] is None:
        yield _Turn("yield", None, row)
    elif kind is Kind.VALUE and node.type == "Yield":
        if run.trace.value(row) is not None:
            yield _Turn("sent", run.trace.value(row), row)
    elif kind is Kind.VALUE:
        given = run.cells.value_of(node["value"], row, frame)
        yield from _passed_on(given, row, fresh=node["value"].type in _FRESH)


def _passed_on(given: Recorded | Unknown, row: int, *, fresh: bool) -> Iterator[_Turn]:
    """What ``yield from`` handed out, where that is a container whose items are known.

    ``fresh``: its description is of now; a list with a name may have been changed since.
    """
    items = recorded_items(given)
    known = isinstance(given, tuple) and (
        given[0] == "t" or (given[0] == "l" and fresh and given[2] == len(items))
    )
    if known:
        yield from (_Turn("yield", item, row) for item in items)
    else:
        yield _Turn("", None, row)


def _iteration(trace: Trace, loop: Node, rows: Sequence[int]) -> Iterator[_Turn]:
    """What a loop's targets were bound to, the first row being the loop's own."""
    if trace.kind(rows[0]) is Kind.FALSE:
        yield _Turn("no item", None, rows[0])
    elif trace.kind(rows[0]) is Kind.TRUE:
        targets = set(loop["target"].walk())
        bound = takewhile(lambda row: trace.node(row) in targets, rows[1:])
        yield from (_Turn("item", trace.value(row), row) for row in bound)


def _ending(trace: Trace, frame: Frame, rows: Sequence[int]) -> Iterator[_Turn]:
    """Whether it ended by itself: not closed, nor left waiting, where it had handed something out.

    Within ``yield from`` that leaves no row.
    """
    last = next((row for row in reversed(rows) if trace.kind(row) is not Kind.EXIT), None)
    kind, node = (None, None) if last is None else (trace.kind(last), trace.node(last))
    delegates = any(each.type == "YieldFrom" for each in frame.node.walk())
    completed = kind in {Kind.RETURN, Kind.FALSE} or (
        node is not None and node.type == "YieldFrom" and kind is Kind.VALUE
    )
    if delegates and not (frame.left and completed):
        yield _Turn("", None, frame.entered)
    elif frame.left is not None and kind is not Kind.YIELD:
        yield _Turn("end", None, frame.left)


def _inputs(function: Node) -> list[Node]:
    """The loops over what the function was handed: a parameter, or a name from outside."""
    loops = (n for n in function.walk() if n.type in {"For", "AsyncFor"} and n.frame is function)
    return [loop for loop in loops if _is_handed_on(loop["iter"], function)]


def _is_handed_on(iterated: Node, function: Node) -> bool:
    if iterated.type != "Name":
        return False
    if iterated["owner"] != function.number:
        return True
    bound = function.module.bindings(function.number, iterated["id"])
    return all(binding.type == "arg" for binding in bound)
