"""Which scope owns each name: enough of the symbol table to say where a variable lives."""

from __future__ import annotations

import ast
from collections.abc import Iterator

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
SCOPES = (*FUNCTIONS, *COMPREHENSIONS, ast.ClassDef)

BUILTIN = -1
MODULE = 0


class Scope:
    """A block of code with names of its own; ``node`` is its number in the tree."""

    def __init__(self, node: ast.AST, number: int, parent: Scope | None) -> None:
        self.node = node
        self.number = number
        self.parent = parent
        self.bound: set[str] = set()
        self.declared_global: set[str] = set()
        self.declared_nonlocal: set[str] = set()

    @property
    def is_class(self) -> bool:
        """Class bodies are skipped when a nested function looks a name up."""
        return isinstance(self.node, ast.ClassDef)

    def owner(self, name: str) -> int:
        """The number of the scope the name lives in; BUILTIN when no scope binds it."""
        scope: Scope | None = self
        first = True
        while scope is not None:
            if name in scope.declared_global:
                break
            visible = first or not scope.is_class
            if visible and name in scope.bound and name not in scope.declared_nonlocal:
                return scope.number
            first = False
            scope = scope.parent
        module = self
        while module.parent is not None:
            module = module.parent
        return MODULE if name in module.bound else BUILTIN


class ScopeBuilder(ast.NodeVisitor):
    """Collects the bindings of every scope; ``scopes`` maps each name node to its scope."""

    def __init__(self, tree: ast.Module, numbers: dict[ast.AST, int]) -> None:
        self.numbers = numbers
        self.module = Scope(tree, MODULE, None)
        self.scope = self.module
        self.scope_of: dict[ast.AST, Scope] = {}
        self.module_variables: set[str] = set()
        for statement in tree.body:
            self.visit(statement)

    def bind(self, name: str, node: ast.AST) -> None:
        """The current scope assigns ``name`` (walrus targets skip comprehensions)."""
        self.scope_of[node] = self.scope
        if name in self.scope.declared_global:
            self.module.bound.add(name)
        else:
            self.scope.bound.add(name)

    def visit_Name(self, node: ast.Name) -> None:
        """A use or a binding."""
        self.scope_of[node] = self.scope
        if not isinstance(node.ctx, ast.Load):
            self.bind(node.id, node)
            if self.scope is self.module or node.id in self.scope.declared_global:
                self.module_variables.add(node.id)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        """PEP 572: the target belongs to the nearest scope that is not a comprehension."""
        inner = self.scope
        self.visit(node.value)
        while isinstance(self.scope.node, COMPREHENSIONS) and self.scope.parent is not None:
            self.scope = self.scope.parent
        self.visit(node.target)
        self.scope = inner

    def visit_Global(self, node: ast.Global) -> None:
        """The names live in the module."""
        self.scope.declared_global.update(node.names)
        self.scope.bound.difference_update(node.names)
        self.module.bound.update(node.names)
        self.module_variables.update(node.names)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        """The names live in an enclosing function."""
        self.scope.declared_nonlocal.update(node.names)

    def visit_alias(self, node: ast.alias) -> None:
        """An import binds the first part of the dotted name, or the name after ``as``."""
        self.bind(node.asname or node.name.partition(".")[0], node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        """``except E as name``."""
        if node.name:
            self.bind(node.name, node)
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        """A capture pattern."""
        if node.name:
            self.bind(node.name, node)
        self.generic_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        """``*rest`` in a sequence pattern."""
        if node.name:
            self.bind(node.name, node)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        """``**rest`` in a mapping pattern."""
        if node.rest:
            self.bind(node.rest, node)
        self.generic_visit(node)

    def generic_visit(self, node: ast.AST) -> None:
        """Opens a scope where the node is one."""
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            self.bind(node.name, node)
        if isinstance(node, SCOPES):
            self._visit_scope(node)
        else:
            super().generic_visit(node)

    def _visit_scope(self, node: ast.AST) -> None:
        for outside in _evaluated_outside(node):
            self.visit(outside)
        outer = self.scope
        self.scope = Scope(node, self.numbers[node], outer)
        self.scope_of[node] = outer
        for argument in _arguments(node):
            self.bind(argument.arg, argument)
        for inside in _evaluated_inside(node):
            self.visit(inside)
        self.scope = outer


def _arguments(node: ast.AST) -> list[ast.arg]:
    return parameters(node.args) if isinstance(node, FUNCTIONS) else []


def parameters(arguments: ast.arguments) -> list[ast.arg]:
    """Every parameter in the order of the signature."""
    star = [arguments.vararg] if arguments.vararg else []
    stars = [arguments.kwarg] if arguments.kwarg else []
    return [*arguments.posonlyargs, *arguments.args, *star, *arguments.kwonlyargs, *stars]


def _evaluated_outside(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a scope's node that the enclosing scope evaluates."""
    if isinstance(node, FUNCTIONS):
        yield from node.args.defaults
        yield from (default for default in node.args.kw_defaults if default is not None)
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        yield from node.decorator_list
    if isinstance(node, ast.ClassDef):
        yield from (*node.decorator_list, *node.bases, *(word.value for word in node.keywords))
    if isinstance(node, COMPREHENSIONS):
        yield node.generators[0].iter


def _evaluated_inside(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield from node.body
    elif isinstance(node, ast.Lambda):
        yield node.body
    elif isinstance(node, COMPREHENSIONS):
        for position, generator in enumerate(node.generators):
            yield generator.target
            if position:
                yield generator.iter
            yield from generator.ifs
        if isinstance(node, ast.DictComp):
            yield from (node.key, node.value)
        else:
            yield node.elt
