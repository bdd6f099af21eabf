"""Which changes answer what a compiler, a linker or a text says against a variant.

A compiler's words are read for the lines that it shows, the names that it quotes and the files that it speaks
of (``complaint``); each is asked for among the changes that are not undone yet.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import PurePath

from afterd.causality.complaint import Complaint, added_lines, complaint, included_headers
from afterd.causality.deltas.dependencies import Changes, home, structural_order
from afterd.model.change import NOTHING, Change, ChangeForm, ChangeId, ChangeSet

_NAME = re.compile(r"[A-Za-z_]\w+")
_LETTER = re.compile(r"\b[A-Za-z]\b")
_GIVEN_UP = re.compile(
    r"^\w+Error: .*\((?P<file>[^\s()/]+\.py), line (?P<line>\d+)\)", re.MULTILINE
)

Brings = Callable[[frozenset[str]], ChangeSet]
"""The changes whose undoing brings definitions of some words back."""


def nothing_brought(words: frozenset[str]) -> ChangeSet:  # noqa: ARG001 - it answers a Brings' question
    """The answer for programs whose names nobody read."""
    return NOTHING


class Answers:
    """What the changes mention and write; ``names`` of each. ``proves``: what speaks against a variant is a
    compiler's word, not a text's. ``brings``: who has what nothing defines any more.
    """

    def __init__(self, changes: Changes, brings: Brings = nothing_brought, *, proves: bool) -> None:
        self._brings = brings
        self.names = {change.id: _names(change) for change in changes.values()}
        self.taken_away = {
            change.id: _names(change, "-") - _names(change, "+") for change in changes.values()
        }
        self._changes = changes
        self._proves = proves
        self._added = {change.id: added_lines(change) for change in changes.values()}
        self._includes = {change.id: included_headers(change) for change in changes.values()}
        self._spread = Counter(name for names in self.names.values() for name in names)

    @cached_property
    def _letters_gone(self) -> Mapping[ChangeId, frozenset[str]]:
        """The names of one letter that each change took away."""
        return {
            change.id: _names(change, "-", _LETTER) - _names(change, "+", _LETTER)
            for change in self._changes.values()
        }

    def asked_for(
        self, said: str, candidates: Sequence[ChangeId], reverted: ChangeSet
    ) -> ChangeSet:
        """What answers a complaint: where a file does not parse, what stands nearest to the cut."""
        beside = self._beside(said, candidates, reverted) or self._at_refused(said, candidates)
        if beside and complaint(said).unparsed:
            return beside
        return self._complained_of(said, candidates, reverted) or beside

    def _complained_of(
        self, said: str, candidates: Sequence[ChangeId], reverted: ChangeSet
    ) -> ChangeSet:
        """Those that wrote a line which is shown, include a header of the system that clashes, or want a file that is
        not there, or took it away, and those that took away the definition of a name; else those in a file with errors
        that mention a name in them (took it away, if it is one letter that nothing defines), or stand at the head of a
        function of that name; else the one that mentions most.
        """
        about = complaint(said)
        wrote = [c for c in candidates if self._added[c] & about.lines]
        wrote = wrote or [c for c in candidates if self._includes[c] & about.clashing]
        wrote = wrote or [c for c in candidates if about.missing and self._misses(c, about)]
        if answering := self._brings(about.unknown).intersection(candidates).union(wrote):
            return answering
        letters = {name for name in about.unknown if len(name) == 1}
        mentioning = [
            c
            for c in candidates
            if self.names[c] & about.names or (letters and self._letters_gone[c] & letters)
        ]
        near = [c for c in mentioning if about.is_in(self._changes[c].file)]
        if not self._proves:
            near = self._nearest(near, [c for c in reverted if self._mentions(c, about.names)])
        near += self._heads(candidates, about)
        if near or not mentioning:
            return frozenset(near)
        return frozenset([max(mentioning, key=lambda c: self.shared(c, about.names))])

    def _misses(self, change: ChangeId, about: Complaint) -> bool:
        """Whether a change took a file away that is not there, or wrote its name."""
        each = self._changes[change]
        if each.form is not ChangeForm.HUNK:
            return (each.file != each.old_file and about.lacks(each.old_file)) or (
                each.form is ChangeForm.DELETED and about.lacks(each.file)
            )
        names = {PurePath(file).name for file in about.missing}
        return any(name in line for line in each.lines("+") for name in names)

    def _mentions(self, change: ChangeId, names: frozenset[str]) -> bool:
        return bool(self.names.get(change, frozenset()) & names)

    def _nearest(self, candidates: list[ChangeId], to: Sequence[ChangeId]) -> list[ChangeId]:
        """Those that share most of where they stand: ``self`` is a name of every method."""
        homes = [home(self._changes[each]) for each in to if each in self._changes]
        shared = {
            c: max((_common_prefix(home(self._changes[c]), each) for each in homes), default=0)
            for c in candidates
        }
        most = max(shared.values(), default=0)
        return [c for c in candidates if shared[c] == most]

    def _heads(self, candidates: Iterable[ChangeId], about: Complaint) -> Iterator[ChangeId]:
        """The first change of each function that is named: it may be the one of its parameters."""
        seen: set[str] = set()
        for c in self._in_place(candidates):
            symbol = self._changes[c].symbol
            if symbol in about.names and symbol not in seen:
                seen.add(symbol)
                yield c

    def _beside(self, said: str, candidates: Sequence[ChangeId], reverted: ChangeSet) -> ChangeSet:
        """The nearest one in a file that does not parse: half a statement was undone."""
        files = complaint(said).files
        undone: dict[str, list[int]] = {}
        for each in (self._changes[c] for c in reverted if c in self._changes):
            undone.setdefault(each.file, []).append(each.new.start)
        places = {file: sorted(undone[file]) for file in files & undone.keys()}
        beside = {
            c: _distance(places[self._changes[c].file], self._changes[c].new.start)
            for c in candidates
            if self._changes[c].file in places
        }
        return frozenset([min(beside, key=lambda c: (beside[c], c))]) if beside else NOTHING

    def _at_refused(self, said: str, candidates: Sequence[ChangeId]) -> ChangeSet:
        """The nearest one to the line at which Python gave up a file that nothing was undone in: what was undone let
        the run come to it. Python tells the file by its last name alone, so of several of that name none is meant.
        """
        told = _GIVEN_UP.search(said)
        if told is None:
            return NOTHING
        here = {c: self._changes[c] for c in candidates}
        named = {
            c: each for c, each in here.items() if f"/{each.file}".endswith(f"/{told['file']}")
        }
        if len({each.file for each in named.values()}) != 1:
            return NOTHING
        line = int(told["line"])
        return frozenset([min(named, key=lambda c: (abs(named[c].new.start - line), c))])

    def shared(self, change: ChangeId, names: frozenset[str]) -> float:
        """How much a change has to do with the names: those that few changes mention count most."""
        return sum(1 / self._spread[name] for name in self.names[change] & names)

    def _in_place(self, identifiers: Iterable[ChangeId]) -> list[ChangeId]:
        return structural_order(self._changes[identifier] for identifier in identifiers)


def _common_prefix(one: Sequence[str], other: Sequence[str]) -> int:
    """How many items two sequences begin with in common."""
    same = (here == there for here, there in zip(one, other, strict=False))
    return next((count for count, alike in enumerate(same) if not alike), min(len(one), len(other)))


def _distance(places: Sequence[int], line: int) -> int:
    """How far a line is from the nearest of some places, which are sorted."""
    index = bisect_left(places, line)
    return min(abs(line - place) for place in places[max(index - 1, 0) : index + 1])


def _names(change: Change, signs: str = "-+", written: re.Pattern[str] = _NAME) -> frozenset[str]:
    """The identifiers on the lines that a change removes or adds, or does one of the two with."""
    lines = (line for sign in signs for line in change.lines(sign))
    return frozenset(name for line in lines for name in written.findall(line))
