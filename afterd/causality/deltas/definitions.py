"""Changes that only define what others use."""

from __future__ import annotations

import ast
import re
from pathlib import PurePosixPath
from textwrap import dedent

from afterd.causality.deltas.dependencies import Changes
from afterd.model.change import NOTHING, Change, ChangeForm, ChangeSet

_DEFINES = re.compile(r"(?:async\s+def|def|class|import|from)\b|@")
_NAMED = re.compile(r"\s*(?:async\s+def|def|class)\s+(\w+)")
_SAYS_NOTHING = re.compile(r"#|\"|'|\Z")
_EMPTY = frozenset({"list", "dict", "set", "tuple"})
"""Of which a call without arguments makes an empty one and does nothing else."""


def only_defines(change: Change) -> bool:
    """Whether it adds functions, classes or imports of Python, or a module, and nothing else: where what uses them is
    undone, it does nothing.
    """
    added = [line for line in change.lines("+") if line.strip()]
    if change.lines("-") or not added:
        return False
    if change.form is ChangeForm.ADDED:
        return change.file.endswith(".py")
    margin = min(len(line) - len(line.lstrip()) for line in added)
    outer = [line.strip() for line in added if len(line) - len(line.lstrip()) == margin]
    heads = [line for line in outer if not _SAYS_NOTHING.match(line)]
    return bool(heads) and all(map(_is_head, heads))


def only_gives_names(change: Change) -> bool:
    """Whether it adds nothing but statements that give names a value that no call works out: where the names are new,
    and what uses them is undone, it does nothing. That they are new is not looked at.
    """
    if change.lines("-"):
        return False
    try:
        body = ast.parse(dedent("\n".join(change.lines("+")))).body
    except (SyntaxError, ValueError, RecursionError):
        return False
    return bool(body) and all(map(_gives_names, body))


def users_by_name(defining: Change, changes: Changes) -> ChangeSet:
    """The changes that speak, in what they add, of functions, classes or a module that another one only adds; nothing
    where it adds something else, or where old text speaks of these names as well.
    """
    names = _defined_names(defining) if only_defines(defining) else frozenset[str]()
    if not names:
        return NOTHING
    word = _word_of(names)
    others = [
        change
        for change in changes.values()
        if change.id != defining.id and not _is_part(change, defining)
    ]
    if any(word.search(line) for change in others for line in change.lines("-")):
        return NOTHING
    return frozenset(change.id for change in others if any(map(word.search, change.lines("+"))))


def names_taken_away(*changes: Change) -> frozenset[str]:
    """The functions and classes of a module that changes of one file, in the order of their lines, take away, and
    nothing else; none where one is decorated, which may do more than define it, or where more stands beside them.
    """
    taken = [line for each in changes for line in each.lines("-") if line.strip()]
    hunks = all(each.form is ChangeForm.HUNK and not each.lines("+") for each in changes)
    files = {each.file for each in changes}
    if not taken or not hunks or len(files) > 1 or not files.pop().endswith(".py"):
        return frozenset()
    outer = [line for line in taken if not line[0].isspace()]
    heads = [line for line in outer if not _SAYS_NOTHING.match(line) and line[0] not in ")]}"]
    named = [found for found in map(_NAMED.match, heads) if found]
    if taken[0] not in heads or len(named) < len(heads):
        return frozenset()
    return frozenset(found[1] for found in named)


def former_users(names: frozenset[str], changes: Changes) -> ChangeSet:
    """The changes whose old text speaks of some names, without what only takes these away."""
    word = _word_of(names)
    return frozenset(
        each.id
        for each in changes.values()
        if any(map(word.search, each.lines("-"))) and not names_taken_away(each) & names
    )


def _word_of(names: frozenset[str]) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(names)))})\b")


def _is_part(change: Change, whole: Change) -> bool:
    return whole.form is ChangeForm.ADDED and change.file == whole.file


def _defined_names(change: Change) -> frozenset[str]:
    """The names of the functions and classes at its margin, or of the module."""
    if change.form is ChangeForm.ADDED:
        path = PurePosixPath(change.file)
        return frozenset({path.parent.name if path.stem == "__init__" else path.stem} - {""})
    added = [line for line in change.lines("+") if line.strip()]
    margin = min((len(line) - len(line.lstrip()) for line in added), default=0)
    heads = (_NAMED.match(line) for line in added if len(line) - len(line.lstrip()) == margin)
    return frozenset(head[1] for head in heads if head)


def _is_head(line: str) -> bool:
    """Whether a line begins a definition, or ends the head or the brackets of one."""
    return bool(_DEFINES.match(line)) or line[0] in ")]}"


def _gives_names(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Assign):
        targets, value = statement.targets, statement.value
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
        targets, value = [statement.target], statement.value
    else:
        return False
    return all(isinstance(each, ast.Name) for each in targets) and not any(
        map(_acts, ast.walk(value))
    )


def _acts(node: ast.AST) -> bool:
    """Whether to work out a part of an expression may do something besides."""
    if isinstance(node, ast.Call):
        empty = isinstance(node.func, ast.Name) and node.func.id in _EMPTY
        return not (empty and not node.args and not node.keywords)
    return isinstance(node, ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr)
