"""Which names a text reads that its own scopes do not bind: name resolution as Python does it.

Where a scope binds a name below the place that reads it (and no loop leads back), the read does not
find it there: a class looks further out, a module has nothing but builtins, a function fails.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from afterd.trace.python.source.statements import Place, Places
from afterd.trace.python.source.syntax import child_nodes

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_ENTRY = 0


@dataclass(frozen=True, slots=True)
class Use:
    """A name that is read at a place; ``local``: its function binds it, but only further down; ``annotates``: it is
    read when the annotation is evaluated that it stands in, if ever.
    """

    name: str
    place: Place
    local: bool = False
    annotates: bool = False


@dataclass(frozen=True, slots=True)
class Names:
    """What some statements read from the scope around them, and what they bind in it.

    ``now``: while they are executed; ``later``: in functions, which are called when they are.
    ``declared``: bound by functions that say ``global``.
    """

    now: frozenset[Use] = frozenset()
    later: frozenset[Use] = frozenset()
    binds: frozenset[str] = frozenset()
    declared: frozenset[str] = frozenset()


NOTHING_NAMED = Names()


@dataclass(slots=True)
class _Read:
    name: str
    at: int
    until: int
    place: Place
    deferred: bool
    annotates: bool = False


@dataclass(slots=True)
class _Scope:
    """``bound``: where each name is bound first. Of a comprehension the order does not matter."""

    node: ast.AST
    parent: _Scope | None
    bound: dict[str, int] = field(default_factory=dict)
    elsewhere: set[str] = field(default_factory=set)  # declared global or nonlocal
    reads: list[_Read] = field(default_factory=list)

    @property
    def deferred(self) -> bool:
        return isinstance(self.node, _Function)


def names_of(tree: ast.Module, places: Places) -> tuple[Names, Names]:
    """Of the module, and of the body of the first class in it (nothing where it begins otherwise)."""
    walk = _Walk(places)
    module = _Scope(tree, None)
    walk.block(tree.body, module)
    first = tree.body[0] if tree.body and isinstance(tree.body[0], ast.ClassDef) else None
    inner = next((scope for scope in walk.scopes if scope.node is first), None)
    unresolved = list(walk.unresolved())
    own = Names(
        frozenset(
            use for use, scope, deferred in unresolved if scope is not inner and not deferred
        ),
        frozenset(use for use, scope, deferred in unresolved if scope is not inner and deferred),
        frozenset(module.bound),
        frozenset(walk.declared),
    )
    if inner is None:
        return own, NOTHING_NAMED
    now = frozenset(use for use, scope, _ in unresolved if scope is inner)
    return own, Names(now, frozenset(), frozenset(inner.bound))


class _Walk:
    """Visits statements in their order; ``scopes`` are those it came to."""

    def __init__(self, places: Places) -> None:
        self.scopes: list[_Scope] = []
        self.declared: set[str] = set()
        self._places = places
        self._at = _ENTRY

    def block(self, body: Sequence[ast.AST], scope: _Scope) -> None:
        """The nodes one after the other, in a scope that may be new."""
        if scope not in self.scopes[-1:]:
            self.scopes.append(scope)
        for node in body:
            self._visit(node, scope)

    def unresolved(self) -> Iterator[tuple[Use, _Scope, bool]]:
        """The reads that no scope within the text satisfies, the scope, and whether it is deferred."""
        for scope in self.scopes:
            for read in scope.reads:
                if not _binds_in_time(read, scope):
                    local = scope.deferred and read.name in scope.bound
                    deferred = read.deferred or _within_function(scope)
                    yield Use(read.name, read.place, local, read.annotates), scope, deferred

    def _visit(self, node: ast.AST, scope: _Scope) -> None:
        self._at += 1
        parameters: Sequence[Any] = getattr(node, "type_params", ())  # Python 3.12
        scope.bound.update({each.name: _ENTRY for each in parameters})
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                self._function(node, scope)
            case ast.ClassDef():
                self._all([*node.decorator_list, *node.bases, *node.keywords], scope)
                self.block(node.body, _Scope(node, scope))
                self._bind(node.name, scope)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                self._comprehension(node, scope)
            case ast.For() | ast.AsyncFor() | ast.While():
                self._loop(node, scope)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                scope.elsewhere.update(names)
            case ast.NamedExpr() | ast.Assign() | ast.AugAssign() | ast.AnnAssign():
                self._assignment(node, scope)
            case _:
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                    self._read(node.id, node, scope)
                for name in _bound_by(node):
                    self._bind(name, scope)
                self._all(child_nodes(node), scope)

    def _assignment(
        self, node: ast.NamedExpr | ast.Assign | ast.AugAssign | ast.AnnAssign, scope: _Scope
    ) -> None:
        """The value is read before a name is bound to it."""
        match node:
            case ast.NamedExpr(target=target, value=value):
                self._visit(value, scope)
                self._bind(target.id, _outside_comprehensions(scope))
            case ast.AugAssign(target=target, value=value):
                if isinstance(target, ast.Name):
                    self._read(target.id, node, scope)
                self._all([value, target], scope)
            case ast.AnnAssign(target=target, annotation=annotation, value=given):
                if not scope.deferred:  # within a function none is evaluated
                    self._annotated(annotation, scope)
                self._all([given] if given else [], scope)
                if given or scope.deferred or not isinstance(target, ast.Name):
                    self._visit(target, scope)
            case ast.Assign(targets=targets, value=value):
                self._all([value, *targets], scope)

    def _all(self, nodes: Sequence[ast.AST] | Iterator[ast.AST], scope: _Scope) -> None:
        for node in nodes:
            self._visit(node, scope)

    def _function(self, node: _Function, scope: _Scope) -> None:
        given = node.args
        self._all([*given.defaults, *(each for each in given.kw_defaults if each)], scope)
        own = _Scope(node, scope)
        arguments = [*given.posonlyargs, *given.args, *given.kwonlyargs]
        arguments += [each for each in (given.vararg, given.kwarg) if each]
        if isinstance(node, ast.Lambda):
            body: list[ast.AST] = [node.body]
        else:
            self._all(node.decorator_list, scope)
            for annotation in (*(each.annotation for each in arguments), node.returns):
                self._annotated(annotation, scope)
            self._bind(node.name, scope)
            body = [*node.body]
        own.bound.update({each.arg: _ENTRY for each in arguments})
        self.block(body, own)

    def _comprehension(self, node: ast.AST, scope: _Scope) -> None:
        own = _Scope(node, scope)
        self.scopes.append(own)
        generators: list[ast.comprehension] = getattr(node, "generators", [])
        self._visit(generators[0].iter, scope)
        for place, each in enumerate(generators):
            self._all([each.target, *([each.iter] if place else []), *each.ifs], own)
        self._all([child for child in child_nodes(node) if child not in generators], own)

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, scope: _Scope) -> None:
        """What is bound anywhere in it may be read anywhere in it."""
        first = len(scope.reads)
        parts = [node.test] if isinstance(node, ast.While) else [node.iter, node.target]
        self._all([*parts, *node.body], scope)
        for read in scope.reads[first:]:
            read.until = max(read.until, self._at)
        self._all(node.orelse, scope)

    def _annotated(self, annotation: ast.AST | None, scope: _Scope) -> None:
        """An annotation may be evaluated when all of the module was."""
        if annotation is None:
            return
        first = len(scope.reads)
        self._visit(annotation, scope)
        for read in scope.reads[first:]:
            read.deferred, read.until, read.annotates = True, 1 << 60, True

    def _read(self, name: str, node: ast.AST, scope: _Scope) -> None:
        scope.reads.append(_Read(name, self._at, self._at, self._places.of(node), deferred=False))

    def _bind(self, name: str, scope: _Scope) -> None:
        if name in scope.elsewhere:
            self.declared.add(name)
        else:
            scope.bound.setdefault(name, self._at)


def _binds_in_time(read: _Read, scope: _Scope) -> bool:
    """Whether the scope, or a function around it, binds what is read, in time.

    A name of the module that is bound below is not found while the module is executed.
    """
    own: _Scope | None = scope
    deferred = read.deferred
    while own is not None:
        visible = own is scope or not isinstance(own.node, ast.ClassDef)
        at = own.bound.get(read.name) if visible else None
        if at is not None:
            if deferred or isinstance(own.node, _COMPREHENSIONS) or at <= read.until:
                return True
            if own.deferred:
                return False
        deferred = deferred or own.deferred
        own = own.parent
    return False


def _bound_by(node: ast.AST) -> Iterator[str]:
    """The names that a node binds when it is come to."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            yield name
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            yield from ((each.asname or each.name).partition(".")[0] for each in aliases)
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
            yield name
        case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
            yield name


def _outside_comprehensions(scope: _Scope) -> _Scope:
    while isinstance(scope.node, _COMPREHENSIONS) and scope.parent is not None:
        scope = scope.parent
    return scope


def _within_function(scope: _Scope | None) -> bool:
    while scope is not None:
        if scope.deferred:
            return True
        scope = scope.parent
    return False
