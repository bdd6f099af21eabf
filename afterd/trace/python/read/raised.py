"""Statements that raised: which, what, and where the exception came from.

A frame that an exception came through says so at its end, and a handler where it begins
(``record.rows``): the exception, and the line of the frame at which it came.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import TYPE_CHECKING

from afterd.trace.python.read.program import BLOCKS, Module, Node, innermost_statement
from afterd.trace.python.read.tracefile import Recorded
from afterd.trace.python.read.values import identity
from afterd.trace.python.record.rows import Kind

if TYPE_CHECKING:
    from afterd.trace.python.read.trace import Trace

_EXITS = frozenset({"__exit__", "__aexit__"})
_TOLD_BY = frozenset({Kind.EXIT, Kind.SYNC})


class Raised:
    """Of one trace, by the position of a row that says that an exception came."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self._statements: dict[tuple[Module, int], Node | None] = {}

    def error(self, position: int) -> Recorded:
        """The exception; None for any other row."""
        found = self.trace.value(position) if self.trace.kind(position) in _TOLD_BY else None
        return found[2] if isinstance(found, tuple) else None

    def statement(self, position: int) -> Node | None:
        """The statement of the row's frame that raised, or at which the exception came up; None for any
        other row.
        """
        node = None if self.error(position) is None else self.trace.node(position)
        if node is None:
            return None
        place = node.module, self.trace.value(position)[3]
        if place not in self._statements:
            self._statements[place] = innermost_statement(node.module.root, place[1])
        return self._statements[place]

    def under_way(self, position: int) -> Node | None:
        """Of the statements in the line of the one that raised, that which was; None for any other row."""
        statement, frame = self.statement(position), self.trace.frame(position)
        if statement is None or frame is None:
            return None
        return under_way(statement, self.trace.node(self.trace.previous_in_frame(frame, position)))

    def origin(self, position: int) -> int:
        """The row of the innermost activation that the exception came through: of its ``raise``, or of
        its end.
        """
        inner = self._inner(position)
        while inner is not None:
            position, inner = inner, self._inner(inner)
        return position

    def let_through(self, position: int) -> Iterator[int]:
        """What ``__exit__`` gave, of each ``with`` statement that an exception passed on its way to a row."""
        frame = self.trace.frame(position)
        if frame is None:
            return
        before = self.trace.previous_in_frame(frame, position)
        since = bisect_right(frame.children, before, key=lambda called: called.entered)
        for called in frame.children[since:]:
            left = called.left
            if called.node["name"] in _EXITS and left is not None and left < position:
                last = self.trace.previous_in_frame(called, left)
                yield last if self.trace.kind(last) is Kind.RETURN else left

    def _inner(self, position: int) -> int | None:
        frame, error = self.trace.frame(position), identity(self.error(position))
        if frame is None or error is None:
            return None
        called = next((each for each in reversed(frame.children) if each.entered < position), None)
        left = None if called is None else called.left
        if left is not None and left < position and identity(self.error(left)) == error:
            return left
        row = self.trace.previous_in_frame(frame, position)
        while row > frame.entered and self.trace.kind(row) is Kind.SYNC:
            row = self.trace.previous_in_frame(frame, row)
        raises = self.trace.kind(row) is Kind.RAISE and identity(self.trace.value(row)) == error
        return row if raises else None


def under_way(statement: Node, last: Node | None) -> Node:
    """Which statement was being executed where one in a line was left, and what was done ``last`` in its activation:
    pytest writes an assertion as many statements in its line. It is the one of which a part was done, or that comes
    after what was done as a whole.
    """
    done = None if last is None else last.statement
    if done is None or done.line != statement.line:
        return statement
    if done["value"] is not last:
        return done
    blocks = [done.parent[name] for name in BLOCKS] if done.parent is not None else []
    block = next((each for each in blocks if isinstance(each, list) and done in each), [done])
    following = [*block[block.index(done) + 1 :], done][0]
    return following if following.line == done.line else statement
