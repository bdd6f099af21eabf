"""The calls that instrumentation inserts; their names live in ``builtins`` and cannot be spelled.

An inserted call never evaluates the program's expression itself: it takes the value after the
expression was evaluated in its own frame and hands it back. Tracebacks, ``sys._getframe`` and
``warnings.warn(stacklevel=…)`` therefore see the frames they always saw.
"""

from __future__ import annotations

import ast
from typing import TypeVar

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
    """Builds inserted nodes for one module; every one is located where ``at`` is."""

    def __init__(self, module: int, numbers: dict[ast.AST, int]) -> None:
        self.module = module
        self.numbers = numbers

    def code(self, node: ast.AST, kind: Kind, at: ast.AST) -> ast.Constant:
        """The site of ``node`` as a literal."""
        return located(ast.Constant(site(self.module, self.numbers[node], kind)), at)

    def call(self, name: str, arguments: list[ast.expr], at: ast.AST) -> ast.Call:
        """``name(*arguments)``."""
        function = located(ast.Name(name, ast.Load()), at)
        return located(ast.Call(function, arguments, []), at)

    def statement(self, name: str, node: ast.AST, kind: Kind, at: ast.AST) -> ast.stmt:
        """``name(site of node)`` as a statement."""
        return located(ast.Expr(self.call(name, [self.code(node, kind, at)], at)), at)

    def value(self, node: ast.AST, expression: ast.expr, kind: Kind = Kind.VALUE) -> ast.expr:
        """``expression``, with its value recorded as ``node``'s."""
        return self.call(VALUE, [self.code(node, kind, expression), expression], expression)

    def bound(self, node: ast.AST, name: str, at: ast.AST) -> ast.stmt:
        """A statement that records what ``name`` is bound to, as ``node``'s value."""
        load = located(ast.Name(name, ast.Load()), at)
        call = self.call(VALUE, [self.code(node, Kind.VALUE, at), load], at)
        return located(ast.Expr(call), at)


def located(node: _Node, at: ast.AST) -> _Node:
    """``node`` with the position of ``at``."""
    return ast.copy_location(node, at)
