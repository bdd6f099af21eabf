"""The nodes of a syntax tree, without those that only mark how a name is used, or an operator.

They are half of a tree, have no place and hold no names; and ``ast.walk`` asks each node for fields that never hold
nodes. Every loaded file of a program is walked several times before the first variant can be spoken of.
"""

from __future__ import annotations

import ast
from functools import lru_cache

_WITHOUT_NODES = frozenset(
    {"ctx", "op", "ops", "id", "attr", "kind", "type_comment", "type_ignores"}
)
"""Fields that hold no other nodes, whatever kind of node has them."""
_WITH_NODES: dict[type[ast.AST], tuple[str, ...]] = {}


@lru_cache(maxsize=50)
def module_nodes(text: bytes) -> list[ast.AST]:
    """A module and all below it, each before what it consists of; none where the text is no Python."""
    try:
        return nodes_below(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError):
        return []


def child_nodes(node: ast.AST) -> list[ast.AST]:
    """The nodes that a node consists of, in their order."""
    found: list[ast.AST] = []
    for name in _WITH_NODES.get(node.__class__) or _fields_with_nodes(node.__class__):
        value = getattr(node, name, None)
        if value.__class__ is list:
            found += [each for each in value if isinstance(each, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def nodes_below(node: ast.AST) -> list[ast.AST]:
    """The node and all below it, each before what it consists of."""
    found = [node]
    for each in found:
        found += child_nodes(each)
    return found


def _fields_with_nodes(kind: type[ast.AST]) -> tuple[str, ...]:
    """Kept for the next node of the kind."""
    found = tuple(name for name in kind._fields if name not in _WITHOUT_NODES)
    _WITH_NODES[kind] = found
    return found
