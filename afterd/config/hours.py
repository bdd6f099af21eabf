"""Hours of the day in which the daemon starts nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass

_DAY = 24 * 60
_SPAN = re.compile(r"\s*(\d\d?):(\d\d)\s*-\s*(\d\d?):(\d\d)\s*")


@dataclass(frozen=True, slots=True)
class Hours:
    """From one minute of the day to another, local time; over midnight where it ends before."""

    start: int
    end: int

    def left(self, minute: float) -> float:
        """Minutes until they are over, seen from a minute of the day; 0 outside of them."""
        inside = (minute - self.start) % _DAY < (self.end - self.start) % _DAY
        return (self.end - minute) % _DAY if inside else 0.0

    def __str__(self) -> str:
        ends = (f"{minute // 60:02}:{minute % 60:02}" for minute in (self.start, self.end))
        return "-".join(ends)


def parse_hours(value: object) -> Hours | None:
    """``22:00-07:00``; empty: none. Raises ValueError with the end of a sentence."""
    if isinstance(value, Hours) or value in (None, ""):
        return value if isinstance(value, Hours) else None
    match = _SPAN.fullmatch(value) if isinstance(value, str) else None
    numbers = [int(part) for part in match.groups()] if match else [24, 0, 24, 0]
    if any(hour > 23 for hour in numbers[::2]) or any(minute > 59 for minute in numbers[1::2]):
        raise ValueError("it must be like 22:00-07:00")
    return Hours(numbers[0] * 60 + numbers[1], numbers[2] * 60 + numbers[3])
