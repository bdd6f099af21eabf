"""Changes that leave what a program does as it was: its layout, and what its functions annotate.

A release that writes ``list[str]`` for ``t.List[str]`` touches every other definition, and each of them
stands in the causes. A change of layout alone may have been kept because a line number can be seen.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from textwrap import dedent
from types import MappingProxyType

from afterd.model.change import Change, ChangeForm, ChangeId
from afterd.trace.python.read import Module
from afterd.vcs.enclosing import parse_python
from afterd.vcs.same_tree import laid_out_anew, shifting_seen_lines

Texts = Mapping[tuple[str, str], tuple[bytes, bytes]]
NO_TEXTS: Texts = MappingProxyType({})

READERS = frozenset(
    {"__annotations__", "annotation", "get_type_hints", "signature", "singledispatch"}
)
"""Who names one of these may do otherwise for an annotation."""
_AS_STATEMENTS = "{}"
_OF_FUNCTIONS = ("{}\n    pass", "def _(\n{}\n): pass")
"""A header without its body; some of its parameters."""


def relaid(
    changes: Iterable[Change], texts: Texts = NO_TEXTS, *, annotations: bool
) -> frozenset[ChangeId]:
    """The changes of Python code that alter nothing but layout and, on demand, functions' annotations.

    ``texts``: both versions of the files that are known, by their names in each. Only what was kept because a line
    number can be seen is asked in them: all else was told from its file before.
    """
    hunks = [
        change
        for change in changes
        if change.form is ChangeForm.HUNK and change.file.endswith(".py")
    ]
    alone = frozenset(
        hunk.id
        for hunk in hunks
        if _is_same_program(_side(hunk, "-"), _side(hunk, "+"), annotations=annotations)
    )
    by_file: dict[tuple[str, str], list[Change]] = defaultdict(list)
    for hunk in hunks:
        by_file[hunk.old_file, hunk.file].append(hunk)
    inside = (
        laid_out_anew(good, bad, shifting_seen_lines(bad, by_file[files]), docstrings=True)
        for files, (good, bad) in texts.items()
    )
    return alone.union(hunk.id for those in inside for hunk in those)


def versions_read(
    changes: Iterable[Change], bad: Iterable[Module], good: Iterable[Module]
) -> Texts:
    """Both versions of the changed files of which modules were read."""
    files = {(change.old_file, change.file) for change in changes if change.file.endswith(".py")}
    there = _texts(good, {old for old, _ in files})
    here = _texts(bad, {new for _, new in files})
    return {
        (old, new): (there[old], here[new])
        for old, new in sorted(files)
        if old in there and new in here
    }


def _texts(modules: Iterable[Module], paths: Collection[str]) -> dict[str, bytes]:
    return {
        module.path: "\n".join(module.text).encode(errors="surrogateescape")
        for module in modules
        if module.path in paths
    }


def _is_same_program(old: str, new: str, *, annotations: bool) -> bool:
    """Whether both sides of a hunk are one program; False where they are none by themselves."""
    for form in (_AS_STATEMENTS, *(_OF_FUNCTIONS if annotations else ())):
        shapes = [_shape(form.format(text), annotations=annotations) for text in (old, new)]
        if None not in shapes:
            return shapes[0] == shapes[1]
    return False


def _shape(text: str, *, annotations: bool) -> str | None:
    """The syntax tree, on demand without functions' annotations; None where it does not parse."""
    tree = parse_python(text.encode(errors="surrogateescape"))
    if tree is None or not tree.body:
        return None
    return ast.dump(_Bare().visit(tree) if annotations else tree)


class _Bare(ast.NodeTransformer):
    """A tree without annotations of parameters and results. Those of variables stay: a dataclass is made
    of them.
    """

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)


def _side(change: Change, sign: str) -> str:
    return dedent("\n".join(change.lines(sign)))
