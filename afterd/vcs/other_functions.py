"""Lines that two functions of different names happen to share are changed lines like those around them.

Where a function gave way to another one, a difference pairs whatever lines both have (``while(TRUE) {``, ``return;``),
so its hunks hold parts of the one beside parts of the other, and none of them can be undone alone (md4c's autolinks,
written anew). Told apart, the one is deleted and the other is added. As git has it of files, a function that is more
like the other one was renamed; so was, in part, one that was taken out of it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from afterd.limits import GIT
from afterd.vcs.enclosing import Enclosing, Symbol
from afterd.vcs.hunks import Hunk, SourceText, span_after

_LETTER = re.compile(rb"\w")


@dataclass(frozen=True, slots=True)
class _Kept:
    """``count`` lines that stand in both texts, from behind line ``old`` and line ``new``."""

    old: int
    new: int
    count: int

    def as_changed(self) -> Hunk:
        """The lines, as if they had been deleted and written again."""
        return Hunk(span_after(self.old, self.count), span_after(self.new, self.count))


def without_accidents(
    hunks: Sequence[Hunk], good: SourceText, bad: SourceText, before: Enclosing, after: Enclosing
) -> list[Hunk]:
    """The hunks, with what two functions share that have little in common; those that touch are one. ``before`` and
    ``after`` tell what is around a line of either text.
    """
    shared: dict[tuple[Symbol, Symbol], list[_Kept]] = defaultdict(list)
    for kept in _kept_behind(hunks, good):
        one, other = before.symbol(kept.old + 1), after.symbol(kept.new + 1)
        if one is None or other is None or one.name == other.name:
            continue
        count = min(kept.count, one.end - kept.old, other.end - kept.new)
        shared[one, other].append(_Kept(kept.old, kept.new, count))
    accidents = [
        kept.as_changed()
        for (one, other), found in shared.items()
        if not _are_alike(one, other, found, good, bad)
        for kept in found
    ]
    return _put_together([*hunks, *accidents]) if accidents else [*hunks]


def _kept_behind(hunks: Sequence[Hunk], good: SourceText) -> Iterator[_Kept]:
    """What stands behind each hunk up to the next one."""
    ends = [*(_gap(hunk)[0] for hunk in hunks[1:]), len(good.lines)]
    for hunk, end in zip(hunks, ends, strict=False):
        old, new = _behind(hunk)
        if end > old:
            yield _Kept(old, new, end - old)


def _are_alike(
    one: Symbol, other: Symbol, shared: Sequence[_Kept], good: SourceText, bad: SourceText
) -> bool:
    """Whether a good part of the shorter one stands in the longer one."""
    common = sum(_weight(good.lines[kept.old : kept.old + kept.count]) for kept in shared)
    shorter = min(
        _weight(good.lines[one.start - 1 : one.end]),
        _weight(bad.lines[other.start - 1 : other.end]),
    )
    return 100 * common >= GIT.similar * shorter


def _weight(lines: Sequence[bytes]) -> int:
    """How many letters and digits lines have: brackets make nothing another's child."""
    return sum(len(_LETTER.findall(line)) for line in lines)


def _put_together(hunks: Sequence[Hunk]) -> list[Hunk]:
    """Hunks in the order of their lines, those that touch as one."""
    ordered = sorted(hunks, key=_gap)
    found = ordered[:1]
    for hunk in ordered[1:]:
        if _behind(found[-1]) == _gap(hunk):
            found[-1] = _joined(found[-1], hunk)
        else:
            found.append(hunk)
    return found


def _joined(one: Hunk, other: Hunk) -> Hunk:
    (old, new), (old_end, new_end) = _gap(one), _behind(other)
    return Hunk(span_after(old, old_end - old), span_after(new, new_end - new))


def _gap(hunk: Hunk) -> tuple[int, int]:
    """After how many lines of either text it begins."""
    old, new = hunk.old, hunk.new
    return (
        old.start - 1 if old.count else old.start,
        new.start - 1 if new.count else new.start,
    )


def _behind(hunk: Hunk) -> tuple[int, int]:
    """After how many lines of either text it is over."""
    old, new = _gap(hunk)
    return old + hunk.old.count, new + hunk.new.count
