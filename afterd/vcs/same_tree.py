"""Python hunks that leave the syntax tree of their file as it is, or annotate variables of functions otherwise.

An annotation within a function is never evaluated, whatever it stands at (PEP 526), so it is no part of a tree here.
A file is taken a run of top-level statements at a time: those that a hunk touches are parsed with it undone, the rest
of the file is not. Each run is a module of its own, and what is not one counts as another tree, so that runs of equal
trees make files of equal trees.
"""

from __future__ import annotations

import ast
import re
import tokenize
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO

from afterd.limits import GIT
from afterd.model.change import Change, ChangeId
from afterd.model.location import LineSpan
from afterd.vcs.enclosing import first_line, parse_python
from afterd.vcs.hunks import split_lines, undone_lines

SAME_TREE = "same syntax tree: only comments or layout differ"
LOCAL_ANNOTATIONS = "only annotations within functions differ, which are never evaluated"
_LINE_NUMBERS = re.compile(rb"lineno|currentframe|getsource|stacklevel|__code__")
_COMMENT = re.compile(rb"#.*")
_ANNOTATED = re.compile(rb"^\s+[\w.]+\s*:[^=\n]+", re.MULTILINE)
_COMPILED_BY_ANNOTATIONS = re.compile(rb"\b(?:cython|mypyc)\b")


def neutral_in_python(
    good: bytes, bad: bytes, hunks: Sequence[Change], *, docstrings: bool, added: bool = False
) -> Iterator[tuple[ChangeId, str]]:
    """The hunks whose reversal leaves the tree as it is, each with the reason.

    Docstrings belong to the tree unless ``docstrings`` is false. Neutral hunks stay in every
    variant, so it is checked as well that with them the good version has its own tree; an ``added`` file it
    does not have.
    """
    seen = {hunk.id for hunk in shifting_seen_lines(bad, hunks)}
    unseen = [hunk for hunk in hunks if hunk.id not in seen]
    names = {hunk.id for hunk in laid_out_anew(good, bad, unseen, docstrings=docstrings)}
    kept = [hunk for hunk in hunks if hunk.id not in names]
    files = _files(good, bad, docstrings=docstrings)
    if names and (added or files.make_good(kept)):
        for hunk in hunks:
            if hunk.id in names:
                laid_out = not docstrings or files.has_same_words(hunk)
                yield hunk.id, SAME_TREE if laid_out else LOCAL_ANNOTATIONS


def shifting_seen_lines(bad: bytes, hunks: Sequence[Change]) -> Sequence[Change]:
    """The hunks that move lines of a file which may show their numbers."""
    if _LINE_NUMBERS.search(bad) is None:
        return ()
    return [hunk for hunk in hunks if hunk.old.count != hunk.new.count]


def laid_out_anew(
    good: bytes, bad: bytes, hunks: Sequence[Change], *, docstrings: bool
) -> Sequence[Change]:
    """The hunks whose reversal leaves the bad version's tree as it is, though a line number may be another."""
    files = _files(good, bad, docstrings=docstrings)
    candidates = [hunk for hunk in hunks if files.is_plausible(hunk)]
    module = parse_python(bad) if candidates else None
    if module is None:
        return ()
    return [hunk for run in _runs(files, module, bad, candidates) for hunk in run.neutral()]


@dataclass(frozen=True, slots=True)
class _Files:
    """The lines of both versions. ``docstrings``, ``annotations``: whether these are part of a tree, the latter within
    functions.
    """

    good: Sequence[bytes]
    bad: Sequence[bytes]
    docstrings: bool
    annotations: bool

    def is_plausible(self, hunk: Change) -> bool:
        """Whether the words of both sides agree, comments and annotations aside: a tree is only built for those."""
        if not self.docstrings or self.has_same_words(hunk):
            return True
        return not self.annotations and any(
            _ANNOTATED.search(b"".join(lines)) for lines in self._sides(hunk)
        )

    def has_same_words(self, hunk: Change) -> bool:
        """Whether the words of both sides agree, comments aside."""
        old, new = self._sides(hunk)
        return _words(old) == _words(new)

    def _sides(self, hunk: Change) -> tuple[Sequence[bytes], Sequence[bytes]]:
        old = self.good[hunk.old.start - 1 : hunk.old.end - 1] if hunk.old.count else []
        new = self.bad[hunk.new.start - 1 : hunk.new.end - 1] if hunk.new.count else []
        return old, new

    def make_good(self, hunks: Sequence[Change]) -> bool:
        """Whether undoing just ``hunks`` gives the good file's tree."""
        shape = self.shape(self.good)
        return shape is not None and self.shape(undone_lines(self.good, self.bad, hunks)) == shape

    def shape(self, lines: Sequence[bytes]) -> str | None:
        """The tree of a text; None where there is none."""
        module = parse_python(b"".join(lines))
        if module is None:
            return None
        if not self.docstrings:
            _drop_docstrings(module)
        try:
            return ast.dump(
                module if self.annotations else _WithoutLocalAnnotations().visit(module)
            )
        except RecursionError:
            return None


def _files(good: bytes, bad: bytes, *, docstrings: bool) -> _Files:
    compiled = any(map(_COMPILED_BY_ANNOTATIONS.search, (good, bad)))
    return _Files(split_lines(good), split_lines(bad), docstrings, annotations=compiled)


@dataclass(slots=True)
class _Run:
    """Top-level statements of the bad version with the hunks in them, at their lines of the run.

    ``head``: what says how a file is encoded.
    """

    files: _Files
    lines: Sequence[bytes]
    hunks: Sequence[Change]
    own: Sequence[Change]
    head: Sequence[bytes]
    parses: int = 0
    shape: str | None = field(init=False)

    def __post_init__(self) -> None:
        self.shape = self.files.shape([*self.head, *self.lines])

    def neutral(self) -> list[Change]:
        """The hunks, as those of their file, that leave the run's tree."""
        if self.shape is None:
            return []
        found = self._neutral(range(len(self.own)))
        return [self.hunks[at] for at in found] if self._leaves(found) else []

    def _neutral(self, among: Sequence[int]) -> list[int]:
        """Groups first, halves where a group is not neutral: statements that were only laid out anew
        cost two parses, not one a hunk.
        """
        if not among or self._leaves(among):
            return list(among)
        middle = len(among) // 2
        return self._neutral(among[:middle]) + self._neutral(among[middle:]) if middle else []

    def _leaves(self, among: Sequence[int]) -> bool:
        self.parses += 1
        if self.parses > GIT.parses:
            return False
        undone = undone_lines(self.files.good, self.lines, [self.own[at] for at in among])
        return self.files.shape([*self.head, *undone]) == self.shape


def _runs(files: _Files, module: ast.Module, bad: bytes, hunks: Sequence[Change]) -> Iterator[_Run]:
    """The runs of statements that hunks touch, each with all that touch it."""
    begins = sorted({first_line(statement) for statement in module.body})[1:]
    borders = [0, *(line - 1 for line in begins), len(files.bad)]
    head = _encoding_line(bad)
    waiting: list[Change] = []
    last = -1  # the piece that the waiting hunks reach
    for hunk in sorted(hunks, key=lambda each: (each.new.start, each.new.count)):
        first, end = (
            bisect_right(borders, line - 1) - 1
            for line in (max(hunk.new.start, 1), max(hunk.new.end - 1, hunk.new.start, 1))
        )
        if waiting and first > last:
            yield _run_of(files, borders, waiting, last, head)
            waiting = []
        waiting.append(hunk)
        last = max(last, end)
    if waiting:
        yield _run_of(files, borders, waiting, last, head)


def _run_of(
    files: _Files, borders: Sequence[int], hunks: Sequence[Change], last: int, head: Sequence[bytes]
) -> _Run:
    start = borders[bisect_right(borders, max(hunks[0].new.start, 1) - 1) - 1]
    lines = files.bad[start : borders[min(last + 1, len(borders) - 1)]]
    own = [replace(hunk, new=LineSpan(hunk.new.start - start, hunk.new.count)) for hunk in hunks]
    return _Run(files, lines, tuple(hunks), own, head if start else ())


def _encoding_line(content: bytes) -> Sequence[bytes]:
    """A line that gives a text the encoding of a file, where that is not UTF-8."""
    try:
        encoding, _ = tokenize.detect_encoding(BytesIO(content).readline)
    except SyntaxError:
        return ()
    return () if encoding.startswith("utf-8") else (f"# coding: {encoding}\n".encode(),)


def _words(lines: Sequence[bytes]) -> bytes:
    return b"".join(b"".join(re.findall(rb"\w+", _COMMENT.sub(b"", line))) for line in lines)


def _drop_docstrings(module: ast.Module) -> None:
    for node in ast.walk(module):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                first.value.value = ""


class _WithoutLocalAnnotations(ast.NodeTransformer):
    """Gives values without an annotation within functions, but in those that say where a name is from: there an
    annotation may be an error.
    """

    def __init__(self) -> None:
        self._within = False

    def visit(self, node: ast.AST) -> ast.AST:
        """No expression holds a statement."""
        return node if isinstance(node, ast.expr) else super().visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        """A function's own statements, and those of functions in it."""
        told = any(isinstance(each, ast.Global | ast.Nonlocal) for each in ast.walk(node))
        return self._visited(node, within=not told)

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 - ast's own names

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """A class keeps what its fields are annotated with."""
        return self._visited(node, within=False)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """What is given; a name that is only annotated belongs to the function all the same."""
        if not self._within:
            return node
        if node.value is None:
            return ast.AnnAssign(node.target, ast.Constant(None), None, node.simple)
        return ast.Assign([node.target], node.value)

    def _visited(self, node: ast.stmt, *, within: bool) -> ast.AST:
        outside, self._within = self._within, within
        self.generic_visit(node)
        self._within = outside
        return node
