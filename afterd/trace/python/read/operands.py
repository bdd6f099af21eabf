"""What is evaluated with an expression, and what of its operands it may look at."""

from __future__ import annotations

from collections.abc import Sequence

from afterd.trace.python.read.evaluation import constant
from afterd.trace.python.read.program import BUILTIN, Node

_OF_TYPE = frozenset({"isinstance", "type", "callable"})
_NOT_INSIDE = _OF_TYPE | {"issubclass", "id"}
_IDENTITY = frozenset({"Is", "IsNot"})


def operands_of(node: Node) -> Sequence[Node]:
    """The parts of an expression that are evaluated with it, comprehension heads looked into."""
    found: list[Node] = []
    for child in node.children():
        if child.type in {"keyword", "comprehension", "FormattedValue", "Slice", "Starred"}:
            found.extend(operands_of(child))
        elif child.type == "Attribute" and node.type == "Call" and child is node["func"]:
            found.append(child["value"])
            found.append(child)
        else:
            found.append(child)
    return found


def looks_inside(node: Node) -> bool:
    """Whether evaluating an expression may look into the objects it handles."""
    match node.type:
        case "List" | "Tuple" | "Dict" | "Set" | "Lambda" | "IfExp" | "Await" | "Starred":
            return False
        case "Compare":
            return not all(operation in _IDENTITY for operation in node["ops"])
        case "Call":
            function = node["func"]
            return function.type != "Name" or function["id"] not in _NOT_INSIDE
        case "Attribute":
            return False
    return True


def asked_for_type(node: Node) -> Node | None:
    """The operand of which an expression asks for no more than its type: what is in the object has no part in what it
    gives (``isinstance(x, T)``, ``x is None``).
    """
    if node.type == "Call":
        function, arguments = node["func"], node["args"]
        builtin = function.type == "Name" and function["owner"] == BUILTIN
        return arguments[0] if builtin and arguments and function["id"] in _OF_TYPE else None
    if node.type != "Compare" or len(node["ops"]) != 1 or node["ops"][0] not in _IDENTITY:
        return None
    right = node["comparators"][0]
    none = right.type == "Constant" and constant(right["value"]) is None
    return node["left"] if none else None
