"""Changes that act through what the failing run did *not* do, read off the green run, or through
what green could not do.
"""

from __future__ import annotations

from collections.abc import Iterator

from afterd.model.change import ChangeId
from afterd.model.term import reads
from afterd.tracing.python.aliases import other_names
from afterd.tracing.python.alignment import Alignment
from afterd.tracing.python.program import Node
from afterd.tracing.python.runtime.rows import Kind
from afterd.tracing.python.ssa import Steps
from afterd.tracing.python.ties import Ties

_CONTAINERS = frozenset({"l", "d", "s"})
_LOOKED_AT = 400  # green rows per question


class Absence:
    """Walks green from a row's counterpart over what the failing run had not done by then."""

    def __init__(self, alignment: Alignment, green: Steps, ties: Ties) -> None:
        self.alignment = alignment
        self.inverse = Alignment(green.trace, alignment.bad, alignment.matching.inverted())
        self.green = green
        self.ties = ties

    def changes(self, position: int) -> Iterator[ChangeId]:
        """The changes that removed or altered what only the green counterpart had."""
        counterpart = self.alignment.row(position)
        if counterpart is None:
            yield from self._around(position)
            yield from self._reached_by(position)
            return
        yield from self._own(counterpart)
        yield from self._called(counterpart)
        pending = [counterpart]
        seen = {counterpart}
        while pending and len(seen) < _LOOKED_AT:
            for row in self._sources(pending.pop(0)):
                if row not in seen:
                    seen.add(row)
                    removed = self._own(row)
                    yield from removed
                    if self._missing(row, position):
                        yield from self._callers(row, position)
                        if not removed:
                            pending.append(row)

    def _own(self, row: int) -> tuple[ChangeId, ...]:
        node = self.green.trace.node(row)
        return self.ties.removed(node) if node is not None else ()

    def _called(self, row: int) -> Iterator[ChangeId]:
        """Changes to the definitions of what green called: a decorator that was removed."""
        node, frame = self.green.trace.node(row), self.green.trace.frame(row)
        if node is None or frame is None:
            return
        for part in node.walk():
            if part.type == "Call":
                definition = self.green.cells.callee(part, row, frame)
                if definition is not None:
                    yield from self._own(definition)

    def _sources(self, row: int) -> Iterator[int]:
        """What a green row reads, and the branch that let it happen."""
        step = self.green.step(self.green.trace.number(row))
        for read in reads(step.term):
            yield self.green.trace.position(read.step)
        value = self.green.trace.value(row)
        if isinstance(value, tuple) and value[0] in _CONTAINERS:
            yield from self.green.cells.contents.content_writes(value, row)
        if step.control is not None:
            yield self.green.trace.position(step.control)

    def _missing(self, row: int, position: int) -> bool:
        """Whether the failing run has no counterpart of a green row, or only a later one."""
        mine = self.inverse.row(row)
        return mine is None or mine > position

    def _callers(self, row: int, position: int) -> Iterator[ChangeId]:
        """Removed statements whose call led to a row, up to an activation that both runs have."""
        frame = self.green.trace.frame(row)
        while frame is not None and frame.parent is not None:
            mine = self.inverse.frame(frame)
            if mine is not None and mine.entered <= position:
                return
            calling = self.green.parameters.statement_at(frame.parent, frame.entered)
            if calling is not None:
                yield from self.ties.removed(calling)
            frame = frame.parent

    def _reached_by(self, position: int) -> Iterator[ChangeId]:
        """For a row that green never reached: the names by which its function is known here alone."""
        frame = self.alignment.bad.frame(position)
        if frame is not None:
            for value in other_names(frame.node, self.alignment.matching):
                yield from self.ties.of_node(value)

    def _around(self, position: int) -> Iterator[ChangeId]:
        """For a row that green never reached: the removed guards its activation passed in green."""
        frame = self.alignment.bad.frame(position)
        green = self.alignment.frame(frame) if frame is not None else None
        if green is None:
            return
        for row in reversed(green.rows[-_LOOKED_AT:]):
            node = self.green.trace.node(row)
            if node is not None and self._is_guard(node, row):
                yield from self.ties.removed(node)

    def _is_guard(self, node: Node, row: int) -> bool:
        branch = self.green.trace.kind(row) in {Kind.TRUE, Kind.FALSE}
        return branch and node not in self.alignment.matching.bad
