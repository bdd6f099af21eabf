"""What the assertions of a Python test look at, noted or asked for instead of asserted.

Of ``assert f(3) == 9`` that is the value of ``f(3)``, because 9 is written down; of any other
assertion whether its condition holds.
"""

from __future__ import annotations

import ast
import builtins
import copy
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

RAISED = -1
"""Stands for an assertion's number where the test ended with an exception."""

_COMPARING = frozenset({"assertEqual", "assertEquals", "assertListEqual", "assertDictEqual"})
_JUDGING = frozenset({"assertTrue", "assertFalse"})
_TWO = 2
_WRITTEN_WITH = frozenset({"list", "range", "tuple", "set", "frozenset", "dict", "bytes", "slice"})
_COMPUTED = (ast.Call, ast.Attribute, ast.Subscript, ast.Await)


@dataclass(frozen=True, slots=True)
class Seen:
    """What was noted, in order: the number of the assertion and the value as ``repr`` shows it."""

    values: tuple[tuple[int, str], ...] = ()

    @property
    def raised(self) -> str:
        """The name of the exception's type that the test ended with; empty where it did not."""
        return next((ast.literal_eval(value) for at, value in self.values if at == RAISED), "")

    def departs(self, other: Seen) -> int | None:
        """The number of the assertion at which it is not what the other is; None: they agree."""
        for at in range(max(len(self.values), len(other.values))):
            mine, its = self.values[at : at + 1], other.values[at : at + 1]
            if mine != its:
                return (mine or its)[0][0]
        return None

    def of(self, at: int) -> str | None:
        """The value at an assertion that always saw the same; None where it did not."""
        found = Counter(value for number, value in self.values if number == at)
        return next(iter(found)) if len(found) == 1 else None


def body_observing(body: Sequence[ast.stmt], test: str) -> list[ast.stmt]:
    """The body with what its assertions look at handed to ``afterd_saw``, and how it ended as well."""

    def noted(at: int, looked: ast.expr) -> ast.stmt:
        return ast.Expr(_call("afterd_saw", ast.Constant(test), ast.Constant(at), looked))

    watched = ast.parse(
        f"try:\n pass\nexcept Exception as afterd_error:\n"
        f" afterd_saw({test!r}, {RAISED}, type(afterd_error).__name__)"
    ).body[0]
    assert isinstance(watched, ast.Try)
    watched.body = _replaced_body(body, noted)
    return [watched]


def body_expecting(body: Sequence[ast.stmt], seen: Seen) -> list[ast.stmt]:
    """The body with assertions of what was seen; those that saw several values, or one that cannot
    be written down, are left out.
    """

    def asked(at: int, looked: ast.expr) -> ast.stmt:
        value = _shown_expression(seen.of(at))
        if value is None:
            return ast.Expr(looked)
        if isinstance(value, ast.Constant) and isinstance(value.value, bool | None):
            return ast.Assert(ast.Compare(looked, [ast.Is()], [value]))
        return ast.Assert(ast.Compare(looked, [ast.Eq()], [value]))

    written = _replaced_body(body, asked)
    if not hasattr(builtins, seen.raised):
        return written
    raising = ast.parse(f"with pytest.raises({seen.raised}):\n pass").body[0]
    assert isinstance(raising, ast.With)
    raising.body = written
    return [raising]


def _shown_expression(shown: str | None) -> ast.expr | None:
    """A value as it is written in a program; None where its text is not one."""
    try:
        node = ast.parse(shown or "", mode="eval").body
        ast.literal_eval(node)
    except (SyntaxError, ValueError):
        return None
    return node


class _Replacing(ast.NodeTransformer):
    """Replaces assertions, which are numbered in the order of the text."""

    def __init__(self, instead: Callable[[int, ast.expr], ast.stmt]) -> None:
        self._instead = instead
        self._count = -1

    def visit(self, node: ast.AST) -> ast.AST:
        """An assertion is replaced; all others are gone through."""
        looked = looked_at(node)
        if looked is None:
            return cast("ast.AST", super().visit(node))
        self._count += 1
        return ast.copy_location(self._instead(self._count, looked), node)


def _replaced_body(
    body: Sequence[ast.stmt], instead: Callable[[int, ast.expr], ast.stmt]
) -> list[ast.stmt]:
    replacing = _Replacing(instead)
    return [cast("ast.stmt", replacing.visit(copy.deepcopy(statement))) for statement in body]


def looked_at(node: ast.AST) -> ast.expr | None:
    """What an assertion looks at; None for what is no assertion."""
    if isinstance(node, ast.Assert):
        match node.test:
            case ast.Compare(left, [ast.Eq()], [right]):
                return _of_two(left, right, node.test)
        return _call("bool", node.test)
    if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
        return None
    call = node.value
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if method in _COMPARING and len(call.args) >= _TWO:
        left, right = call.args[:_TWO]
        return _of_two(left, right, ast.Compare(left, [ast.Eq()], [right]))
    if method in _JUDGING and call.args:
        return _call("bool", call.args[0])
    return None


def _of_two(left: ast.expr, right: ast.expr, whole: ast.expr) -> ast.expr:
    """The side that the program computes; whether they are equal where both are computed."""
    if _computes(left) != _computes(right):
        return left if _computes(left) else right
    return _call("bool", whole)


def _computes(node: ast.AST) -> bool:
    """Whether the program has a part in a value, which is not just written down."""
    match node:
        case ast.Call(ast.Name(name)) if name in _WRITTEN_WITH:
            return any(_computes(part) for part in (*node.args, *node.keywords))
    parts = ast.iter_child_nodes(node)
    return isinstance(node, _COMPUTED) or any(_computes(part) for part in parts)


def _call(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])
