"""Which changes altered how many arguments a function takes, or what it is given.

Undo one of them alone, and some call does not fit any more. Python says so where it comes to the call, and names the
function; where the call is made by a library (a callback, ``partial``), nothing else of the report does.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import lru_cache

from afterd.model.change import Change, ChangeId
from afterd.model.location import LineSpan
from afterd.trace.python.source.syntax import module_nodes
from afterd.trace.python.source.taken import called_functions

Texts = Callable[[Change], tuple[bytes, bytes]]
"""The text of a change's file in the good and in the bad version; empty where that has none."""
_OF_CLASSES = frozenset({"__init__", "__new__"})


def no_texts(_change: Change) -> tuple[bytes, bytes]:
    """The answer where no file can be read."""
    return b"", b""


def altered_arities(said: str, changes: Sequence[Change], texts: Texts) -> list[ChangeId]:
    """The changes to the parameters of the first function that is ``said`` not to be called as it must be, or to what
    it is given, by whoever calls it or hands it on; none where none altered that of any.
    """
    for function in called_functions(said):
        told = function[-1] not in _OF_CLASSES or len(function) > 1
        altered = [each.id for each in changes if told and _alters(each, function, *texts(each))]
        if altered:
            return altered
    return []


def _alters(change: Change, function: list[str], old: bytes, new: bytes) -> bool:
    return _overlaps(change.old, old, function) or _overlaps(change.new, new, function)


def _overlaps(span: LineSpan, text: bytes, function: list[str]) -> bool:
    taken = _lines_of_arguments(text, function[-1], function[-2] if len(function) > 1 else "")
    return span.count > 0 and not taken.isdisjoint(span.lines)


@lru_cache(maxsize=200)
def _lines_of_arguments(text: bytes, name: str, outer: str) -> frozenset[int]:
    """The lines on which the parameters of a function stand, or what is given to it or with it; of a constructor, what
    its class is called with.
    """
    called = outer if name in _OF_CLASSES else name
    lines: set[int] = set()
    for node in module_nodes(text):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name:
            lines.update(range(node.lineno, max(node.lineno + 1, node.body[0].lineno)))
        elif isinstance(node, ast.Call) and called in map(_word, (node.func, *node.args)):
            lines.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return frozenset(lines)


def _word(node: ast.expr) -> str:
    """What a name or an attribute is called."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
