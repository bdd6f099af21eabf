"""A step tested: the failing run once more, with the value or branch that the other run had there.

What can be set is what can be made anew from its record (None, numbers, texts, bytes, and tuples of
them), and the condition of an ``if``. An object cannot: what it holds was not recorded whole,
and another one with the same content is not the same object. Neither can the end of a loop, which
is no instance that corresponds to another, nor a target of a comprehension.

A run that passes only where neither run ever was tells nothing (Sumner and Zhang, comparative causality,
ICSE 2013): a value that skips the failed assertion by an exception, say, has repaired nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from afterd.compare.pair import Pair
from afterd.compare.python.alignment import Alignment
from afterd.limits import PYTHON_PAIR
from afterd.model.trace import Trial
from afterd.trace.python.read import Node, Steps, Trace
from afterd.trace.python.record.replacing import Replacement, encoded_value
from afterd.trace.python.record.rows import OUTCOMES, Kind
from afterd.trace.python.recorder import RecordedRun

Again = Callable[[Replacement], RecordedRun]

_VALUES = frozenset({Kind.VALUE, Kind.RETURN, Kind.YIELD, Kind.PEEK})


class Intervention:
    """What may be put into the failing run of a pair, and what the run with it tells."""

    def __init__(
        self, pair: Pair[RecordedRun], mine: Steps, other: Steps, alignment: Alignment
    ) -> None:
        self._pair = pair
        self._mine = mine
        self._other = other
        self._alignment = alignment
        self._rows_left = PYTHON_PAIR.intervened

    def replacement(self, position: int) -> Replacement | None:
        """The other run's value or branch for a row; None where it cannot be put there."""
        trace, row = self._mine.trace, self._alignment.row(position)
        node, kind = trace.node(position), trace.kind(position)
        if node is None or row is None or not self._is_alone(node, kind):
            return None
        if self._rows_left < trace.raw.total:
            return None
        if kind in OUTCOMES:
            if node.type != "If":
                return None
            held = self._other.trace.kind(row) is Kind.TRUE
            return Replacement(trace.site(node, Kind.TRUE), _own_row(trace, position), held)
        if kind not in _VALUES or _is_bound_in_an_expression(node):
            return None
        other = self._other.terms.defined_value(row)
        try:
            value = encoded_value(other)
        except ValueError:
            return None
        if self._other.trace.addresses.are_in(other):
            return None
        frame = trace.frame(position)
        entered = frame is not None and node.type == "arg"
        at = frame.entered if frame is not None and entered else position
        return Replacement(trace.sites[position], _own_row(trace, at), value)

    def trial(self, run: RecordedRun) -> Trial:
        """What the run with the replacement tells."""
        self._rows_left -= sum(trace.raw.total for trace in run.traces)
        met = [trace for trace in run.traces if trace.raw.header["replaced"]]
        if not met:
            return Trial.ELSEWHERE  # it was another run before it came there
        if not run.passed:
            return Trial.FAILS
        return Trial.PASSES if self._was_there(met[0]) else Trial.ELSEWHERE

    def _is_alone(self, node: Node, kind: Kind) -> bool:
        """Whether one process of the run alone, without threads, came to a site: the row says which
        instance is meant.
        """
        first, *others = self._pair.mine.traces
        site, raw = first.site(node, kind), first.raw
        processes = {raw.origin(first.number(row))[0] for row in first.at_site(node, kind)}
        alone = len(processes) == 1 and not any(site in set(each.sites) for each in others)
        return alone and not raw.header["threads"]

    def _was_there(self, trace: Trace) -> bool:
        """Whether every place that a run came to is one that either recorded run came to."""
        mine, other = set(self._mine.trace.sites), set(self._other.trace.sites)
        for site in set(trace.sites) - mine:
            node, kind = trace.decode(site)
            own = None if node is None else self._mine.trace.decode(site)[0]
            twin = None if own is None else self._alignment.matching.good.get(own)
            if node is not None and (twin is None or Trace.site(twin, kind) not in other):
                return False
        return True


def _own_row(trace: Trace, position: int) -> int:
    """The number that a row has in the process that wrote it."""
    return trace.raw.origin(trace.number(position))[1]


def _is_bound_in_an_expression(node: Node) -> bool:
    """Whether a row says what a name was bound to where no statement can bind it anew."""
    if node.type == "arg":
        return node.frame.type == "Lambda"
    return bool(node["store"]) and any(
        outer.type in {"comprehension", "Match"} for outer in node.ancestors()
    )
