"""Which changes altered the statement of a row, and which removed one of the good version."""

from __future__ import annotations

from collections.abc import Sequence

from afterd.model.change import Change, ChangeForm, ChangeId
from afterd.tracing.linemap import LineMap
from afterd.tracing.python.program import BLOCKS, FRAMES, Node
from afterd.tracing.python.runtime.rows import Kind
from afterd.tracing.python.trace import Trace

_OWN_LINES = frozenset({"arg", "alias", "keyword"})
_SILENT = frozenset({"AnnAssign", "Global", "Nonlocal", "Try", "TryStar", "TypeAlias"})


class Ties:
    """Ties by lines: a change belongs to what stands in its lines, in either version."""

    def __init__(self, changes: Sequence[Change], lines: LineMap) -> None:
        self._lines = lines
        self._renamed = {
            change.file: change.id for change in changes if change.form is ChangeForm.RENAMED
        }
        self._found: dict[tuple[Node, bool], tuple[ChangeId, ...]] = {}

    def of_row(self, trace: Trace, position: int) -> tuple[ChangeId, ...]:
        """The changes that altered what a row of the failing run recorded."""
        node = trace.node(position)
        if node is None:
            return ()
        if trace.kind(position) is Kind.ENTER and node.type == "Module":
            renamed = self._renamed.get(node.module.path)
            return (renamed,) if renamed else ()
        return self.of_node(node)

    def of_node(self, node: Node) -> tuple[ChangeId, ...]:
        """The changes in a node's own lines of the bad version."""
        return self._in(node, bad=True)

    def removed(self, node: Node) -> tuple[ChangeId, ...]:
        """The changes that removed or altered a node of the good version."""
        return self._in(node, bad=False)

    def _in(self, node: Node, *, bad: bool) -> tuple[ChangeId, ...]:
        found = self._found.get((node, bad))
        if found is None:
            changes_in = self._lines.changes_in_bad if bad else self._lines.changes_in_good
            path = node.module.path
            ids = [
                change for first, last in spans(node) for change in changes_in(path, first, last)
            ]
            found = self._found[node, bad] = tuple(dict.fromkeys(ids))
        return found


def spans(node: Node) -> list[tuple[int, int]]:
    """The lines that are a node's own: a compound statement's without its blocks.

    Parts of a statement over several lines are tied by their own lines where they have a row.
    A statement that leaves no row itself (``x: int`` in a class body, ``else:``) belongs to what
    encloses it.
    """
    if node.type == "Module":
        return []
    if node.type in _OWN_LINES:
        return [(node.line, node.end_line)]
    statement = node.statement
    if not _stands_for(node, statement):
        return [(node.line, node.end_line)]
    found = [header(statement)]
    if statement.type in FRAMES:
        found.extend(header(child) for child in statement["body"] if _is_silent(child))
    parent = statement.parent
    if parent is not None and parent.type in {"Try", "TryStar"} and parent["body"][0] is statement:
        found.append((parent.line, parent.line))
    return found


def _is_silent(statement: Node) -> bool:
    return statement.type in _SILENT and statement["value"] is None and statement["body"] is None


def header(statement: Node) -> tuple[int, int]:
    """First and last line of a statement without its blocks; decorators included."""
    first = statement.line
    decorators = statement["decorator_list"]
    if decorators:
        first = min(first, *(item.line for item in decorators))
    last = statement.end_line
    for name in BLOCKS:
        block = statement[name]
        if isinstance(block, list) and block:
            start = min(child.line for child in block)
            last = min(last, max(statement.line, start - 1 if start > statement.line else start))
            for child in block[:1]:
                if child["decorator_list"]:
                    top = min(item.line for item in child["decorator_list"])
                    last = min(last, max(statement.line, top - 1))
    return first, last


def _stands_for(node: Node, statement: Node) -> bool:
    """Whether a row at ``node`` is the row of its whole statement."""
    if node is statement or statement.line == header(statement)[1]:
        return True
    parent = node.parent
    if parent is statement:
        return node in (statement["value"], statement["test"], statement["exc"]) or bool(
            node["store"]
        )
    return False
