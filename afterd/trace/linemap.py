"""Lines of the bad version as lines of the good one, through the changes between them."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, takewhile

from afterd.model.change import Change, ChangeForm, ChangeId
from afterd.model.inside import outer_hunks
from afterd.model.location import LineSpan


@dataclass(frozen=True, slots=True)
class _Side:
    """The hunks of one file on the side that is mapped from."""

    spans: tuple[tuple[LineSpan, LineSpan, ChangeId], ...]  # (from, to, change), in line order
    ends: tuple[int, ...]  # the first line after each
    shift: int = 0  # of what stands before the first

    def line(self, number: int) -> int:
        """The corresponding line on the other side; inside a hunk the line of the same rank in it."""
        at = bisect_right(self.ends, number)
        if at < len(self.spans) and self.spans[at][0].covers(number):
            here, there, _ = self.spans[at]
            return _rank_is_inside(number - here.start, there)
        return number + (
            _first_after(self.spans[at - 1][1]) - self.ends[at - 1] if at else self.shift
        )


@dataclass(frozen=True, slots=True)
class _MovedRun:
    """Lines of the good version that stand in an added ``file`` of the bad one, from line ``new``."""

    old: LineSpan
    file: str
    new: int


@dataclass(frozen=True, slots=True)
class _Within:
    """Lines ``old`` of a file of the good version that stand as lines ``new`` in the same file of the bad one, where
    another change put them, and what was altered in them.
    """

    old: LineSpan
    new: LineSpan
    bad: _Side
    good: _Side


def _within(outer: Change, inside: Sequence[Change]) -> _Within:
    """What moved as the lines of ``outer``, of which ``inside`` are all that are not as they were."""
    bad, good = (_side(list(inside), forward=forward) for forward in (False, True))
    (first, before, _), (last, behind, _) = bad.spans[0], bad.spans[-1]
    shift = before.before - first.before
    begin = outer.new.before + shift
    end = outer.new.before + outer.new.count + _first_after(behind) - _first_after(last)
    old = LineSpan(begin + 1, end - begin)
    return _Within(old, outer.new, replace(bad, shift=shift), replace(good, shift=-shift))


_WithinFiles = Mapping[str, Sequence[_Within]]


def _within_by_file(
    changes: Sequence[Change], outer: Mapping[ChangeId, Change]
) -> tuple[_WithinFiles, _WithinFiles]:
    """What moved within each file, by its path in the bad version and in the good one."""
    inside: dict[Change, list[Change]] = defaultdict(list)
    for change in changes:
        if change.id in outer:
            inside[outer[change.id]].append(change)
    bad, good = defaultdict[str, list[_Within]](list), defaultdict[str, list[_Within]](list)
    for around, own in inside.items():
        found = _within(around, own)
        bad[around.file].append(found)
        good[around.old_file].append(found)
    return bad, good


def _moved_runs(file: str, side: _Side, lines: int) -> Iterator[_MovedRun]:
    """What lies between the hunks of an added file of so many lines."""
    ends = [*(here.start + (not here.count) for here, _, _ in side.spans[1:]), lines + 1]
    for (_, there, _), start, end in zip(side.spans, side.ends, ends, strict=True):
        yield _MovedRun(LineSpan(_first_after(there), end - start), file, start)


def _share_a_line(span: LineSpan, first: int, last: int) -> bool:
    return span.count > 0 and span.start <= last and first < span.end


def _first_after(span: LineSpan) -> int:
    """The first line after a span; an empty span stands after its start line."""
    return span.start + span.count if span.count else span.start + 1


def _rank_is_inside(rank: int, there: LineSpan) -> int:
    return there.start + min(rank, max(there.count - 1, 0))


class LineMap:
    """Maps (file, line) both ways, and says which changes a line belongs to. Changes that cannot
    matter move lines as others do, and are never named.
    """

    def __init__(self, changes: Sequence[Change]) -> None:
        by_bad: dict[str, list[Change]] = defaultdict(list)
        by_good: dict[str, list[Change]] = defaultdict(list)
        self._files: dict[str, str] = {}
        self._whole: dict[str, ChangeId] = {}
        self._whole_good: dict[str, ChangeId] = {}
        self._origins: dict[str, str] = {}
        added = {c.file: c.new.count for c in changes if c.form is ChangeForm.ADDED}
        outer = outer_hunks(changes)
        for change in changes:
            if change.id in outer:
                continue
            if change.form is ChangeForm.HUNK:
                by_bad[change.file].append(change)
                if change.file not in added:
                    by_good[change.old_file].append(change)
                elif change.file != change.old_file:
                    self._origins[change.file] = change.old_file
            elif change.form is ChangeForm.ADDED:
                self._whole[change.file] = _change_of_name(change)
            elif change.form is ChangeForm.DELETED:
                self._whole_good[change.old_file] = _change_of_name(change)
            stays = change.file not in added and change.form is not ChangeForm.DELETED
            if stays and change.file != change.old_file:
                self._files[change.file] = change.old_file
        self._bad = {file: _side(found, forward=False) for file, found in by_bad.items()}
        self._good = {file: _side(found, forward=True) for file, found in by_good.items()}
        self._within, self._within_good = _within_by_file(changes, outer)
        self._renamed = {old: new for new, old in self._files.items()}
        self._moved: dict[str, list[_MovedRun]] = defaultdict(list)
        self._replaced: dict[str, list[Change]] = defaultdict(list)
        for file, origin in self._origins.items():
            self._moved[origin] += _moved_runs(file, self._bad[file], added[file])
            self._replaced[origin] += by_bad[file]

    def file_in_good(self, file: str) -> str:
        """The path that a file of the bad version had in the good one."""
        return self._files.get(file, file)

    def to_good(self, file: str, line: int) -> tuple[str, int]:
        """The place in the good version that corresponds to a line of the bad one: of moved text, in the file
        that it was cut out of.
        """
        side = self._bad.get(file)
        path = self._origins.get(file) or self.file_in_good(file)
        for moved in self._within.get(file, ()):
            if moved.new.covers(line):
                return path, moved.bad.line(line)
        return path, side.line(line) if side else line

    def to_bad(self, file: str, line: int) -> tuple[str, int]:
        """The place in the bad version that corresponds to a line of the good one."""
        side = self._good.get(file)
        if not self._stays(file, line):
            for run in self._moved[file]:
                if run.old.covers(line):
                    return run.file, run.new + line - run.old.start
        for moved in self._within_good.get(file, ()):
            if moved.old.covers(line):
                return self._renamed.get(file, file), moved.good.line(line)
        return self._renamed.get(file, file), side.line(line) if side else line

    def _stays(self, file: str, line: int) -> bool:
        """Whether nothing of a file of the good version was moved, or its line stands in it still."""
        if file not in self._moved:
            return True
        side = self._good.get(file)
        renamed = file in self._renamed
        return renamed and not (side and _changes_touching(side, line, line))

    def changes_in_bad(self, file: str, first: int, last: int) -> tuple[ChangeId, ...]:
        """The changes that added or altered lines first…last of the bad version."""
        side = self._bad.get(file)
        if file in self._whole and side is None:
            return tuple(filter(None, (self._whole[file],)))
        if side is None:
            return ()
        within = [(moved.new, moved.bad) for moved in self._within.get(file, ())]
        return _touching_within(side, within, first, last)

    def is_kept(self, file: str, line: int) -> bool:
        """Whether a line of the bad version stands in the good one."""
        return not self.changes_in_bad(file, line, line)

    def was_kept(self, file: str, line: int) -> bool:
        """Whether a line of the good version stands in the bad one."""
        return not self.changes_in_good(file, line, line)

    def changes_in_good(self, file: str, first: int, last: int) -> tuple[ChangeId, ...]:
        """The changes that removed or altered lines first…last of the good version."""
        if not self._stays(file, first):
            replacing = [c for c in self._replaced[file] if _share_a_line(c.old, first, last)]
            if replacing:
                return tuple(filter(None, map(_change_of_name, replacing)))
            if any(_share_a_line(run.old, first, last) for run in self._moved[file]):
                return ()
        if file in self._whole_good:
            return tuple(filter(None, (self._whole_good[file],)))
        side = self._good.get(file)
        if side is None:
            return ()
        within = [(moved.old, moved.good) for moved in self._within_good.get(file, ())]
        return _touching_within(side, within, first, last)


def _side(changes: list[Change], *, forward: bool) -> _Side:
    spans = [
        (c.old, c.new, _change_of_name(c)) if forward else (c.new, c.old, _change_of_name(c))
        for c in changes
    ]
    spans.sort(key=lambda span: (_first_after(span[0]), _first_after(span[1])))
    return _Side(tuple(spans), tuple(_first_after(here) for here, _, _ in spans))


def _change_of_name(change: Change) -> ChangeId:
    return "" if change.pruned else change.id


def _changes_touching(side: _Side, first: int, last: int) -> tuple[ChangeId, ...]:
    reached = islice(side.spans, bisect_right(side.ends, first), None)
    within = takewhile(lambda span: span[0].start <= last, reached)
    return tuple(change for here, _, change in within if change and here.count)


def _touching_within(
    side: _Side, within: Sequence[tuple[LineSpan, _Side]], first: int, last: int
) -> tuple[ChangeId, ...]:
    """The changes of lines first…last: of those that moved, what was altered in them."""
    found: dict[ChangeId, None] = {}
    for lines, own in sorted(within, key=lambda each: each[0]):
        if _share_a_line(lines, first, last):
            if first < lines.start:
                found |= dict.fromkeys(_changes_touching(side, first, lines.start - 1))
            inner = max(first, lines.start), min(last, lines.end - 1)
            found |= dict.fromkeys(_changes_touching(own, *inner))
            first = lines.end
    if first <= last:
        found |= dict.fromkeys(_changes_touching(side, first, last))
    return tuple(found)


class Reversed:
    """A line map seen from the good version."""

    def __init__(self, lines: LineMap) -> None:
        self.to_good = lines.to_bad
        self.to_bad = lines.to_good
        self.is_kept = lines.was_kept


_OPENED, _CLOSED = tuple("([{"), tuple(")]}")


def one_line_of(lines: Iterable[str]) -> str:
    """Lines of one statement as a person would write it on one; comments of their own left out."""
    found = ""
    for line in map(str.strip, lines):
        if line and not line.startswith("#"):
            if line.startswith(_CLOSED):
                found = found.removesuffix(",")
            close = not found or found.endswith(_OPENED) or line.startswith(_CLOSED)
            found += line if close else f" {line}"
    return found
