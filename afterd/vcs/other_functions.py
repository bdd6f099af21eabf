"""Lines that two functions of different names happen to share are changed lines like those around them.

Where a function gave way to another one, a difference pairs whatever lines both have (``while(TRUE) {``, ``return;``),
so its hunks hold parts of the one beside parts of the other, and none of them can be undone alone (md4c's autolinks,
written anew). Told apart, the one is deleted and the other is added. As git has it of files, a function that is more
like the other one was renamed; so was, in part, one that was taken out of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from afterd.limits import GIT
from afterd.vcs.between_hunks import Run, letters_in, runs_between
from afterd.vcs.enclosing import Enclosing, Symbol
from afterd.vcs.hunks import Hunk, SourceText, span_after


def without_accidents(
    hunks: Sequence[Hunk], good: SourceText, bad: SourceText, before: Enclosing, after: Enclosing
) -> list[Hunk]:
    """The hunks, with what two functions share that have little in common; those that touch are one. ``before`` and
    ``after`` tell what is around a line of either text.
    """
    shared: dict[tuple[Symbol, Symbol], list[Run]] = defaultdict(list)
    for run in runs_between(hunks, (len(good.lines), len(bad.lines))):
        one, other = before.symbol(run.old + 1), after.symbol(run.new + 1)
        if not (run.old or run.new) or one is None or other is None or one.name == other.name:
            continue  # no hunk stands before the first lines
        count = min(run.count, one.end - run.old, other.end - run.new)
        shared[one, other].append(Run(run.old, run.new, count))
    accidents = [
        Hunk(span_after(run.old, run.count), span_after(run.new, run.count))
        for (one, other), found in shared.items()
        if not _are_alike(one, other, found, good, bad)
        for run in found
    ]
    return _put_together([*hunks, *accidents]) if accidents else [*hunks]


def _are_alike(
    one: Symbol, other: Symbol, shared: Sequence[Run], good: SourceText, bad: SourceText
) -> bool:
    """Whether a good part of the shorter one stands in the longer one."""
    common = sum(letters_in(good.lines[run.old : run.ends[0]]) for run in shared)
    shorter = min(
        letters_in(good.lines[one.start - 1 : one.end]),
        letters_in(bad.lines[other.start - 1 : other.end]),
    )
    return 100 * common >= GIT.similar * shorter


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
    return hunk.old.before, hunk.new.before


def _behind(hunk: Hunk) -> tuple[int, int]:
    """After how many lines of either text it is over."""
    old, new = _gap(hunk)
    return old + hunk.old.count, new + hunk.new.count
