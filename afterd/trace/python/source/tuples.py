"""Tuples that functions return, and into how many names calls of that name unpack what they give.

Nothing else in a text says that the two hang together: a value more is returned in one function, and taken in another.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from afterd.trace.python.source.statements import Places
from afterd.trace.python.source.syntax import child_nodes

_AS_WRITTEN = frozenset({"classmethod", "staticmethod"})
"""Decorators with which a function gives what it returns."""


@dataclass(frozen=True, slots=True)
class Values:
    """So many values that a statement of these ``lines`` returns from a function (with what is around it), or takes of
    one that is called by a name.
    """

    function: str
    count: int
    lines: tuple[str, ...]


def returned_tuples(nodes: Sequence[ast.AST], places: Places, text: str) -> Iterator[Values]:
    """What functions return where that is a tuple of known length."""
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _gives_as_written(node):
            own = _own_nodes(node)
            if any(isinstance(each, ast.Yield | ast.YieldFrom) for each in own):
                continue
            for each in own:
                match each:
                    case ast.Return(value=ast.Tuple(elts=given)) if not _any_starred(given):
                        function = places.of(each).function
                        yield Values(function, len(given), _lines(each, text))


def unpacked_calls(nodes: Sequence[ast.AST], text: str) -> Iterator[Values]:
    """What is unpacked of calls."""
    for node in nodes:
        match node:
            case ast.Assign(
                targets=[ast.Tuple(elts=taken) | ast.List(elts=taken)],
                value=(ast.Call() as call) | ast.Await(value=ast.Call() as call),
            ) if not _any_starred(taken):
                match call.func:
                    case ast.Name(id=name) | ast.Attribute(attr=name):
                        yield Values(name, len(taken), _lines(node, text))


def _gives_as_written(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return all(
        isinstance(each, ast.Name) and each.id in _AS_WRITTEN for each in function.decorator_list
    )


def _own_nodes(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.AST]:
    """Its nodes, but for those of functions and classes within it."""
    found: list[ast.AST] = [*function.body]
    for each in found:
        if not isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            found += child_nodes(each)
    return found


def _any_starred(values: Sequence[ast.expr]) -> bool:
    return any(isinstance(each, ast.Starred) for each in values)


def _lines(statement: ast.stmt, text: str) -> tuple[str, ...]:
    lines = text.splitlines()[statement.lineno - 1 : statement.end_lineno]
    return tuple(line.strip() for line in lines)
