"""Hunks of which each leaves as many brackets open as what it replaced, where these stand beside each other.

A rewritten function shares blank lines and closing brackets with what stood there, so its difference is cut at
them, and one part may close what another one opens. None of these can be undone alone, and whoever took the old lines
away may have made no new one beside them (libuv's loop in uv__write). They are one change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from afterd.model.location import LineSpan
from afterd.vcs.hunks import Hunk, SourceText, span_after

_WORD = re.compile(rb"\w")


def balanced(hunks: Sequence[Hunk], good: SourceText, bad: SourceText) -> Iterator[Hunk]:
    """The hunks, those joined that close each other's brackets and have only brackets and blank lines between them."""
    first = 0
    while first < len(hunks):
        last = _closing(hunks, first, good, bad)
        yield _joined(hunks[first], hunks[last])
        first = last + 1


def _closing(hunks: Sequence[Hunk], first: int, good: SourceText, bad: SourceText) -> int:
    """Which hunk closes the brackets that the first one opens; the first where it opens none, or none does."""
    opened = _opened(hunks[first], good, bad)
    last = first
    while opened:
        last += 1
        if last == len(hunks) or _parted(hunks[last - 1], hunks[last], bad):
            return first
        opened += _opened(hunks[last], good, bad)
    return last


def _parted(one: Hunk, other: Hunk, bad: SourceText) -> bool:
    """Whether a word stands between two hunks."""
    return any(map(_WORD.search, bad.lines[one.new.before + one.new.count : other.new.before]))


def _opened(hunk: Hunk, good: SourceText, bad: SourceText) -> int:
    """How many brackets more the old lines leave open than the new ones; none where that cannot be told."""
    before, after = good.layout, bad.layout
    if before is None or after is None:
        return 0
    old, new = hunk.old.before, hunk.new.before
    left = before.depth[old + hunk.old.count] - before.depth[old]
    return left - (after.depth[new + hunk.new.count] - after.depth[new])


def _joined(one: Hunk, other: Hunk) -> Hunk:
    """Both, with what stands between them."""
    if one is other:
        return one
    return Hunk(_span(one.old, other.old), _span(one.new, other.new))


def _span(one: LineSpan, other: LineSpan) -> LineSpan:
    begin = one.before
    return span_after(begin, other.before + other.count - begin)
