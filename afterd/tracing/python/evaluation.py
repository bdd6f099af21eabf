"""What an expression was, as far as the rows tell."""

from __future__ import annotations

from bisect import bisect_left

from afterd.tracing.python.constants import constant, folded
from afterd.tracing.python.frames import Frame
from afterd.tracing.python.names import Names
from afterd.tracing.python.program import Node
from afterd.tracing.python.trace import Trace
from afterd.tracing.python.tracefile import Recorded
from afterd.tracing.python.values import UNKNOWN, Unknown


class Evaluation:
    """Values of expressions in one trace."""

    def __init__(self, trace: Trace, names: Names) -> None:
        self.trace = trace
        self.names = names

    def value_of(self, node: Node, position: int, frame: Frame) -> Recorded | Unknown:
        """What an expression evaluated at or before a position was."""
        if node.type == "Constant":
            return constant(node["value"])
        row = self.trace.last_at(node, frame, position + 1)
        if row is not None:
            return self.trace.value(row)
        if node.type == "Name":
            definition = self.names.name(node, position, frame)
            return UNKNOWN if definition is None else self.trace.value(definition)
        if node.type == "NamedExpr":
            return self.value_of(node["value"], position, frame)
        parts = [self.value_of(child, position, frame) for child in node.children()]
        if any(isinstance(part, Unknown) for part in parts):
            return UNKNOWN
        known, result = folded(node, parts)
        return result if known else UNKNOWN

    def target_value(self, node: Node, position: int, frame: Frame) -> Recorded | Unknown:
        """A part of an assignment's target: evaluated after the value, so its row comes after."""
        rows = self.trace.at_site(node)
        following = self.trace.next_in_frame(frame, position)
        limit = position
        while following is not None and (below := self.trace.node(following)) is not None:
            if below.statement is not node.statement:
                break
            limit = following
            following = self.trace.next_in_frame(frame, following)
        index = bisect_left(rows, position + 1)
        if index < len(rows) and rows[index] <= limit and self.trace.frame(rows[index]) is frame:
            return self.trace.value(rows[index])
        return self.value_of(node, position, frame)
