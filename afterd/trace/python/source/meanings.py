"""Which changes gave a name that an undone line reads another meaning.

A function of the project's own gives way to one of a library, of the same name: undone alone, the line that calls it
calls the library's, which wants something else. The name is bound in both versions, so nothing is missing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from afterd.model.change import Change, ChangeId
from afterd.model.location import LineSpan
from afterd.trace.python.source.arities import Texts
from afterd.trace.python.source.syntax import module_nodes, nodes_below

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_NO_NAMES: frozenset[str] = frozenset()

Bindings = dict[str, frozenset[int]]
"""The lines on which each name is bound that a module's functions may read."""


def altered_meanings(
    undone: Change, line: int, left: Sequence[Change], texts: Texts
) -> list[ChangeId]:
    """The changes that are ``left`` and bind a name, or took a binding of it away, in the file of a change that is
    ``undone``: one which a ``line`` of the good version's text of it reads, or its text, where a line below reads what
    that gave a value.
    """
    old, new = texts(undone)
    reads, gives = _names_by_line(old, ast.Load), _names_by_line(old, ast.Store)
    names = reads.get(line, _NO_NAMES)
    if not undone.old.covers(line):
        giving = [own for own in undone.old.lines if names & gives.get(own, _NO_NAMES)]
        names = _NO_NAMES.union(*(reads.get(own, _NO_NAMES) for own in giving))
    names -= _local_names(old, undone.old.start)
    beside = [each for each in left if each.file == undone.file]
    return [
        each.id
        for each in beside
        if _binds(names, each.old, _bindings(old)) or _binds(names, each.new, _bindings(new))
    ]


def _binds(names: frozenset[str], span: LineSpan, bindings: Bindings) -> bool:
    return span.count > 0 and any(
        not bindings[name].isdisjoint(span.lines) for name in names & bindings.keys()
    )


@lru_cache(maxsize=50)
def _names_by_line(text: bytes, how: type[ast.expr_context]) -> Mapping[int, frozenset[str]]:
    """The names that are read or bound on each line, and no attributes."""
    found: dict[int, set[str]] = {}
    for each in module_nodes(text):
        if isinstance(each, ast.Name) and isinstance(each.ctx, how):
            found.setdefault(each.lineno, set()).add(each.id)
    return {line: frozenset(names) for line, names in found.items()}


def _local_names(text: bytes, line: int) -> set[str]:
    """What the functions around a line bind for themselves."""
    functions = [each for each in module_nodes(text) if isinstance(each, _FUNCTIONS)]
    inside = [each for each in functions if each.lineno <= line <= (each.end_lineno or 0)]
    below = [each for function in inside for each in nodes_below(function)]
    given = {each.arg for each in below if isinstance(each, ast.arg)}
    names = (each for each in below if isinstance(each, ast.Name))
    return given | {each.id for each in names if isinstance(each.ctx, ast.Store)}


@lru_cache(maxsize=50)
def _bindings(text: bytes) -> Bindings:
    """Where a module binds names for all of its functions: outside of functions and classes."""
    found: dict[str, set[int]] = {}
    for name, lines in _bound(_module_statements(module_nodes(text)[:1])):
        found.setdefault(name, set()).update(lines)
    return {name: frozenset(lines) for name, lines in found.items()}


def _module_statements(roots: Sequence[ast.AST]) -> Iterator[ast.stmt]:
    for root in roots:
        for child in ast.iter_child_nodes(root):
            if isinstance(child, ast.stmt):
                yield child
            if not isinstance(child, (*_FUNCTIONS, ast.ClassDef)):
                yield from _module_statements([child])


def _bound(statements: Iterator[ast.stmt]) -> Iterator[tuple[str, range]]:
    for each in statements:
        whole = range(each.lineno, (each.end_lineno or each.lineno) + 1)
        match each:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield each.name, range(each.lineno, each.lineno + 1)
            case ast.Import() | ast.ImportFrom():
                for alias in each.names:
                    yield (alias.asname or alias.name).partition(".")[0], whole
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                for node in nodes_below(each):
                    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                        yield node.id, whole
