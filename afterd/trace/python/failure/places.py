"""Where a test run's exception came from and passed, as pytest or the interpreter printed it."""

from __future__ import annotations

import re
from collections.abc import Collection

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
        for file in files
        if f"/{match['file'] or match['path']}".endswith(f"/{file}")
    ]
