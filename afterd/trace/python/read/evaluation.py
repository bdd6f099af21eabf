"""What an expression was, as far as the rows tell.

Values the analysis computes itself: literals, and operators over plain values.
"""

from __future__ import annotations

import operator
from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Any

from afterd.limits import PYTHON_TRACE
from afterd.trace.python.read.frames import Frame
from afterd.trace.python.read.names import Names
from afterd.trace.python.read.program import Node
from afterd.trace.python.read.trace import Trace
from afterd.trace.python.read.tracefile import Recorded
from afterd.trace.python.read.values import UNKNOWN, Unknown
from afterd.trace.python.record.describe import LONG

_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mult": operator.mul,
    "FloorDiv": operator.floordiv,
    "Mod": operator.mod,
    "BitAnd": operator.and_,
    "BitOr": operator.or_,
    "BitXor": operator.xor,
}
_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
}
_UNARY: dict[str, Callable[[Any], Any]] = {
    "USub": operator.neg,
    "UAdd": operator.pos,
    "Not": operator.not_,
    "Invert": operator.invert,
}

_WRITTEN = (str, int, float, type(None))
"""Types of values that are written without code of the program's."""


def constant(value: object) -> Recorded:
    """A literal of the exported tree."""
    if not isinstance(value, dict):
        return value
    tag, content = next(iter(value.items()))
    match tag:
        case "int":
            return int(content, 16)
        case "float":
            return float(content)
        case "bytes":
            return content.encode("latin-1")
    return ("n",)


def folded_operator(node: Node, parts: Sequence[Recorded]) -> tuple[bool, Recorded]:
    """(whether it could be computed, the value) of an operator over plain values."""
    if node.type == "Tuple":
        return True, ("t", *parts)
    if any(isinstance(part, tuple) or part is None for part in parts):
        return False, None
    operation = _operation(node, parts)
    try:
        return (True, operation(*parts)) if operation is not None else (False, None)
    except (TypeError, ValueError, ArithmeticError):
        return False, None


def _operation(node: Node, parts: Sequence[Recorded]) -> Callable[..., Any] | None:
    match node.type:
        case "BinOp" if _operation_is_bounded(node["op"], parts):
            return _BINARY.get(node["op"])
        case "UnaryOp":
            return _UNARY[node["op"]]
        case "Compare" if len(node["ops"]) == 1:
            return _COMPARISONS.get(node["ops"][0])
    return None


def _operation_is_bounded(operation: str, parts: Sequence[Recorded]) -> bool:
    """No long texts, no products of huge numbers, no % formatting."""
    texts = [part for part in parts if isinstance(part, (str, bytes))]
    if not texts:
        return all(abs(part) < 1 << PYTHON_TRACE.computed_bits for part in parts)
    most = PYTHON_TRACE.computed_length
    if operation == "Mult":
        times = [part for part in parts if isinstance(part, int)]
        return all(len(text) * abs(number) < most for text in texts for number in times)
    return operation == "Add" and all(len(text) < most for text in texts)


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
        if node.type == "JoinedStr":
            return self._formatted(node, position, frame)
        parts = [self.value_of(child, position, frame) for child in node.children()]
        if any(isinstance(part, Unknown) for part in parts):
            return UNKNOWN
        known, result = folded_operator(node, parts)
        return result if known else UNKNOWN

    def _formatted(self, node: Node, position: int, frame: Frame) -> Recorded | Unknown:
        """A formatted string, which leaves no row, of what is written as it is by ``str``."""
        parts: list[str] = []
        for part in node["values"]:
            inner = part if part.type == "Constant" else part["value"]
            plainly = inner is part or (part["conversion"] == -1 and part["format_spec"] is None)
            value = self.value_of(inner, position, frame) if plainly else UNKNOWN
            if not isinstance(value, _WRITTEN):
                return UNKNOWN
            parts.append(str(value))
        text = "".join(parts)
        return text if len(text) <= LONG else UNKNOWN

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
