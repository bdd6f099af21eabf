"""Where in the code a variant failed otherwise, and how far its test came, by what was printed."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import PurePosixPath

from afterd.execution.failures.values import meant_file
from afterd.model.location import Location
from afterd.model.outcome import Outcome, Unresolved

_PLACE = re.compile(
    r'^(?:(?P<file>[^:\s]+\.py):(?P<line>\d+): |\s+File "(?P<path>[^"\n]+)", line (?P<number>\d+))',
    re.MULTILINE,
)


def raised_at(outcome: Outcome, files: Collection[str]) -> list[Location]:
    """The lines of these files that the exception of another failure came through, innermost first.

    They are lines of the variant that was run. Empty for any other outcome.
    """
    if outcome.reason is not Unresolved.DIFFERENT_FAILURE:
        return []
    return [
        Location(file, int(match["line"] or match["number"]))
        for match in reversed(list(_PLACE.finditer(outcome.detail)))
        if (file := meant_file(match["file"] or match["path"], files))
    ]


def came_further(outcome: Outcome, than: Outcome) -> bool:
    """Whether a test failed at a later line of its own than another time, and otherwise: what had failed there did not
    any more. Its own is the outermost line that is told, of a file that both times was the same.
    """
    if outcome.reason is not Unresolved.DIFFERENT_FAILURE:
        return False
    here, there = _PLACE.search(outcome.detail), _PLACE.search(than.detail)
    if here is None or there is None:
        return False
    names = {PurePosixPath(each["file"] or each["path"]).name for each in (here, there)}
    later, earlier = (int(each["line"] or each["number"]) for each in (here, there))
    return len(names) == 1 and later > earlier
