"""Which changes a run executed: by its rows, and by the calls that its failure interrupted, which left none.

That a module defined a function which neither run came into executed nothing of it: of nicotine-plus' messages, whose
methods had all got other parameters, 240 changes were executed so, and a dozen did something.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator

from afterd.compare.python.absence import Ties
from afterd.compare.python.alignment import Alignment
from afterd.compare.python.callers import calling_statement
from afterd.model.change import ChangeId
from afterd.trace.python.read import FUNCTIONS, Frame, Node, Steps, Trace
from afterd.trace.python.record.rows import Kind


def executed_changes(
    run: Steps, ties: Ties, failing: Iterable[Frame], beside: Alignment | None = None
) -> list[ChangeId]:
    """Changes the failing run executed, last executed first; then those only green ran, where that is ``beside`` it.
    ``failing``: the activations that the failure ended.
    """
    mine: set[Node | None] = {frame.node for frame in run.trace.frames}
    if beside is None:
        return _own_changes(run, ties, failing, mine)
    theirs = {frame.node for frame in beside.green.frames}
    bad, good = beside.matching.bad, beside.matching.good
    here = mine.union(map(bad.get, theirs))
    there = theirs.union(good.get(node) for node in mine if node is not None)
    found = _own_changes(run, ties, failing, here)
    return list(dict.fromkeys([*found, *_removed_changes(beside.green, ties, there)]))


def _own_changes(
    run: Steps, ties: Ties, failing: Iterable[Frame], entered: Container[Node | None]
) -> list[ChangeId]:
    """``entered``: the functions of the failing version that either run came into."""
    last: dict[ChangeId, int] = {}
    for change, position in _executed(run, ties, failing, entered):
        last[change] = max(position, last.get(change, -1))
    return sorted(last, key=lambda change: -last[change])


def _executed(
    run: Steps, ties: Ties, failing: Iterable[Frame], entered: Container[Node | None]
) -> Iterator[tuple[ChangeId, int]]:
    for site, position in _last_rows(run.trace).items():
        node, _ = run.trace.decode(site)
        if node is not None and not _only_defines(node, entered):
            for change in ties.of_row(run.trace, position):
                yield change, position
    for frame in failing:
        statement = calling_statement(run, frame)
        if statement is not None:
            for change in ties.of_node(statement):
                yield change, frame.entered


def _removed_changes(
    green: Trace, ties: Ties, entered: Container[Node | None]
) -> Iterator[ChangeId]:
    """Changes to what only the green run executed, last executed first; ``entered``: the functions of its version that
    either run came into.
    """
    for site, _ in sorted(_last_rows(green).items(), key=lambda item: -item[1]):
        node, kind = green.decode(site)
        if node is not None and kind is not Kind.ENTER and not _only_defines(node, entered):
            yield from ties.removed(node)


def _only_defines(node: Node, entered: Container[Node | None]) -> bool:
    """Whether it is the head of a function that nobody called, and no decorator got."""
    named = node.type in FUNCTIONS and node.type != "Lambda"
    return named and node not in entered and not node["decorator_list"]


def _last_rows(trace: Trace) -> dict[int, int]:
    """The last position of each site."""
    return {site: position for position, site in enumerate(trace.sites)}
