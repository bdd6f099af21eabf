"""A module's tree with recording calls inserted: expressions.

Recorded are the values the analysis cannot compute from others: results of calls, attribute and
item loads, awaits and yields, names of enclosing scopes and module variables, and the operands of
``and``, ``or`` and ``… if … else …``, whose presence tells which way they went.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from .calls import ENTER, GUARD, LAMBDA, RESUMED, CallFactory, node_located_at
from .rows import Kind
from .scopes import COMPREHENSIONS, FUNCTIONS, MODULE, parameters
from .tree import NumberedTree

_ATOMS = (ast.Constant, ast.Name)
if TYPE_CHECKING:
    _Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def is_atom(node: ast.expr) -> bool:
    """Whether the value is known without a row: a literal, or a name whose binding has one."""
    return isinstance(node, _ATOMS)


class ExpressionInstrumenter(ast.NodeTransformer):
    """Rewrites expressions in place; ``visit`` keeps values, ``recorded`` gives each a row."""

    def __init__(self, tree: NumberedTree, make: CallFactory) -> None:
        self.tree = tree
        self.make = make

    def visit(self, node: ast.AST) -> ast.expr:
        """The instrumented expression."""
        result = super().visit(node)
        assert isinstance(result, (ast.expr, ast.Slice))  # which is none in Python 3.8
        return result

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Expressions below; keywords, slices and the like are walked through."""
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.AST):
                setattr(node, name, super().visit(value))
            elif isinstance(value, list):
                value[:] = [
                    super(ExpressionInstrumenter, self).visit(item)
                    if isinstance(item, ast.AST)
                    else item
                    for item in value
                ]
        return node

    def recorded(self, node: ast.expr) -> ast.expr:
        """``node`` instrumented so that its value has a row of its own."""
        if isinstance(node, (ast.Starred, ast.Slice)):
            return self.visit(node)
        if self._records_itself(node):
            return self.visit(node)
        return self.make.value(node, self.visit(node))

    def _records_itself(self, node: ast.expr) -> bool:
        if isinstance(node, (ast.Attribute, ast.Subscript)):
            return isinstance(node.ctx, ast.Load)
        if isinstance(node, ast.Name):
            return self._is_outer(node)
        return isinstance(node, (ast.Call, ast.Await, ast.Yield, ast.YieldFrom))

    def _is_outer(self, node: ast.Name) -> bool:
        """Whether a load must be recorded: which binding it sees is not known from this frame."""
        scope = self.tree.scopes.scope_of.get(node)
        if scope is None or not isinstance(node.ctx, ast.Load):
            return False
        owner = scope.owner(node.id)
        if owner == MODULE:
            inside = scope.number != MODULE
            return inside and node.id in self.tree.scopes.module_variables
        return owner > MODULE and not self._same_frame(scope.number, owner, node)

    def _same_frame(self, inner: int, owner: int, node: ast.Name) -> bool:
        scope = self.tree.scopes.scope_of[node]
        while scope.number != owner:
            if not isinstance(scope.node, COMPREHENSIONS) or scope.parent is None:
                return False
            if isinstance(scope.node, ast.GeneratorExp):
                return False
            scope = scope.parent
        return inner >= 0

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Loads from outer scopes are recorded."""
        return self.make.value(node, node) if self._is_outer(node) else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """The result is recorded; the function's attribute look-up is not."""
        function = node.func
        if isinstance(function, ast.Attribute):
            function.value = self.visit(function.value)
        else:
            node.func = self.visit(function)
        node.args = [self.visit(argument) for argument in node.args]
        for word in node.keywords:
            word.value = self.visit(word.value)
        return self.make.value(node, node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Loads are recorded; the object is known from its own rows."""
        node.value = self.visit(node.value)
        return self.make.value(node, node) if isinstance(node.ctx, ast.Load) else node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """Loads are recorded, and keys that are not atoms."""
        node.value = self.visit(node.value)
        node.slice = self._key(node.slice)
        return self.make.value(node, node) if isinstance(node.ctx, ast.Load) else node

    def _key(self, key: ast.expr) -> ast.expr:
        if isinstance(key, ast.Slice):
            for part in ("lower", "upper", "step"):
                bound = getattr(key, part)
                if bound is not None:
                    setattr(key, part, self._bound(bound))
            return key
        return self.visit(key) if isinstance(key, (ast.Tuple, ast.Starred)) else self._bound(key)

    def _bound(self, node: ast.expr) -> ast.expr:
        return self.visit(node) if is_atom(node) else self.recorded(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        """Every operand leaves a row, so the last row says where evaluation stopped."""
        node.values = [self.recorded(value) for value in node.values]
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        """The side that leaves a row was taken."""
        node.test = self.visit(node.test)
        node.body = self.recorded(node.body)
        node.orelse = self.recorded(node.orelse)
        return node

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        """``name := value``."""
        node.value = self.recorded(node.value)
        return node

    def visit_Await(self, node: ast.Await) -> ast.expr:
        """Other tasks may have run meanwhile: say that this frame goes on."""
        node.value = self.visit(node.value)
        return self._resumed(node)

    def visit_Yield(self, node: ast.Yield) -> ast.expr:
        """What is handed out, and what is sent back."""
        if node.value is not None:
            node.value = self.make.value(node, self.visit(node.value), Kind.YIELD)
        return self._resumed(node)

    def visit_YieldFrom(self, node: ast.YieldFrom) -> ast.expr:
        """The inner generator's rows tell what it yields."""
        node.value = self.visit(node.value)
        return self._resumed(node)

    def _resumed(self, node: ast.expr) -> ast.expr:
        sync = self.make.code(node, Kind.SYNC, node)
        code = self.make.code(node, Kind.VALUE, node)
        return self.make.call(RESUMED, [sync, code, node], node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        """Enter, evaluate, leave: all within the one expression a lambda is."""
        assert isinstance(node, FUNCTIONS)
        node.args.defaults = [self.recorded(item) for item in node.args.defaults]
        node.args.kw_defaults = [
            None if item is None else self.recorded(item) for item in node.args.kw_defaults
        ]
        at = node.body
        arguments = parameters(node.args)
        codes = [self.make.code(argument, Kind.VALUE, at) for argument in arguments]
        sites = node_located_at(ast.Tuple(list(codes), ast.Load()), at)
        names = [node_located_at(ast.Name(argument.arg, ast.Load()), at) for argument in arguments]
        enter = self.make.call(ENTER, [self.make.code(node, Kind.ENTER, at), sites, *names], at)
        leave = self.make.code(node, Kind.EXIT, at)
        value = self.make.value(node, self.visit(node.body), Kind.RETURN)
        node.body = self.make.call(LAMBDA, [leave, enter, value], at)
        return node

    def _comprehension(self, node: _Comprehension) -> ast.expr:
        for generator in node.generators:
            generator.iter = self.recorded(generator.iter)
            conditions = [self.recorded(condition) for condition in generator.ifs]
            generator.ifs = [self._guard(generator), *conditions]
        if isinstance(node, ast.DictComp):
            node.key = self.recorded(node.key)
            node.value = self.recorded(node.value)
        else:
            node.elt = self.recorded(node.elt)
        return node

    def _guard(self, generator: ast.comprehension) -> ast.expr:
        """A condition that is always true and records the targets: one row an iteration."""
        at = generator.target
        arguments: list[ast.expr] = [self.make.code(generator, Kind.TRUE, at)]
        for name in ast.walk(generator.target):
            if isinstance(name, ast.Name):
                arguments.append(self.make.code(name, Kind.VALUE, at))
                arguments.append(node_located_at(ast.Name(name.id, ast.Load()), at))
        return self.make.call(GUARD, arguments, at)

    visit_ListComp = _comprehension  # noqa: N815 # ast names its visitors so
    visit_SetComp = _comprehension  # noqa: N815 # ast names its visitors so
    visit_DictComp = _comprehension  # noqa: N815 # ast names its visitors so
    visit_GeneratorExp = _comprehension  # noqa: N815 # ast names its visitors so

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        """The holes' expressions; format specs hold holes of their own."""
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                part.value = self.visit(part.value)
                if isinstance(part.format_spec, ast.JoinedStr):
                    part.format_spec = self.visit(part.format_spec)
        return node
