"""By which names a value is known: ``__contains__ = __call__ = fail``.

A name more is another way to reach a function, often one that no code says: Python itself looks
``__contains__`` up.
"""

from __future__ import annotations

from collections.abc import Iterator

from afterd.tracing.python.matching import Matching
from afterd.tracing.python.program import FUNCTIONS, Node


def targets(value: Node) -> frozenset[str]:
    """The plain names that an assigned expression is bound to."""
    statement = value.statement
    if value is not statement["value"]:
        return frozenset()
    bound = statement["targets"] or []
    return frozenset(str(each["id"]) for each in bound if each.type == "Name")


def is_special(name: str) -> bool:
    """Whether Python itself looks a name up, in a class."""
    return name.startswith("__") and name.endswith("__")


def other_names(function: Node, matching: Matching) -> Iterator[Node]:
    """Where a function is bound to names beside its own, in its class or module, that its
    counterpart of the other version is not bound to there.
    """
    scope = function.parent["body"] if function.parent is not None else None
    if function.type not in FUNCTIONS or not isinstance(scope, list):
        return
    for statement in scope:
        value = statement["value"] if statement.type == "Assign" else None
        if isinstance(value, Node) and value.type == "Name" and value["id"] == function["name"]:
            twin = matching.good.get(value)
            if twin is None or targets(value) - targets(twin):
                yield value
