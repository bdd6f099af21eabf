"""Tables of numbers that were handed around: one change, however many lines of it differ (C and C++).

A tool that numbers opcodes or tokens anew moves each number behind a new one. Of such a table no part can be undone:
two names would have one number. It is recognised by what stands there and by nothing else: lines that each give a name
an integer (``#define NAME 7``, ``NAME = 7,``), and a name's number that is another one's now.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby

from afterd.model.location import LineSpan
from afterd.vcs.hunks import Hunk, span_after

_NUMBERED = re.compile(
    rb"\s*(?:#\s*define\s+(?P<macro>\w+)\s+|(?P<item>\w+)\s*=\s*)"
    rb"\(?(?P<number>-?(?:0[xX][0-9a-fA-F]+|[0-9]+))\)?\s*,?\s*(?:/[*/].*)?$"
)

_Table = tuple[int, int]
"""The rows of a table in its file, counted from 0: the first, and the one behind its last."""


class Renumbered:
    """What was renumbered between the lines of two versions of a file."""

    def __init__(self, good: Sequence[bytes], bad: Sequence[bytes]) -> None:
        self._good = _Tables(good)
        self._bad = _Tables(bad)

    def joined(self, hunks: Sequence[Hunk]) -> Iterator[tuple[Hunk, bool]]:
        """The hunks, top to bottom, where those of one renumbered table are one; with whether each is such a table."""
        for tables, inside in groupby(hunks, self._tables):
            several = list(inside)
            if tables is not None and self._is_renumbered(*tables):
                yield _from_to(several[0], several[-1]), True
            else:
                yield from ((hunk, False) for hunk in several)

    def _tables(self, hunk: Hunk) -> tuple[_Table, _Table] | None:
        """The tables of both versions that a hunk stands in; None where it stands in none."""
        old, new = self._good.around(hunk.old), self._bad.around(hunk.new)
        return None if old is None or new is None else (old, new)

    def _is_renumbered(self, old: _Table, new: _Table) -> bool:
        """Whether a name has another number, and the one that it had is another name's now."""
        before, after = self._good.numbers(old), self._bad.numbers(new)
        taken = frozenset(after.values())
        return any(
            after.get(name, number) != number and number in taken for name, number in before.items()
        )


class _Tables:
    """The tables of one version of a file."""

    def __init__(self, lines: Sequence[bytes]) -> None:
        self._lines = lines

    def around(self, span: LineSpan) -> _Table | None:
        """The table that all lines of a span stand in; of an empty span the one that it is in or beside."""
        first = span.start - (span.count > 0)
        last = first + span.count
        if not all(map(_NUMBERED.match, self._lines[first:last])):
            return None
        place = bisect_right(self._all, (first, len(self._lines))) - 1
        beside = place >= 0 and self._all[place][1] >= first
        return self._all[place] if beside else None

    def numbers(self, table: _Table) -> Mapping[bytes, int]:
        """The number of each name."""
        found = filter(None, map(_NUMBERED.match, self._lines[slice(*table)]))
        return {each["macro"] or each["item"]: _number(each["number"]) for each in found}

    @cached_property
    def _all(self) -> list[_Table]:
        """Top to bottom; looked for once, and only where a change is of such lines."""
        found: list[_Table] = []
        rows = enumerate(self._lines)
        for numbered, run in groupby(rows, lambda row: bool(_NUMBERED.match(row[1]))):
            places = [place for place, _ in run]
            if numbered:
                found.append((places[0], places[-1] + 1))
        return found


def _number(text: bytes) -> int:
    """What a C literal says; an octal one is read as a decimal one, as it is only compared with others."""
    return int(text, 16 if b"x" in text.lower() else 10)


def _from_to(first: Hunk, last: Hunk) -> Hunk:
    return Hunk(_span_from_to(first.old, last.old), _span_from_to(first.new, last.new))


def _span_from_to(first: LineSpan, last: LineSpan) -> LineSpan:
    before = first.start - (first.count > 0)
    return span_after(before, last.start - (last.count > 0) + last.count - before)
