"""Which assignment called a method: ``a[k] = v`` calls ``__setitem__``, ``a.b = v`` a property's setter or
``__setattr__``, and neither leaves a row once it is done.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from afterd.trace.python.read.program import Node

_BY_ITEM = frozenset({"__setitem__", "__delitem__"})
_SEVERAL = frozenset({"Tuple", "List", "Starred"})
_BY_ATTRIBUTE = frozenset({"__setattr__", "__delattr__", "__set__"})


@dataclass(frozen=True, slots=True)
class Store:
    """What is assigned to, or deleted, and the expression that gives the value; None: it is a part of one."""

    target: Node
    assigned: Node | None

    def arguments(self, function: Node) -> tuple[Node | None, ...]:
        """What the parameters of a method that it called were given, by position; None: no expression."""
        owner, last = self.target["value"], self.assigned
        if self.target.type == "Subscript":
            return owner, self.target["slice"], last
        match str(function["name"]):
            case "__setattr__" | "__delattr__":
                return owner, None, last
            case "__set__":
                return None, owner, last
        return owner, last


def store_calling(kind: str, every: Sequence[Store], before: Node | None) -> Store | None:
    """The assignment to, or deletion of, something of this type that called a method: ``every`` is of the calling
    function, in the order of lines. It is in the statement that the caller came to last ``before`` it, else in the next
    one, as what reads names alone leaves no row; of several the first.
    """
    own = () if before is None else stores_of(before)
    if (found := next((each for each in own if each.target.type == kind), None)) is not None:
        return found
    line = 0 if before is None else before.line
    alike = [each for each in every if each.target.type == kind]
    return next((each for each in alike if each.target.line >= line), next(iter(alike), None))


def stores_in(function: Node) -> list[Store]:
    """What the statements of a function, or of a module, assign to, in the order of their lines."""
    own = (each for each in function.walk() if each.is_statement and each.frame is function)
    found = [store for statement in own for store in stores_of(statement)]
    return sorted(found, key=lambda store: store.target.line)


def assigned_to(target: Node) -> Node | None:
    """The value of the assignment of which a node is a target, or a part of one; None where it is none."""
    statement, whole = target.statement, target
    while whole.parent is not None and whole.parent.type in _SEVERAL:
        whole = whole.parent
    if whole not in (statement["target"], *(statement["targets"] or ())):
        return None
    value = statement["value"]
    return value if isinstance(value, Node) else None


def assigned_type(function: Node) -> str:
    """The type of what is assigned to where a function of this name is called; empty for any other function."""
    name = str(function["name"] or "")
    if name in _BY_ITEM:
        return "Subscript"
    setters = (
        each["attr"] in {"setter", "deleter"}
        for each in function["decorator_list"] or ()
        if each.type == "Attribute"
    )
    return "Attribute" if name in _BY_ATTRIBUTE or any(setters) else ""


def stores_of(statement: Node) -> Iterator[Store]:
    """What a statement assigns to, or deletes, in order."""
    match statement.type:
        case "Assign" | "Delete":
            for target in statement["targets"]:
                yield from _parts(target, statement["value"])
        case "AnnAssign" | "AugAssign":
            plainly = statement.type == "AnnAssign"
            yield Store(statement["target"], statement["value"] if plainly else None)
        case "For" | "AsyncFor":
            yield from _parts(statement["target"], None)
        case "With" | "AsyncWith":
            named = (item["optional_vars"] for item in statement["items"])
            yield from (part for name in named if name is not None for part in _parts(name, None))


def _parts(target: Node, assigned: Node | None) -> Iterator[Store]:
    """The targets of an assignment, each with what it is given where that is written as plainly."""
    if target.type not in {"Tuple", "List"}:
        yield Store(target, assigned)
        return
    parts = target["elts"]
    given = assigned["elts"] if assigned is not None and assigned.type in {"Tuple", "List"} else []
    alike = len(given) == len(parts) and not any(
        each.type == "Starred" for each in (*given, *parts)
    )
    for at, part in enumerate(parts):
        yield from _parts(part, given[at] if alike else None)
