"""Declarations that took the place of others, told apart: what went away can come back beside what came.

A replacement of ``int want_libs;`` by ``int want_flags;`` is one hunk of a diff. To have the old variable back one
must not lose the new one, with all who use it: a variant needs few other changes where it may keep both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, pairwise

from tree_sitter import Node

from afterd.model.location import LineSpan
from afterd.vcs.c_reader import TYPES, node_text, syntax_tree
from afterd.vcs.hunks import Hunk, span_after

_CONDITIONALS = frozenset({"preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif"})
_GLOBAL = _CONDITIONALS | {"translation_unit", "declaration_list"}
_MEMBERS = "field_declaration_list"
_BLOCKS = frozenset({"compound_statement", "ERROR"})
"""Where statements may stand: of what is not understood, nobody knows what it is in."""
_MACROS = frozenset({"preproc_def", "preproc_function_def"})
_DECLARING = frozenset({"declaration", "type_definition", "field_declaration"})
_WITHOUT_NAME = frozenset({"comment", "preproc_include", ";"})
_CUT = frozenset({"#"})
"""The name of what goes on beyond the lines that are asked for."""
_WORD = re.compile(rb"[A-Za-z_]\w*")
_ACTING = frozenset({"call_expression", "assignment_expression", "update_expression"})


@dataclass(frozen=True, slots=True)
class Declared:
    """The names of a declaration, and the end of its rows, counted from 0: what stands before it is its own.
    ``is_told``: that it is one, and declares these names, was understood.
    """

    names: frozenset[str]
    end: int
    is_told: bool

    def behind(self, other: Declared) -> Declared:
        """Both as one."""
        told = self.is_told and other.is_told
        return Declared(self.names | other.names, self.end, is_told=told)


class Declarations:
    """What is declared on lines of a C or C++ file."""

    def __init__(self, path: str, content: bytes) -> None:
        self._root = syntax_tree(path, content)

    def on(self, span: LineSpan) -> list[Declared] | None:
        """The declarations on some lines, in order; None where a statement stands there, or what is declared
        acts: a local variable that is given what a call returns. What is not understood outside of functions may
        declare any name in it.
        """
        first, last = span.start - 1, span.end - 2
        scope, inside = self._root, _within(self._root, first, last)
        while len(inside) == 1 and not _is_whole(inside[0], first, last):
            scope = inside[0]
            inside = _within(scope, first, last)
        found: list[Declared] = []
        for node in inside:
            told = _is_whole(node, first, last)
            if not told:
                names = None if scope.type in _BLOCKS else _CUT
            elif (names := _names(scope, node)) is None and scope.type in _GLOBAL:
                names, told = _words(node), False
            if names is None:
                return None
            one = Declared(names, min(_last_row(node), last) + 1, is_told=told)
            if found and (node.start_point[0] < found[-1].end or not found[-1].names):
                one = one.behind(found.pop())  # what has no name goes with what stands behind it
            found.append(one)
        return found


def apart(hunk: Hunk, good: Declarations, bad: Declarations) -> list[Hunk]:
    """A replacement of declarations, cut into those of the same names and what only one version has; itself where
    that cannot be told.
    """
    before, after = good.on(hunk.old), bad.on(hunk.new)
    if before is None or after is None:
        return [hunk]
    cut = [sum(each.names == _CUT for each in side) for side in (before, after)]
    told = (any(each.is_told and each.names for each in side) for side in (before, after))
    if cut[0] != cut[1] or not all(told):
        return [hunk]
    pairs = [
        (old, new)
        for old, one in enumerate(before)
        for new, other in enumerate(after)
        if one.names & other.names
    ]
    if any(a[0] == b[0] or a[1] >= b[1] for a, b in pairwise(pairs)):
        return [hunk]  # in another order, or one for several
    old_cuts = [hunk.old.start - 1, *(each.end for each in before[:-1]), hunk.old.end - 1]
    new_cuts = [hunk.new.start - 1, *(each.end for each in after[:-1]), hunk.new.end - 1]
    found: list[Hunk] = []
    old = new = 0
    for one, other in (*pairs, (len(before), len(after))):
        behind = new_cuts[new]
        if one > old:
            found.append(Hunk(_rows(old_cuts[old], old_cuts[one]), span_after(behind, 0)))
        if other > new:
            found.append(Hunk(span_after(old_cuts[one], 0), _rows(behind, new_cuts[other])))
        if one < len(before):
            here, there = _rows(*old_cuts[one : one + 2]), _rows(*new_cuts[other : other + 2])
            found.append(Hunk(here, there))
        old, new = one + 1, other + 1
    return found


def _rows(begin: int, end: int) -> LineSpan:
    return LineSpan(begin + 1, end - begin)


def _within(scope: Node, first: int, last: int) -> list[Node]:
    """The children of a node that have a part in some rows."""
    return [
        node for node in scope.children if node.start_point[0] <= last and _last_row(node) >= first
    ]


def _is_whole(node: Node, first: int, last: int) -> bool:
    return node.start_point[0] >= first and _last_row(node) <= last


def _last_row(node: Node) -> int:
    """The last row that holds a part of a node: that of a directive ends where the next row begins."""
    row, column = node.end_point
    return row - 1 if column == 0 and row > node.start_point[0] else row


def _names(scope: Node, node: Node) -> frozenset[str] | None:
    """What a node of a scope declares; None where it is no declaration."""
    if node.has_error:
        return None
    if node.type in _WITHOUT_NAME or _is_undefining(node):
        return frozenset()
    if node.type in _MACROS:
        return _texts(node.child_by_field_name("name"))
    if scope.type in {*_BLOCKS, _MEMBERS}:
        acts = scope.type in _BLOCKS and any(each.type in _ACTING for each in _all_below(node))
        return None if acts or node.type not in _DECLARING else _declared_names(node)
    if scope.type not in _GLOBAL:
        return None
    if node.type in _CONDITIONALS:
        return _guarded_names(node)
    if node.type in TYPES:
        return _type_names(node)
    return _declared_names(node) if node.type in {*_DECLARING, "function_definition"} else None


def _is_undefining(node: Node) -> bool:
    directive = node.child_by_field_name("directive") if node.type == "preproc_call" else None
    return directive is not None and directive.text == b"#undef"


def _guarded_names(conditional: Node) -> frozenset[str] | None:
    """What stands in a conditional; not what that asks."""
    asked = (
        conditional.child_by_field_name("name"),
        conditional.child_by_field_name("condition"),
    )
    out = {node.id for node in asked if node is not None}
    held = [_names(conditional, each) for each in conditional.named_children if each.id not in out]
    told = [names for names in held if names is not None]
    return frozenset(chain.from_iterable(told)) if len(told) == len(held) else None


def _declared_names(node: Node) -> frozenset[str] | None:
    """The names of a declaration's variables, functions or types, and of the type that it defines."""
    found = set[str]()
    kind = node.child_by_field_name("type")
    if kind is not None and kind.type in TYPES and kind.child_by_field_name("body"):
        found |= _type_names(kind)
    for declarator in node.children_by_field_name("declarator"):
        named = next((each for each in _all_below(declarator) if _is_name(each)), None)
        if named is None:
            return None
        found |= _texts(named)
    return frozenset(found) or None


def _is_name(node: Node) -> bool:
    """Whether it is an identifier; ``uint8_t`` is one, where that is what is defined."""
    return node.type.endswith("identifier") or node.type == "primitive_type"


def _type_names(node: Node) -> frozenset[str]:
    """A type's tag and its enumerators, which are names of the scope that it stands in."""
    enumerators = (each for each in _all_below(node) if each.type == "enumerator")
    return _texts(
        node.child_by_field_name("name"),
        *(each.child_by_field_name("name") for each in enumerators),
    )


def _words(node: Node) -> frozenset[str]:
    return frozenset(word.decode() for word in _WORD.findall(node.text or b""))


def _texts(*nodes: Node | None) -> frozenset[str]:
    return frozenset(node_text(node) for node in nodes if node is not None)


def _all_below(node: Node) -> Iterator[Node]:
    """A node and all below it, in the order of the text."""
    todo = [node]
    while todo:
        node = todo.pop()
        yield node
        todo += reversed(node.children)
