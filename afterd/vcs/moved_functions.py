"""What was altered in a function that moved within its file: the move is one thing, and what differs in it another.

A difference of texts has no word for a move: a function that stands a hundred lines farther down was taken out in one
place and put in at another, whatever was altered in it. Compared with what was taken out, only what was written anew
is left: hunks inside the one that put the function in, each of which can be undone while the function stays where
it is. Where the outer one is undone, they are gone with it. A function that takes other parameters now was written
anew: its parts do not go with its callers (md4c's autolinks: 27 runs for the whole, 38 for its parts).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from afterd.limits import GIT
from afterd.model.location import LineSpan
from afterd.vcs.between_hunks import letters_in, runs_between
from afterd.vcs.enclosing import Enclosing
from afterd.vcs.hunks import Hunk, SourceText, difference, span_after


@dataclass(frozen=True, slots=True)
class _Definition:
    """Behind ``begin`` lines of a text, up to line ``end``: all of it lines of one side of a hunk, from behind
    ``first`` up to ``last``.
    """

    hunk: Hunk
    begin: int
    end: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class MovedFunction:
    """Lines ``old`` of the good text, a function, that stand as lines ``new`` of the bad one, put in there by a hunk
    of which they are a part; and what differs between them.
    """

    put_in_by: Hunk
    old: LineSpan
    new: LineSpan
    hunks: Sequence[Hunk]
    letters: int
    """How many letters and digits stand in both."""


def altered_in_moved(
    hunks: Sequence[Hunk], good: SourceText, bad: SourceText, before: Enclosing, after: Enclosing
) -> Mapping[Hunk, list[Hunk]]:
    """By the hunk that put a function in which another one of the file took out, the hunks between its texts and
    around it: every line of the outer hunk that stands in none of these was moved.
    """
    found: dict[Hunk, tuple[int, list[Hunk]]] = {}
    for function in moved_functions(hunks, good, bad, before, after):
        outer, inside = function.put_in_by, _hunks_inside(function)
        if function.letters > found.get(outer, (0, []))[0] and inside:
            found[outer] = function.letters, inside
    return {hunk: inside for hunk, (_, inside) in found.items()}


def moved_functions(
    hunks: Sequence[Hunk], good: SourceText, bad: SourceText, before: Enclosing, after: Enclosing
) -> Iterator[MovedFunction]:
    """The functions that one hunk of a file took out and another one put in; those of which too little is as it was
    left out. ``before`` and ``after`` tell what is around a line of either text.
    """
    old = {hunk: _lines(hunk.old, good) for hunk in hunks}
    new = {hunk: _lines(hunk.new, bad) for hunk in hunks}
    shared = set[bytes]().union(*old.values()) & set[bytes]().union(*new.values())
    if letters_in([*shared]) < GIT.moved_block:
        return
    taken = _of_one_name(((hunk, hunk.old) for hunk in hunks if shared & old[hunk]), before)
    put = _of_one_name(((hunk, hunk.new) for hunk in hunks if shared & new[hunk]), after)
    for name, there in put.items():
        here = taken.get(name)
        if here is None or here.hunk == there.hunk or _head(here, good) != _head(there, bad):
            continue
        function = _compared(*_with_like_lines(here, there, good, bad), good, bad)
        if function is not None:
            yield function


def _lines(span: LineSpan, text: SourceText) -> set[bytes]:
    return set(text.lines[span.before : span.before + span.count])


def _of_one_name(
    sides: Iterable[tuple[Hunk, LineSpan]], symbols: Enclosing
) -> Mapping[str, _Definition]:
    """The definitions that lie within one side of a hunk, of each name that only one of them has."""
    found: dict[str, _Definition | None] = {}
    for hunk, span in sides:
        line = span.before + 1
        while line <= (last := span.before + span.count):
            symbol = symbols.symbol(line)
            if symbol is None or symbol.start < line or symbol.end > last:
                line += 1
                continue
            whole = _Definition(hunk, symbol.start - 1, symbol.end, span.before, last)
            found[symbol.name] = None if symbol.name in found else whole
            line = symbol.end + 1
    return {name: whole for name, whole in found.items() if whole is not None}


def _head(whole: _Definition, text: SourceText) -> list[bytes]:
    """The lines of a definition up to the one that its body begins on, or behind."""
    lines = text.lines[whole.begin : whole.end]
    ends = (at for at, line in enumerate(lines) if b"{" in line or line.rstrip().endswith(b":"))
    return lines[: next(ends, len(lines)) + 1]


def _with_like_lines(
    here: _Definition, there: _Definition, good: SourceText, bad: SourceText
) -> tuple[_Definition, _Definition]:
    """Both definitions with what stands around either of them alike: its comment, a blank line."""
    above = below = 0
    while (
        here.begin - above > here.first
        and there.begin - above > there.first
        and good.lines[here.begin - above - 1] == bad.lines[there.begin - above - 1]
    ):
        above += 1
    while (
        here.end + below < here.last
        and there.end + below < there.last
        and good.lines[here.end + below] == bad.lines[there.end + below]
    ):
        below += 1
    both = (replace(each, begin=each.begin - above, end=each.end + below) for each in (here, there))
    return next(both), next(both)


def _compared(
    here: _Definition, there: _Definition, good: SourceText, bad: SourceText
) -> MovedFunction | None:
    """One function's two texts beside each other; None where too little is as it was."""
    old, new = good.lines[here.begin : here.end], bad.lines[there.begin : there.end]
    differing = difference(b"".join(old), b"".join(new))
    runs = runs_between(differing, (len(old), len(new)))
    moved = sum(letters_in(new[run.new : run.ends[1]]) for run in runs)
    shorter = min(letters_in(old), letters_in(new))
    if moved < GIT.moved_block or 100 * moved < GIT.similar * shorter:
        return None
    hunks = [
        Hunk(
            span_after(here.begin + hunk.old.before, hunk.old.count),
            span_after(there.begin + hunk.new.before, hunk.new.count),
        )
        for hunk in differing
    ]
    before = span_after(here.begin, here.end - here.begin)
    after = span_after(there.begin, there.end - there.begin)
    return MovedFunction(there.hunk, before, after, hunks, moved)


def _hunks_inside(function: MovedFunction) -> list[Hunk]:
    """What differs in a function, with what stands before and behind it in the hunk that put it in; nothing where
    nothing differs, or where one would stand at that hunk's edge.
    """
    outer, found = function.put_in_by.new, list(function.hunks)
    if not found:
        return []
    first, last = outer.before, outer.before + outer.count
    begin, end = function.new.before, function.new.before + function.new.count
    before = function.old.before
    if above := begin - first:
        found.insert(0, Hunk(span_after(before, 0), span_after(first, above)))
    if below := last - end:
        found.append(Hunk(span_after(before + function.old.count, 0), span_after(end, below)))
    return found if all(hunk.new.is_inside(outer) for hunk in found) else []
