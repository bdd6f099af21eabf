"""Where the binding of a name, an attribute or an item leaves its row."""

from __future__ import annotations

from afterd.tracing.python.program import Node
from afterd.tracing.python.runtime.rows import Kind

_BINDING_STATEMENTS = {
    "For": Kind.TRUE,
    "AsyncFor": Kind.TRUE,
    "comprehension": Kind.TRUE,
    "With": Kind.MARK,
    "AsyncWith": Kind.MARK,
}

Row = tuple[Node, Kind]


def definition_row(binding: Node) -> Row | None:
    """Where a binding leaves its row: the assigned expression's, or its own."""
    parent = binding.parent
    if parent is not None and binding["store"]:
        if parent.type == "Assign" and binding in parent["targets"]:
            return (parent["value"], Kind.VALUE)
        if parent.type in {"AnnAssign", "NamedExpr"} and binding is parent["target"]:
            return (parent["value"], Kind.VALUE) if parent["value"] is not None else None
        if binding.type != "Name":
            return _unpacked_row(binding)
    return (binding, Kind.TRUE if binding.type == "ExceptHandler" else Kind.VALUE)


def _unpacked_row(target: Node) -> Row | None:
    """An attribute or item as a target of unpacking, of a loop or of an augmented assignment."""
    for node in target.ancestors():
        if node.type == "Assign":
            return (node["value"], Kind.VALUE)
        if node.type == "AugAssign":
            return (target, Kind.PEEK)
        if node.type in _BINDING_STATEMENTS:
            return (node, _BINDING_STATEMENTS[node.type])
        if node.type not in {"Tuple", "List", "Starred", "withitem"}:
            break
    return None
