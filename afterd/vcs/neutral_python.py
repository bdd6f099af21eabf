"""Python hunks that leave the syntax tree of their file as it is."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from afterd.model.change import Change, ChangeId
from afterd.vcs.enclosing import parse_python
from afterd.vcs.hunks import split_lines, undone

SAME_TREE = "same syntax tree: only comments or layout differ"
MOST_PARSES = 64  # of one file
_LINE_NUMBERS = re.compile(rb"lineno|currentframe|getsource|stacklevel|__code__")
_COMMENT = re.compile(rb"#.*")


def neutral_in_python(
    good: bytes, bad: bytes, hunks: Sequence[Change], *, docstrings: bool
) -> Iterator[tuple[ChangeId, str]]:
    """The hunks whose reversal leaves the tree as it is, each with the reason.

    Docstrings belong to the tree unless ``docstrings`` is false. Neutral hunks stay in every
    variant, so it is checked as well that with them the good version has its own tree.
    """
    comparison = _Comparison(good, bad, docstrings=docstrings)
    visible = _LINE_NUMBERS.search(bad) is not None
    candidates = [
        hunk
        for hunk in hunks
        if comparison.is_plausible(hunk) and not (visible and hunk.old.count != hunk.new.count)
    ]
    neutral = comparison.neutral(candidates)
    kept = [hunk for hunk in hunks if hunk not in neutral]
    if neutral and comparison.leaves_bad(neutral) and comparison.makes_good(kept):
        for hunk in neutral:
            yield hunk.id, SAME_TREE


class _Comparison:
    """Trees of the bad file with hunks undone, against those of the two versions."""

    def __init__(self, good: bytes, bad: bytes, *, docstrings: bool) -> None:
        self._docstrings = docstrings
        self._good, self._bad = split_lines(good), split_lines(bad)
        self._good_shape, self._bad_shape = self._shape(good), self._shape(bad)
        self._parses = 0

    def is_plausible(self, hunk: Change) -> bool:
        """Whether the words of both sides agree, comments aside: a tree is only built for those."""
        if self._bad_shape is None or not self._docstrings:
            return self._bad_shape is not None
        old = self._good[hunk.old.start - 1 : hunk.old.end - 1] if hunk.old.count else []
        new = self._bad[hunk.new.start - 1 : hunk.new.end - 1] if hunk.new.count else []
        return _words(old) == _words(new)

    def neutral(self, hunks: Sequence[Change]) -> list[Change]:
        """Groups first, halves where a group is not neutral: a file that was only laid out anew
        costs two parses, not one a hunk.
        """
        if not hunks or self.leaves_bad(hunks):
            return list(hunks)
        middle = len(hunks) // 2
        return self.neutral(hunks[:middle]) + self.neutral(hunks[middle:]) if middle else []

    def leaves_bad(self, hunks: Sequence[Change]) -> bool:
        """Whether the bad file keeps its tree with ``hunks`` undone."""
        return self._undone(hunks) == self._bad_shape

    def makes_good(self, hunks: Sequence[Change]) -> bool:
        """Whether undoing just ``hunks`` gives the good file's tree."""
        return self._good_shape is not None and self._undone(hunks) == self._good_shape

    def _undone(self, hunks: Sequence[Change]) -> str | None:
        self._parses += 1
        if self._parses > MOST_PARSES:
            return None
        return self._shape(b"".join(undone(self._good, self._bad, hunks)))

    def _shape(self, content: bytes) -> str | None:
        module = parse_python(content)
        if module is None:
            return None
        if not self._docstrings:
            _drop_docstrings(module)
        try:
            return ast.dump(module)
        except RecursionError:
            return None


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
