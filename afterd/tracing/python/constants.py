"""Values the analysis computes itself: literals, and operators over plain values."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from afterd.tracing.python.program import Node
from afterd.tracing.python.tracefile import Recorded

_SMALL = 1 << 512
_LONG = 10_000

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


def folded(node: Node, parts: Sequence[Recorded]) -> tuple[bool, Recorded]:
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
        case "BinOp" if _bounded(node["op"], parts):
            return _BINARY.get(node["op"])
        case "UnaryOp":
            return _UNARY[node["op"]]
        case "Compare" if len(node["ops"]) == 1:
            return _COMPARISONS.get(node["ops"][0])
    return None


def _bounded(operation: str, parts: Sequence[Recorded]) -> bool:
    """No repetition of strings, no products of huge numbers, no % formatting."""
    if any(isinstance(part, (str, bytes)) for part in parts):
        return operation == "Add" and all(
            len(part) < _LONG for part in parts if isinstance(part, (str, bytes))
        )
    return all(abs(part) < _SMALL for part in parts)
