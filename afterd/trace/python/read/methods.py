"""The method that a call is of, by whatever name it is called."""

from __future__ import annotations

from afterd.trace.python.read.names import definition_row
from afterd.trace.python.read.program import Node
from afterd.trace.python.read.purity import pure_function
from afterd.trace.python.record.rows import Kind


def called_method(call: Node) -> Node | None:
    """The attribute that is called: ``items.append`` in ``items.append(x)``, and in ``append(x)`` where the
    same frame binds that name once, by ``append = items.append``. None for what is no attribute's call.
    """
    function = call["func"]
    if function.type != "Name":
        return function if function.type == "Attribute" else None
    bound = function.module.bindings(function["owner"], function["id"])
    if len(bound) != 1 or bound[0].frame is not call.frame:
        return None
    at = definition_row(bound[0])
    named = at is not None and at[1] is Kind.VALUE and at[0].type == "Attribute"
    return at[0] if at is not None and named else None


def function_for_effect(node: Node) -> Node | None:
    """What is called by a statement that takes no result, where that is no method by another name."""
    statement = node.type == "Call" and node.parent is not None and node.parent.type == "Expr"
    function = node["func"] if statement and not pure_function(node) else None
    if function is None or function.type not in {"Name", "Attribute"}:
        return None
    return function if called_method(node) in {None, function} else None
