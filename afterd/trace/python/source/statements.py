"""The statements of a Python text by their own text: two versions of a file share most of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from afterd.trace.python.source.syntax import child_nodes

_Statement = ast.stmt | ast.ExceptHandler | ast.match_case
_DIVIDING: frozenset[type[ast.AST]] = frozenset(
    {ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ExceptHandler}
    | {ast.match_case, ast.If, ast.For, ast.AsyncFor, ast.While, ast.Match, ast.Try, ast.TryStar}
    | {ast.With, ast.AsyncWith, ast.IfExp, ast.BoolOp, ast.Compare, ast.GeneratorExp}
    | {ast.ListComp, ast.SetComp, ast.DictComp}
)
"""Nodes of which not all parts have the place of the whole."""


@dataclass(frozen=True, slots=True)
class Place:
    """The text of a simple statement, or of a compound one's head, and the ``function`` it is in (empty:
    it is executed when the file is imported, ``always`` or on a condition). ``certain``: where the
    statement is executed this part of it is, and nothing around it catches what it raises.
    """

    statement: str
    function: str = ""
    always: bool = True
    certain: bool = True

    def doubted(self) -> Place:
        """The same place, not certain."""
        return replace(self, certain=False)


@dataclass(frozen=True, slots=True)
class Ran:
    """Of one version's run: the statements that it executed wherever they stand, the functions that it came into, and
    those ``beside`` its way.
    """

    statements: frozenset[tuple[str, str]] = frozenset()
    functions: frozenset[str] = frozenset()
    beside: frozenset[str] = frozenset()


class Places:
    """Where the nodes of a syntax tree stand."""

    def __init__(self, tree: ast.Module, text: str) -> None:
        self._lines = text.splitlines()
        self._known: dict[ast.AST, Place] = {}
        waiting: list[tuple[ast.AST, Place, str]] = [(tree, Place(""), "")]
        while waiting:
            node, around, scope = waiting.pop()
            if node.__class__ in _DIVIDING:
                waiting += self._settled(node, around, scope)
                continue
            if isinstance(node, ast.stmt):
                around = self._within(node, around)
            self._known[node] = around
            waiting += [(child, around, scope) for child in child_nodes(node)]

    def of(self, node: ast.AST) -> Place:
        """The place of a node of the tree."""
        return self._known[node]

    def statements(self) -> Iterator[tuple[Place, range]]:
        """Every statement, with the lines that are its own."""
        for node, place in self._known.items():
            if isinstance(node, ast.stmt):
                first, last = _own_lines(node)
                yield place, range(first, last + 1)

    def _within(self, node: _Statement, around: Place) -> Place:
        """The place of a statement in a function or a condition that is ``around`` it."""
        head = _head(node, self._lines)
        return Place(head, around.function, around.always, around.certain)

    def _settled(
        self, node: ast.AST, around: Place, scope: str
    ) -> Iterator[tuple[ast.AST, Place, str]]:
        """Its children, what is around them, and the classes and functions that they are in."""
        if isinstance(node, _Statement):
            around = self._within(node, around)
        self._known[node] = around
        inside, within = around, scope
        match node:
            case (
                ast.ClassDef(name=name)
                | ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
            ):
                within = f"{scope}.{name}".removeprefix(".")
                if not isinstance(node, ast.ClassDef):
                    inside = replace(around, function=within, always=False)
            case (
                ast.If()
                | ast.For()
                | ast.AsyncFor()
                | ast.While()
                | ast.Match()
                | ast.Try()
                | ast.TryStar()
            ):
                around = replace(around, always=False)
        body = {*getattr(node, "body", [])} if within != scope else set[ast.AST]()
        doubtful = _doubtful_children(node)
        for child in child_nodes(node):
            place, own = (inside, within) if child in body else (around, scope)
            yield child, place.doubted() if child in doubtful else place, own


def executed_in_run(text: str, lines: frozenset[int]) -> Ran:
    """What a run that came to these lines executed. Nothing where the text does not parse."""
    try:
        places = Places(ast.parse(text), text)
    except (SyntaxError, ValueError, RecursionError):
        return Ran()
    did: set[tuple[str, str]] = set()
    did_not: set[tuple[str, str]] = set()
    for place, own in places.statements():
        (did if lines.intersection(own) else did_not).add((place.statement, place.function))
    came, beside = (frozenset(function for _, function in each) for each in (did, did_not))
    return Ran(frozenset(did - did_not), came, beside - came)


def _doubtful_children(node: ast.AST) -> Sequence[ast.AST]:
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
            return child_nodes(node)
        case ast.With(body=body) | ast.AsyncWith(body=body):
            return body  # what a context manager does with an exception is not known
    return []


def _head(node: _Statement, lines: list[str]) -> str:
    first, last = _own_lines(node)
    own = [line.strip() for line in lines[first - 1 : last]]
    while own and (not own[-1] or own[-1].startswith("#")):
        own.pop()  # above the block
    return "\n".join(own)


def _own_lines(node: _Statement) -> tuple[int, int]:
    """The first and the last line of a statement without its blocks."""
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
