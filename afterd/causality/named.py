"""What the failure itself names: the lines that its report shows, and the words of its message.

A report is evidence where a trace is none: code that a decorator compiled anew, or that another language
runs, leaves no steps, and its traceback still says where it failed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from afterd.model.change import Change, ChangeId
from afterd.model.location import Location


@dataclass(frozen=True, slots=True)
class NamedByFailure:
    """``places`` are lines of the bad version, ``words`` what may be names of functions and classes."""

    places: tuple[Location, ...] = ()
    words: frozenset[str] = frozenset()

    def at_its_lines(self, changes: Iterable[Change]) -> Iterator[ChangeId]:
        """The changes that wrote a line which the failure's report shows."""
        for change in changes:
            mine = (place for place in self.places if place.file == change.file)
            if any(change.new.covers(place.line) for place in mine):
                yield change.id

    def speaks_of(self, change: Change) -> bool:
        """Whether the failure's words name what a change stands in."""
        return not self.words.isdisjoint(change.symbol.replace("::", ".").split("."))


NOTHING_NAMED = NamedByFailure()
