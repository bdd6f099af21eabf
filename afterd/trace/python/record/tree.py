"""A module's syntax tree, numbered and exported so that another Python version can read it.

afterd may run on 3.11 and the program on 3.13; the analysis therefore never parses, it reads this
export. A node is ``[type, number, line, column, end line, end column, fields]``; positions are 0
where the node has none; lines and columns count from 1 (columns in bytes, as ``ast`` has them).
"""

from __future__ import annotations

import ast
from array import array
from typing import TYPE_CHECKING, Any, cast

from .rows import MAX_NODES
from .scopes import ScopeBuilder

if TYPE_CHECKING:
    from typing import TypeAlias

Exported: TypeAlias = "list[Any]"  # JSON: the recursive type is not worth its length here

_UNNUMBERED = (
    ast.expr_context,
    ast.operator,
    ast.unaryop,
    ast.boolop,
    ast.cmpop,
    ast.type_ignore,
)


class NumberedTree:
    """A parsed module with a number on each node; 0 is the module itself."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.numbers: dict[ast.AST, int] = {}
        for node in ast.walk(tree):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                _place_names(node)
            if not isinstance(node, _UNNUMBERED):
                self.numbers[node] = len(self.numbers)
        if len(self.numbers) >= MAX_NODES:
            raise ValueError(f"module too large to trace: {len(self.numbers)} syntax nodes")
        self.scopes = ScopeBuilder(tree, self.numbers)

    def owner(self, node: ast.AST, name: str) -> int:
        """The scope (its node's number) in which ``name``, used at ``node``, lives."""
        scope = self.scopes.scope_of.get(node, self.scopes.module)
        return scope.owner(name)

    def export(self) -> Exported:
        """The tree as JSON-able lists; call it before the tree is instrumented."""
        return self._node(self.tree)

    def lines(self) -> array[int]:
        """The line on which each node begins, by its number; 0 where a node has none."""
        firsts = (_end_nodes(node)[0] for node in self.numbers)
        return array("I", [getattr(first, "lineno", 0) or 0 for first in firsts])

    def _node(self, node: ast.AST) -> Exported:
        fields: dict[str, Any] = {}
        for name, value in ast.iter_fields(node):
            if value is None or name in {"ctx", "type_comment", "kind", "type_ignores"}:
                continue
            fields[name] = self._field(value, name)
        if isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
            fields["store"] = True
        bound = _bound_name(node)
        if bound:
            fields["owner"] = self.owner(node, bound)
        first, last = _end_nodes(node)
        return [
            type(node).__name__,
            self.numbers[node],
            getattr(first, "lineno", 0) or 0,
            _column(first, "col_offset"),
            getattr(last, "end_lineno", 0) or 0,
            _column(last, "end_col_offset"),
            fields,
        ]

    def _field(self, value: object, name: str) -> object:
        if isinstance(value, _UNNUMBERED):
            return type(value).__name__
        if isinstance(value, ast.AST):
            return self._node(value)
        if isinstance(value, list):
            return [self._field(item, name) for item in value]
        if name == "value":
            return _constant(value)
        return value


def _place_names(statement: ast.Import | ast.ImportFrom) -> None:
    """Have imported names stand where their statement does, where Python does not say where (before 3.10)."""
    for name in statement.names:
        if getattr(name, "lineno", None) is None:
            for attribute in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
                setattr(name, attribute, getattr(statement, attribute))


def _end_nodes(node: ast.AST) -> tuple[ast.AST, ast.AST]:
    """The nodes where a node begins and ends; Python gives a case of a ``match`` no position."""
    if type(node).__name__ != "match_case":
        return node, node
    case = cast("ast.match_case", node)
    return case.pattern, case.body[-1]


def _column(node: ast.AST, attribute: str) -> int:
    offset = getattr(node, attribute, None)
    return 0 if offset is None else int(offset) + 1


_NAME_FIELDS = {
    "Name": "id",
    "arg": "arg",
    **dict.fromkeys(
        ("FunctionDef", "AsyncFunctionDef", "ClassDef", "ExceptHandler", "MatchAs", "MatchStar"),
        "name",
    ),
}
"""Where nodes have the name that they bind; some are newer than the oldest Python that is recorded."""


def _bound_name(node: ast.AST) -> str:
    if isinstance(node, ast.alias):
        return node.asname or node.name.partition(".")[0]
    field = _NAME_FIELDS.get(type(node).__name__)
    return str(getattr(node, field) or "") if field else ""


def _constant(value: object) -> object:
    """A literal; what JSON cannot hold is tagged in a one-key object."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return value if value.bit_length() < 4096 else {"int": hex(value)}
    if isinstance(value, float):
        return {"float": repr(value)}
    if isinstance(value, bytes):
        return {"bytes": value.decode("latin-1")}
    return {"other": repr(value)}
