"""What spectra count: statements, blocks, edges, predicates and conditions of a module.

Blocks are straight runs of simple statements, and the heads of compound ones, named by the line of
their first; edges join them. Counts are sums of site counts, so an entity is known before any run
and each run only fills in numbers.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from afterd.trace.python.read import FRAMES, Module, Node, Trace
from afterd.trace.python.record.rows import Kind

_LOOPS = frozenset({"While", "For", "AsyncFor"})
_LEAVES = frozenset({"Return", "Raise", "Break", "Continue"})
# For each type the kind of its row, and the expression without which it is only marked.
_OWN_KIND = {
    "Assert": (Kind.TRUE, ""),
    "Return": (Kind.RETURN, "value"),
    "Raise": (Kind.RAISE, "exc"),
    "FunctionDef": (Kind.VALUE, ""),
    "AsyncFunctionDef": (Kind.VALUE, ""),
    "ClassDef": (Kind.VALUE, ""),
}
_TESTED = frozenset({"If", "While", "Assert", "IfExp"})


class EntityKind(StrEnum):
    """The kinds of program entities (design, section 2)."""

    STATEMENT = "statement"
    BLOCK = "block"
    EDGE = "edge"
    PREDICATE = "predicate"
    CONDITION = "condition"


@dataclass(frozen=True, slots=True)
class Count:
    """A number to look up: a site's, or how often its value was true or false."""

    site: int
    truth: bool | None = None


@dataclass(frozen=True, slots=True)
class Entity:
    """``label`` tells entities of one line apart: an edge's target line, a predicate's outcome.

    ``function`` is the qualified name of the function or class whose body this is part of.
    """

    kind: EntityKind
    file: str
    line: int
    label: str
    counts: tuple[Count, ...]
    function: str = ""


def entities(module: Module) -> Iterator[Entity]:
    """Everything that can be counted in a module."""
    statements = {node.line: node for node in module.nodes.values() if node.is_statement}
    names = {line: _function(node) for line, node in statements.items()}
    lines = sorted(names)
    for entity in _nameless(module):
        begun = lines[
            bisect_right(lines, entity.line) - 1
        ]  # a condition may be on a line of its own
        yield replace(entity, function=names[begun])


def _function(statement: Node) -> str:
    named = [node["name"] for node in statement.ancestors() if node.type in _NAMED]
    return ".".join(reversed(named))


_NAMED = frozenset({"FunctionDef", "AsyncFunctionDef", "ClassDef"})


def _nameless(module: Module) -> Iterator[Entity]:
    for node in module.nodes.values():
        if node.is_statement and node.type not in {"ExceptHandler", "match_case"}:
            yield Entity(EntityKind.STATEMENT, module.path, node.line, "", execution_counts(node))
        if node.type in _TESTED:
            yield from _predicate(node)
        if node.type in FRAMES and node.type != "Lambda":
            yield from _graph(node)


def _site(node: Node, kind: Kind) -> Count:
    return Count(Trace.site(node, kind))


def execution_counts(statement: Node) -> tuple[Count, ...]:
    """The counts whose sum says how often a statement was executed (begun, where it can fail)."""
    if statement.type in {"If", "While"}:
        return _site(statement, Kind.TRUE), _site(statement, Kind.FALSE)
    if statement.type in {"Try", "TryStar"}:
        return execution_counts(statement["body"][0])
    if statement.type in _OWN_KIND:
        kind, expression = _OWN_KIND[statement.type]
        plainly = not expression or statement[expression] is not None
        return (_site(statement, kind if plainly else Kind.MARK),)
    for name in ("value", "iter", "subject"):
        if statement[name] is not None:
            return (_site(statement[name], Kind.VALUE),)
    if statement.type in {"Import", "ImportFrom"}:
        return (_site(statement["names"][0], Kind.VALUE),)
    return (_site(statement, Kind.MARK),)


def _predicate(node: Node) -> Iterator[Entity]:
    path, test = node.module.path, node["test"]
    if node.type in {"If", "While"}:
        for kind, label in ((Kind.TRUE, "true"), (Kind.FALSE, "false")):
            counts = (_site(node, kind),)
            yield Entity(EntityKind.PREDICATE, path, test.line, label, counts)
    for position, part in enumerate(_conditions(test)):
        for truth in (True, False):
            label = f"{position}:{'true' if truth else 'false'}"
            counts = (Count(Trace.site(part, Kind.VALUE), truth),)
            yield Entity(EntityKind.CONDITION, path, part.line, label, counts)


def _conditions(test: Node) -> Iterator[Node]:
    """The operands of ``and`` and ``or``; a test without them is its own condition."""
    if test.type == "BoolOp":
        for part in test["values"]:
            if part.type == "BoolOp":
                yield from _conditions(part)
            else:
                yield part


def _graph(frame: Node) -> Iterator[Entity]:
    yield from _blocks(frame["body"], None, None)


def _blocks(body: Sequence[Node], follow: Node | None, loop: Node | None) -> Iterator[Entity]:
    """Blocks of a statement list and the edges that leave them; ``follow`` comes after the list."""
    first: Node | None = None  # of the straight run we are in
    for position, statement in enumerate(body):
        after = body[position + 1] if position + 1 < len(body) else follow
        simple = statement.type in _SIMPLE
        if first is None or not simple:
            path = statement.module.path
            yield Entity(EntityKind.BLOCK, path, statement.line, "", execution_counts(statement))
        first = (first or statement) if simple else None
        if first is not None:
            if position + 1 == len(body) or body[position + 1].type not in _SIMPLE:
                yield from _fallthrough(first, statement, after, loop)
        elif statement.type not in FRAMES:
            yield from _compound(statement, after, loop)


_SIMPLE = frozenset(
    {"Assign", "AugAssign", "AnnAssign", "Expr", "Return", "Raise", "Pass", "Break", "Continue"}
    | {"Import", "ImportFrom", "Delete", "Global", "Nonlocal"}
)


def _edge(source: Node, target: Node, counts: tuple[Count, ...]) -> Entity:
    return Entity(EntityKind.EDGE, source.module.path, source.line, str(target.line), counts)


def _fallthrough(
    first: Node, last: Node, after: Node | None, loop: Node | None
) -> Iterator[Entity]:
    target = loop if last.type == "Continue" else None if last.type in _LEAVES else after
    if target is not None and target.line != last.line:
        yield _edge(first, target, execution_counts(last))


def _compound(statement: Node, after: Node | None, loop: Node | None) -> Iterator[Entity]:
    inner = statement if statement.type in _LOOPS else loop
    back = statement if statement.type in _LOOPS else after
    if statement.type in {"If", "While", "For", "AsyncFor"}:
        yield _edge(statement, statement["body"][0], (_site(statement, Kind.TRUE),))
        otherwise = (statement["orelse"] or [after])[0]
        if otherwise is not None:
            yield _edge(statement, otherwise, (_site(statement, Kind.FALSE),))
    for name in ("body", "orelse", "finalbody"):
        block = statement[name]
        if isinstance(block, list) and block:
            yield from _blocks(
                block, back if name == "body" else after, inner if name == "body" else loop
            )
    for name in ("handlers", "cases"):
        for part in statement[name] or []:
            yield _edge(statement, part["body"][0], (_site(part, Kind.TRUE),))
            yield from _blocks(part["body"], after, loop)
