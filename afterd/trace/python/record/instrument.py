"""A module's tree with recording calls inserted: statements.

What is inserted only observes: it never re-evaluates an expression of the program, binds no name
and adds no frame below the program's own (see ``calls``). Where reading a result would run code of
the program (``self.x, y = …``, ``a.b.c += 1``), it is not read; the analysis says so.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from .calls import (
    BRANCH,
    CAUGHT,
    ENTER,
    EXIT,
    MARK,
    PEEK_ATTRIBUTE,
    PEEK_ITEM,
    SYNC,
    CallFactory,
    node_located_at,
)
from .expressions import ExpressionInstrumenter
from .rows import Kind
from .scopes import parameters
from .tree import NumberedTree

if TYPE_CHECKING:
    _Function = ast.FunctionDef | ast.AsyncFunctionDef
_MARKED = (ast.Pass, ast.Break, ast.Continue)
_CAPTURED = {"MatchAs": "name", "MatchStar": "name", "MatchMapping": "rest"}


class Instrumenter:
    """Instruments one numbered tree in place; the value at the site ``replaced`` can be set."""

    def __init__(self, tree: NumberedTree, module: int, replaced: int = -1) -> None:
        self.tree = tree.tree
        self.make = CallFactory(module, tree.numbers, replaced)
        self.expressions = ExpressionInstrumenter(tree, self.make)

    def run(self) -> ast.Module:
        """The instrumented module, ready to compile."""
        body = self._block(self.tree.body)
        head = _head_length(body, future=True)
        at = _first_line(body[head:] or body)
        enter = self._enter(self.tree, [], at)
        self.tree.body = [*body[:head], *self._framed(self.tree, enter, body[head:], at)]
        return self.tree

    # -- frames ------------------------------------------------------------------------------

    def _enter(self, node: ast.AST, arguments: list[ast.arg], at: ast.AST) -> ast.stmt:
        codes = [self.make.code(argument, Kind.VALUE, at) for argument in arguments]
        names = [node_located_at(ast.Name(argument.arg, ast.Load()), at) for argument in arguments]
        sites = node_located_at(ast.Tuple(list(codes), ast.Load()), at)
        call = self.make.call(ENTER, [self.make.code(node, Kind.ENTER, at), sites, *names], at)
        return node_located_at(ast.Expr(call), at)

    def _framed(
        self, node: ast.AST, enter: ast.stmt, body: list[ast.stmt], at: ast.AST
    ) -> list[ast.stmt]:
        leave = self.make.statement(EXIT, node, Kind.EXIT, at)
        if not body:
            return [enter, leave]
        return [enter, node_located_at(ast.Try(body, [], [], [leave]), at)]

    def _function(self, node: _Function) -> Iterator[ast.stmt]:
        self._function_head(node)
        body = self._block(node.body)
        head = _head_length(body, future=False)
        at = _first_line(body[head:] or body)
        arguments = parameters(node.args)
        enter = self._enter(node, arguments, at)
        rebound = [item for each in arguments for item in self._rebound(each, each.arg, at)]
        node.body = [*body[:head], *rebound, *self._framed(node, enter, body[head:], at)]
        yield node
        yield self.make.bound(node, node.name, _first_line([node]))

    def _function_head(self, node: _Function) -> None:
        node.decorator_list = [self.expressions.visit(item) for item in node.decorator_list]
        node.args.defaults = [self.expressions.recorded(item) for item in node.args.defaults]
        node.args.kw_defaults = [
            None if item is None else self.expressions.recorded(item)
            for item in node.args.kw_defaults
        ]

    def _class(self, node: ast.ClassDef) -> Iterator[ast.stmt]:
        node.decorator_list = [self.expressions.visit(item) for item in node.decorator_list]
        node.bases = [self.expressions.visit(item) for item in node.bases]
        for word in node.keywords:
            word.value = self.expressions.recorded(word.value)
        body = self._block(node.body)
        head = _head_length(body, future=False)
        at = _first_line(body[head:] or body)
        enter = self._enter(node, [], at)
        node.body = [*body[:head], *self._framed(node, enter, body[head:], at)]
        yield node
        yield self.make.bound(node, node.name, _first_line([node]))

    def _rebound(self, node: ast.AST, name: str, at: ast.AST) -> list[ast.stmt]:
        return self.make.rebound(node, node_located_at(ast.Name(name, ast.Load()), at), at)

    def _bound(self, node: ast.AST, name: str, at: ast.AST) -> list[ast.stmt]:
        """What records a name that was bound; before it, where the value is replaced, what sets it."""
        return [*self._rebound(node, name, at), self.make.bound(node, name, at)]

    # -- statements --------------------------------------------------------------------------

    def _block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        docstring = bool(body) and _is_docstring(body[0])
        result = list(body[:1]) if docstring else []
        for statement in body[len(result) :]:
            result.extend(self._statement(statement))
        return result

    def _branch(self, node: ast.AST, body: list[ast.stmt], kind: Kind, at: ast.AST) -> None:
        body.insert(0, self.make.statement(BRANCH, node, kind, at))

    def _statement(self, node: ast.stmt) -> Iterator[ast.stmt]:  # noqa: C901, PLR0912 # one case a kind of statement
        """``node`` instrumented, with what goes before and after it."""
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from self._function(node)
        elif isinstance(node, ast.ClassDef):
            yield from self._class(node)
        elif isinstance(node, ast.Assign):
            yield from self._assign(node)
        elif isinstance(node, ast.AugAssign):
            yield from self._augmented(node)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            node.target = self._simple_target(node.target)
            node.value = self.expressions.recorded(node.value)
            yield node
        elif isinstance(node, (ast.If, ast.While)):
            yield self._conditional(node)
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            yield self._for(node)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            yield from self._with(node)
        elif type(node).__name__ in {"Try", "TryStar"}:
            yield self._try(cast("ast.Try", node))
        elif type(node).__name__ == "Match":
            yield self._match(cast("ast.Match", node))
        elif isinstance(node, (ast.Return, ast.Raise, ast.Assert, ast.Delete, ast.Expr)):
            yield from self._simple(node)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from self._import(node)
        elif isinstance(node, _MARKED):
            yield self.make.statement(MARK, node, Kind.MARK, node)
            yield node
        else:  # global, nonlocal, annotations without a value, type aliases
            yield node

    def _assign(self, node: ast.Assign) -> Iterator[ast.stmt]:
        node.value = self.expressions.recorded(node.value)
        unpacked = [
            name
            for target in node.targets
            if not isinstance(target, (ast.Name, ast.Attribute, ast.Subscript))
            for name in _names(target)
        ]
        node.targets = [self._target(target) for target in node.targets]
        yield node
        for name in unpacked:
            yield from self._bound(name, name.id, node)

    def _target(self, target: ast.expr) -> ast.expr:
        return self.expressions.visit(target)

    def _simple_target(
        self, target: ast.Name | ast.Attribute | ast.Subscript
    ) -> ast.Name | ast.Attribute | ast.Subscript:
        visited = self._target(target)
        assert isinstance(visited, (ast.Name, ast.Attribute, ast.Subscript))
        return visited

    def _augmented(self, node: ast.AugAssign) -> Iterator[ast.stmt]:
        target = node.target
        peek = self._peek(node, target)
        kind = Kind.VALUE if isinstance(target, ast.Name) else Kind.PEEK
        rebound = self.make.rebound(target, target, node, kind)
        node.value = self.expressions.recorded(node.value)
        node.target = self._simple_target(target)
        yield node
        yield from rebound
        yield peek or self.make.statement(MARK, node, Kind.MARK, node)

    def _peek(self, node: ast.AugAssign, target: ast.expr) -> ast.stmt | None:
        """Reads the new value back where that runs none of the program's code."""
        if isinstance(target, ast.Name):
            return self.make.bound(target, target.id, node)
        if not isinstance(target, (ast.Attribute, ast.Subscript)):
            return None
        if not isinstance(target.value, ast.Name):
            return None
        key: ast.expr
        if isinstance(target, ast.Attribute):
            key = ast.Constant(target.attr)
        elif isinstance(target.slice, ast.Name):
            key = ast.Name(target.slice.id, ast.Load())
        elif isinstance(target.slice, ast.Constant):
            key = ast.Constant(target.slice.value)
        else:
            return None
        function = PEEK_ATTRIBUTE if isinstance(target, ast.Attribute) else PEEK_ITEM
        return self._peeking(function, node, target.value.id, [node_located_at(key, node)])

    def _peeking(
        self, function: str, node: ast.AugAssign, base: str, rest: list[ast.expr]
    ) -> ast.stmt:
        code = self.make.code(node.target, Kind.PEEK, node)
        load = node_located_at(ast.Name(base, ast.Load()), node)
        return node_located_at(ast.Expr(self.make.call(function, [code, load, *rest], node)), node)

    def _conditional(self, node: ast.If | ast.While) -> ast.stmt:
        at = node.test
        node.test = self.make.given(node, self.expressions.visit(node.test), Kind.TRUE)
        node.body = self._block_of_branch(node.body)
        node.orelse = self._block_of_branch(node.orelse)
        self._branch(node, node.body, Kind.TRUE, at)
        self._branch(node, node.orelse, Kind.FALSE, at)
        return node

    def _block_of_branch(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """Like ``_block``, but a string that comes first is no docstring."""
        return [item for statement in body for item in self._statement(statement)]

    def _for(self, node: ast.For | ast.AsyncFor) -> ast.stmt:
        at = node.target
        names = list(_names(node.target))
        node.iter = self.expressions.recorded(node.iter)
        node.target = self._target(node.target)
        node.body = self._block_of_branch(node.body)
        node.orelse = self._block_of_branch(node.orelse)
        node.body[:0] = [item for name in names for item in self._bound(name, name.id, at)]
        self._branch(node, node.body, Kind.TRUE, at)
        self._branch(node, node.orelse, Kind.FALSE, at)
        if isinstance(node, ast.AsyncFor):
            for block in (node.body, node.orelse):
                block.insert(0, self.make.statement(SYNC, node, Kind.SYNC, at))
        return node

    def _with(self, node: ast.With | ast.AsyncWith) -> Iterator[ast.stmt]:
        opened: list[ast.stmt] = [self.make.statement(SYNC, node, Kind.SYNC, node)]
        for item in node.items:
            at = item.context_expr
            item.context_expr = self.expressions.recorded(item.context_expr)
            if item.optional_vars is not None:
                names = _names(item.optional_vars)
                opened.extend(item for name in names for item in self._bound(name, name.id, at))
                item.optional_vars = self._target(item.optional_vars)
        opened.append(self.make.statement(MARK, node, Kind.MARK, node))
        node.body = [*opened, *self._block_of_branch(node.body)]
        yield node
        # An __exit__ may swallow the exception: only here is it known that this frame goes on.
        yield self.make.statement(SYNC, node, Kind.SYNC, node)

    def _try(self, node: ast.Try | ast.TryStar) -> ast.stmt:
        node.body = self._block_of_branch(node.body)
        node.orelse = self._block_of_branch(node.orelse)
        node.finalbody = self._block_of_branch(node.finalbody)
        if node.finalbody:
            at = _first_line(node.finalbody)
            node.finalbody.insert(0, self.make.statement(SYNC, node, Kind.SYNC, at))
        for handler in node.handlers:
            self._handler(handler)
        return node

    def _handler(self, handler: ast.ExceptHandler) -> None:
        if handler.type is not None:
            handler.type = self.expressions.visit(handler.type)
        sync = self.make.code(handler, Kind.SYNC, handler)
        code = self.make.code(handler, Kind.TRUE, handler)
        caught = node_located_at(ast.Expr(self.make.call(CAUGHT, [sync, code], handler)), handler)
        handler.body = [caught, *self._block_of_branch(handler.body)]

    def _match(self, node: ast.Match) -> ast.stmt:
        node.subject = self.expressions.recorded(node.subject)
        for case in node.cases:
            at = case.pattern
            captured = [
                self.make.bound(item, name, at)
                for item in ast.walk(case.pattern)
                if (name := _capture(item))
            ]
            if case.guard is not None:
                case.guard = self.expressions.visit(case.guard)
            case.body = [*captured, *self._block_of_branch(case.body)]
            self._branch(case, case.body, Kind.TRUE, at)
        return node

    def _simple(self, node: ast.stmt) -> Iterator[ast.stmt]:
        if isinstance(node, ast.Return) and node.value is not None:
            node.value = self.make.value(node, self.expressions.visit(node.value), Kind.RETURN)
            yield node
        elif isinstance(node, ast.Raise) and node.exc is not None:
            node.exc = self.make.value(node, self.expressions.visit(node.exc), Kind.RAISE)
            if node.cause is not None:
                node.cause = self.expressions.visit(node.cause)
            yield node
        elif isinstance(node, ast.Assert):
            node.test = self.expressions.visit(node.test)
            if node.msg is not None:
                node.msg = self.expressions.visit(node.msg)
            yield node
            yield self.make.statement(MARK, node, Kind.TRUE, node)
        elif isinstance(node, ast.Delete):
            node.targets = [self._target(target) for target in node.targets]
            yield node
            yield self.make.statement(MARK, node, Kind.MARK, node)
        elif isinstance(node, ast.Expr):
            if not isinstance(node.value, ast.Constant):
                node.value = self.expressions.recorded(node.value)
            yield node
        else:  # bare return and raise
            yield self.make.statement(MARK, node, Kind.MARK, node)
            yield node

    def _import(self, node: ast.Import | ast.ImportFrom) -> Iterator[ast.stmt]:
        yield node
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            return
        for alias in node.names:
            if alias.name == "*":
                yield self.make.statement(MARK, node, Kind.MARK, node)
            else:
                name = alias.asname or alias.name.partition(".")[0]
                yield self.make.bound(alias, name, node)


def _names(target: ast.expr) -> Iterator[ast.Name]:
    """The plain names that a target binds."""
    if isinstance(target, ast.Name):
        yield target
    elif isinstance(target, (ast.Tuple, ast.List)):
        for element in target.elts:
            yield from _names(element)
    elif isinstance(target, ast.Starred):
        yield from _names(target.value)


def _capture(pattern: ast.AST) -> str:
    """The name that a pattern binds."""
    field = _CAPTURED.get(type(pattern).__name__)
    return str(getattr(pattern, field) or "") if field else ""


def _is_docstring(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _head_length(body: list[ast.stmt], *, future: bool) -> int:
    """How many first statements must stay first: the docstring, and ``from __future__``."""
    length = 1 if body and _is_docstring(body[0]) else 0
    while future and length < len(body):
        statement = body[length]
        if not (isinstance(statement, ast.ImportFrom) and statement.module == "__future__"):
            break
        length += 1
    while not future and length < len(body):
        if not isinstance(body[length], (ast.Global, ast.Nonlocal)):
            break
        length += 1
    return length


def _first_line(body: list[ast.stmt]) -> ast.AST:
    """What to take the position of frame-opening calls from, so that no new line is executed."""
    if not body:
        return node_located_at(
            ast.Pass(lineno=1, col_offset=0, end_lineno=1, end_col_offset=0), ast.Pass()
        )
    first = body[0]
    if isinstance(first, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return first.decorator_list[0] if first.decorator_list else first
    return first
