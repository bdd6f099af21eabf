"""The statements of a Python text by their own text: two versions of a file share most of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """The text of a simple statement, or of a compound one's head. ``certain``: where the statement is
    executed this part of it is, and nothing around it catches what it raises.
    """

    statement: str
    certain: bool = True

    def doubted(self) -> Place:
        """The same place, not certain."""
        return Place(self.statement, certain=False)


class Places:
    """Where the nodes of a syntax tree stand."""

    def __init__(self, tree: ast.Module, text: str) -> None:
        self._lines = text.splitlines()
        self._known: dict[ast.AST, Place] = {}
        self._settle(tree, Place(""))

    def of(self, node: ast.AST) -> Place:
        """The place of a node of the tree."""
        return self._known[node]

    def _settle(self, tree: ast.AST, top: Place) -> None:
        waiting = [(tree, top)]
        while waiting:
            node, around = waiting.pop()
            if isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
                around = Place(_head(node, self._lines), around.certain)
            self._known[node] = around
            doubtful = _doubtful(node)
            waiting += [
                (child, around.doubted() if child in doubtful else around)
                for child in ast.iter_child_nodes(node)
            ]


def _doubtful(node: ast.AST) -> Sequence[ast.AST]:
    """The children of a node that it may pass by, or whose exceptions it may catch."""
    match node:
        case ast.Try(body=body, handlers=[_, *_]) | ast.TryStar(body=body):
            return body
        case ast.IfExp(body=one, orelse=other):
            return [one, other]
        case ast.BoolOp(values=[_, *others]) | ast.Compare(comparators=[_, *others]):
            return others
        case ast.Lambda(body=one):
            return [one]
        case ast.GeneratorExp() | ast.ListComp() | ast.SetComp() | ast.DictComp():
            return list(ast.iter_child_nodes(node))
        case ast.With(body=body) | ast.AsyncWith(body=body):
            return body  # what a context manager does with an exception is not known
    return []


def executed(text: str, lines: frozenset[int]) -> tuple[frozenset[str], frozenset[str]]:
    """The statements with a line among ``lines``, and those without one; a text may be in both.

    Empty where the text does not parse.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return frozenset(), frozenset()
    ran: set[str] = set()
    not_ran: set[str] = set()
    source = text.splitlines()
    for statement, first, last in _spans(tree, source):
        (ran if lines.intersection(range(first, last + 1)) else not_ran).add(statement)
    return frozenset(ran), frozenset(not_ran)


def _spans(tree: ast.Module, source: list[str]) -> Iterator[tuple[str, int, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            yield _head(node, source), *_extent(node)


def _head(node: ast.stmt | ast.ExceptHandler | ast.match_case, lines: list[str]) -> str:
    first, last = _extent(node)
    own = [line.strip() for line in lines[first - 1 : last]]
    while own and (not own[-1] or own[-1].startswith("#")):
        own.pop()  # above the block
    return "\n".join(own)


def _extent(node: ast.stmt | ast.ExceptHandler | ast.match_case) -> tuple[int, int]:
    """The lines of a statement without its blocks."""
    if isinstance(node, ast.match_case):
        return node.pattern.lineno, max(node.pattern.lineno, node.body[0].lineno - 1)
    first, last = node.lineno, node.end_lineno or node.lineno
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    first = min([first, *(each.lineno for each in decorators)])
    body = getattr(node, "body", None)
    if isinstance(node, ast.Match):
        last = node.cases[0].pattern.lineno - 1
    elif body:
        inner = body[0]
        begins = min([inner.lineno, *(d.lineno for d in getattr(inner, "decorator_list", []))])
        last = max(node.lineno, begins - 1)
    return first, last
