"""Which changes a run executed: by its rows, and by the calls that its failure interrupted, which left none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from afterd.compare.python.absence import Ties
from afterd.compare.python.callers import calling_statement
from afterd.model.change import ChangeId
from afterd.trace.python.read import Frame, Steps, Trace
from afterd.trace.python.record.rows import Kind


def executed_changes(run: Steps, ties: Ties, failing: Iterable[Frame]) -> list[ChangeId]:
    """Changes the failing run executed, last executed first. ``failing``: the activations that the failure ended."""
    last: dict[ChangeId, int] = {}
    for change, position in _executed(run, ties, failing):
        last[change] = max(position, last.get(change, -1))
    return sorted(last, key=lambda change: -last[change])


def _executed(run: Steps, ties: Ties, failing: Iterable[Frame]) -> Iterator[tuple[ChangeId, int]]:
    for site, position in _last_rows(run.trace).items():
        node, _ = run.trace.decode(site)
        if node is not None:
            for change in ties.of_row(run.trace, position):
                yield change, position
    for frame in failing:
        statement = calling_statement(run, frame)
        if statement is not None:
            for change in ties.of_node(statement):
                yield change, frame.entered


def removed_changes(green: Trace, ties: Ties) -> Iterator[ChangeId]:
    """Changes to what only the green run executed, last executed first."""
    for site, _ in sorted(_last_rows(green).items(), key=lambda item: -item[1]):
        node, kind = green.decode(site)
        if node is not None and kind is not Kind.ENTER:
            yield from ties.removed(node)


def _last_rows(trace: Trace) -> dict[int, int]:
    """The last position of each site."""
    return {site: position for position, site in enumerate(trace.sites)}
