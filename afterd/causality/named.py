"""What the failure itself names: the lines that its report shows, the words of its message, what it says is missing.

A report is evidence where a trace is none: code that a decorator compiled anew, or that another language
runs, leaves no steps, and its traceback still says where it failed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from afterd.model.change import Change, ChangeId
from afterd.model.location import Location


@dataclass(frozen=True, slots=True)
class NamedByFailure:
    """``places`` are lines of the bad version, ``words`` what may be names of functions and classes, ``took`` changes
    that took away what the message says is missing.
    """

    places: tuple[Location, ...] = ()
    words: frozenset[str] = frozenset()
    took: tuple[ChangeId, ...] = ()

    def shown(self, changes: Iterable[Change]) -> list[ChangeId]:
        """The changes that wrote a line which the report shows, and those that took away what is missing."""
        among = list(changes)
        here = {change.id for change in among}
        took = (each for each in self.took if each in here)
        return list(dict.fromkeys((*took, *self.at_its_lines(among))))

    def at_its_lines(self, changes: Iterable[Change]) -> list[ChangeId]:
        """The changes that wrote a line which the failure's report shows, in the report's order."""
        mine = [change for change in changes if any(p.file == change.file for p in self.places)]
        wrote = (
            change.id
            for place in self.places
            for change in mine
            if change.file == place.file and change.new.covers(place.line)
        )
        return list(dict.fromkeys(wrote))

    def speaks_of(self, change: Change) -> bool:
        """Whether the failure's words name what a change stands in."""
        return not self.words.isdisjoint(change.symbol.replace("::", ".").split("."))


NOTHING_NAMED = NamedByFailure()
