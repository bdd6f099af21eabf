"""What a module binds that nothing reads, and entries of a table that nobody can have looked up.

Which names does the code mention that ran? A constant that none of it reads did nothing.

Which entries of a table can have been looked up? A word that no run ever held was not.

A table of keywords is one value, and every change to it alters that. But who looks a word up holds it, or
has it in its text: a change of entries under other words did nothing, as far as the traces show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from afterd.model.change import ChangeId
from afterd.trace.python.read import FRAMES, Node, Trace, constant


def mentioned_names(trace: Trace) -> frozenset[str]:
    """Names and attributes that are read anywhere in a frame that was entered."""
    entered = dict.fromkeys(frame.node for frame in trace.frames)
    return frozenset(
        name for frame in entered for node in _own_nodes(frame) if (name := _read(node))
    )


def bound_by(node: Node) -> frozenset[str] | None:
    """The variables of a module that an assigned expression is bound to; None where it is no such."""
    statement = node.statement
    if node.frame.type != "Module" or node is not statement["value"]:
        return None
    targets = statement["targets"] or [statement["target"]]
    if not all(isinstance(each, Node) and each.type == "Name" for each in targets):
        return None
    return frozenset(str(each["id"]) for each in targets)


def _own_nodes(frame: Node) -> Iterator[Node]:
    """The nodes of a frame's own code, and what the definitions in it evaluate."""
    stack = list(frame.children())
    while stack:
        node = stack.pop()
        yield node
        body = node["body"] if node.type in FRAMES else None
        inside = body if isinstance(body, list) else [body]
        stack.extend(child for child in node.children() if child not in inside)


def _read(node: Node) -> str:
    if node["store"]:
        return ""
    match node.type:
        case "Name":
            return str(node["id"])
        case "Attribute":
            return str(node["attr"])
    return ""


ChangesOf = Callable[[Node], Iterable[ChangeId]]
"""The changes in a node's own lines."""


def strings(trace: Trace) -> frozenset[str]:
    """The strings that some row of a run recorded, and those in its modules that are no keys of tables."""
    held = {value for value in trace.raw.values if isinstance(value, str)}
    for module in trace.all_modules():
        nodes = module.nodes.values()
        held.update(text for node in nodes if not _is_key(node) and (text := _text(node)))
    return frozenset(held)


def not_looked_up(tables: Sequence[tuple[Node, ChangesOf]], held: frozenset[str]) -> set[ChangeId]:
    """The changes of nothing but entries under strings that are not ``held``.

    ``tables`` are the displays of one dictionary, in both versions.
    """
    keys: dict[ChangeId, list[Node]] = {}
    for table, changes in tables:
        for key, parts in _entries(table):
            for change in {change for part in parts for change in changes(part)}:
                keys.setdefault(change, []).append(key)
    return {
        change
        for change, under in keys.items()
        if all((text := _text(key)) and text not in held for key in under)
    }


def _entries(table: Node) -> Iterator[tuple[Node, tuple[Node, Node]]]:
    if table.type == "Dict":
        for key, value in zip(table["keys"], table["values"], strict=True):
            if isinstance(key, Node) and isinstance(value, Node):
                yield key, (key, value)


def _is_key(node: Node) -> bool:
    parent = node.parent
    return parent is not None and parent.type == "Dict" and node in parent["keys"]


def _text(node: Node) -> str:
    """A string that stands in the text; empty for anything else."""
    value = constant(node["value"]) if node.type == "Constant" else None
    return value if isinstance(value, str) else ""
