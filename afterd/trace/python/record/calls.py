"""The calls that instrumentation inserts; their names live in ``builtins`` and cannot be spelled.

An inserted call never evaluates the program's expression itself: it takes the value after the
expression was evaluated in its own frame and hands it back. Tracebacks, ``sys._getframe`` and
``warnings.warn(stacklevel=…)`` therefore see the frames they always saw.
"""

from __future__ import annotations

import ast
import copy
from typing import TypeVar

from .replacing import SET
from .rows import Kind, site

_Node = TypeVar("_Node", bound=ast.AST)

VALUE = "@v"  # (site, value) -> value
MARK = "@m"  # (site)
BRANCH = "@b"  # (site): a MARK that also looks whether the chunk is full
GUARD = "@g"  # (site, name site, value, …) -> True, for the head of comprehensions
ENTER = "@e"  # (site, parameter sites, *values)
EXIT = "@x"  # (site)
SYNC = "@s"  # (site)
RESUMED = "@r"  # (sync site, site, value) -> value
CAUGHT = "@h"  # (sync site, site)
PEEK_ATTRIBUTE = "@pa"  # (site, object, name)
PEEK_ITEM = "@pi"  # (site, object, key)
LAMBDA = "@l"  # (exit site, entered, value) -> value

NAMES = (
    VALUE,
    MARK,
    BRANCH,
    GUARD,
    ENTER,
    EXIT,
    SYNC,
    RESUMED,
    CAUGHT,
    PEEK_ATTRIBUTE,
    PEEK_ITEM,
    LAMBDA,
)


class CallFactory:
    """Builds inserted nodes for one module; every one is located where ``at`` is.

    ``replaced`` is the site whose value the run sets to another; -1: none.
    """

    def __init__(self, module: int, numbers: dict[ast.AST, int], replaced: int = -1) -> None:
        self.module = module
        self.numbers = numbers
        self.replaced = replaced

    def code(self, node: ast.AST, kind: Kind, at: ast.AST) -> ast.Constant:
        """The site of ``node`` as a literal."""
        return node_located_at(ast.Constant(site(self.module, self.numbers[node], kind)), at)

    def call(self, name: str, arguments: list[ast.expr], at: ast.AST) -> ast.Call:
        """``name(*arguments)``."""
        function = node_located_at(ast.Name(name, ast.Load()), at)
        return node_located_at(ast.Call(function, arguments, []), at)

    def statement(self, name: str, node: ast.AST, kind: Kind, at: ast.AST) -> ast.stmt:
        """``name(site of node)`` as a statement."""
        return node_located_at(ast.Expr(self.call(name, [self.code(node, kind, at)], at)), at)

    def value(self, node: ast.AST, expression: ast.expr, kind: Kind = Kind.VALUE) -> ast.expr:
        """``expression``, with its value recorded as ``node``'s."""
        code, given = self.code(node, kind, expression), self.given(node, expression, kind)
        return self.call(VALUE, [code, given], expression)

    def is_replaced(self, node: ast.AST, kind: Kind = Kind.VALUE) -> bool:
        """Whether what a node's row says is what the run sets."""
        return self.replaced == site(self.module, self.numbers[node], kind)

    def given(self, node: ast.AST, expression: ast.expr, kind: Kind = Kind.VALUE) -> ast.expr:
        """``expression``; or what is put in its place, where the value of ``node`` is replaced."""
        return (
            self.call(SET, [expression], expression) if self.is_replaced(node, kind) else expression
        )

    def rebound(
        self, node: ast.AST, target: ast.expr, at: ast.AST, kind: Kind = Kind.VALUE
    ) -> list[ast.stmt]:
        """``target`` bound anew, where its value is replaced after it was bound."""
        if not self.is_replaced(node, kind):
            return []
        load, store = copy.deepcopy(target), copy.deepcopy(target)
        for each, context in ((load, ast.Load()), (store, ast.Store())):
            each.ctx = context  # type: ignore[attr-defined] # names, attributes and items have one
        given = node_located_at(self.call(SET, [load], at), at)
        return [node_located_at(ast.Assign([store], given), at)]

    def bound(self, node: ast.AST, name: str, at: ast.AST) -> ast.stmt:
        """A statement that records what ``name`` is bound to, as ``node``'s value."""
        load = node_located_at(ast.Name(name, ast.Load()), at)
        call = self.call(VALUE, [self.code(node, Kind.VALUE, at), load], at)
        return node_located_at(ast.Expr(call), at)


def node_located_at(node: _Node, at: ast.AST) -> _Node:
    """``node`` with the position of ``at``."""
    return ast.copy_location(node, at)
