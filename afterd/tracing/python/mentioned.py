"""Which names does the code mention that ran? A constant that none of it reads did nothing."""

from __future__ import annotations

from collections.abc import Iterator

from afterd.tracing.python.program import FRAMES, Node
from afterd.tracing.python.trace import Trace


def mentioned(trace: Trace) -> frozenset[str]:
    """Names and attributes that are read anywhere in a frame that was entered."""
    entered = dict.fromkeys(frame.node for frame in trace.frames)
    return frozenset(name for frame in entered for node in _own(frame) if (name := _read(node)))


def bound_by(node: Node) -> frozenset[str] | None:
    """The variables of a module that an assigned expression is bound to; None where it is no such."""
    statement = node.statement
    if node.frame.type != "Module" or node is not statement["value"]:
        return None
    targets = statement["targets"] or [statement["target"]]
    if not all(isinstance(each, Node) and each.type == "Name" for each in targets):
        return None
    return frozenset(str(each["id"]) for each in targets)


def _own(frame: Node) -> Iterator[Node]:
    """The nodes of a frame's own code, and what the definitions in it evaluate."""
    stack = list(frame.children())
    while stack:
        node = stack.pop()
        yield node
        body = node["body"] if node.type in FRAMES else None
        inside = body if isinstance(body, list) else [body]
        stack.extend(child for child in node.children() if child not in inside)


def _read(node: Node) -> str:
    if node["store"]:
        return ""
    match node.type:
        case "Name":
            return str(node["id"])
        case "Attribute":
            return str(node["attr"])
    return ""
