"""The kinds of values a setting can have: how each is read from TOML and from text.

Hours of the day in which the daemon starts nothing.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

_DAY = 24 * 60
_HOURS = re.compile(r"\s*(\d\d?):(\d\d)\s*-\s*(\d\d?):(\d\d)\s*")


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
    match = _HOURS.fullmatch(value) if isinstance(value, str) else None
    numbers = [int(part) for part in match.groups()] if match else [24, 0, 24, 0]
    if any(hour > 23 for hour in numbers[::2]) or any(minute > 59 for minute in numbers[1::2]):
        raise ValueError("it must be like 22:00-07:00")
    return Hours(numbers[0] * 60 + numbers[1], numbers[2] * 60 + numbers[3])


_SPAN = re.compile(r"(?P<number>\d+(?:\.\d+)?)(?P<unit>ms|s|m|h|d)?")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, None: 1.0}
_RUNS = re.compile(r"(?P<runs>\d+)\s*runs?")
_EXECUTOR = re.compile(r"local|dask://[^\s/:]+:\d{1,5}|dask://\[[0-9a-fA-F:]+\]:\d{1,5}")
_TRUTHS = {"1": True, "true": True, "yes": True, "on": True} | {
    "0": False, "false": False, "no": False, "off": False
}  # fmt: skip


class Strategy(StrEnum):
    """How the root is searched."""

    AFTER = "after"  # semantic and dynamic analysis together
    DD = "dd"  # Zeller's delta debugging
    ADD = "add"  # augmented delta debugging: executed changes, last first


class Format(StrEnum):
    """How the answer is written."""

    TEXT = "text"
    MARKDOWN = "md"
    HTML = "html"
    JSON = "json"
    SARIF = "sarif"


class Sandbox(StrEnum):
    """Whether builds and tests are held by a sandbox."""

    AUTO = "auto"  # the strongest there is, and none where the tests do not work in it
    REQUIRE = "require"  # a whole one, or nothing is run
    OFF = "off"


@dataclass(frozen=True, slots=True)
class Budget:
    """When to stop: after so many wall-clock seconds or test runs; None: no limit."""

    seconds: float | None = None
    runs: int | None = None

    def without(self, seconds: float, runs: int = 0) -> Budget:
        """What is left of it after so many seconds and runs."""
        left_seconds = None if self.seconds is None else max(0.0, self.seconds - seconds)
        left_runs = None if self.runs is None else max(0, self.runs - runs)
        return Budget(left_seconds, left_runs)

    @property
    def is_spent(self) -> bool:
        """Whether nothing is left of the seconds, or of the runs."""
        return any(left is not None and left <= 0 for left in (self.seconds, self.runs))

    def __str__(self) -> str:
        parts = [f"{self.seconds:.10g}s"] if self.seconds is not None else []
        parts += [f"{self.runs}runs"] if self.runs is not None else []
        return ",".join(parts) or "unlimited"


NO_LIMIT = Budget()
HALF_AN_HOUR = Budget(seconds=1800.0)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of value: ``parse`` takes what TOML gives, ``from_text`` what a person typed.

    Both raise ValueError with the end of a sentence ("it must be …").
    """

    name: str
    parse: Callable[[object], object]
    from_text: Callable[[str], object] = lambda text: text


def seconds(text: str) -> float:
    """A span of time such as ``90``, ``90s``, ``1.5m``, ``2h``, in seconds."""
    match = _SPAN.fullmatch(text.strip())
    if match is None:
        raise ValueError("it must be a time such as 90s, 5m or 2h")
    return float(match["number"]) * _SECONDS[match["unit"]]


def parse_budget(text: str) -> Budget:
    """``5m``, ``40runs`` or both with a comma between."""
    limit = Budget()
    for part in text.split(","):
        runs = _RUNS.fullmatch(part.strip())
        try:
            given = Budget(runs=int(runs["runs"])) if runs else Budget(seconds=seconds(part))
        except ValueError:
            raise ValueError("it must be like 5m, 40runs or 5m,40runs") from None
        if (given.runs, given.seconds) in ((0, None), (None, 0.0)):
            raise ValueError("it must allow more than nothing")
        limit = Budget(
            given.seconds if given.seconds is not None else limit.seconds,
            given.runs if given.runs is not None else limit.runs,
        )
    return limit


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("it must be a string")  # noqa: TRY004 - ValueError is Kind's contract
    if "\0" in value:
        raise ValueError("it must not hold a NUL character")
    return value


def _strings(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise ValueError("it must be a list of strings")  # noqa: TRY004 - ValueError is Kind's contract
    return tuple(_string(item) for item in value)


def _command(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return ("sh", "-c", _string(value)) if value.strip() else ()
    if isinstance(value, list | tuple):
        return _strings(value)
    raise ValueError("it must be a command line or a list of arguments")


def _at_least(least: int) -> Callable[[object], int]:
    def parse(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ValueError(f"it must be a whole number of at least {least}")
        return value

    return parse


def _integer_text(text: str) -> object:
    return int(text) if re.fullmatch(r"[+-]?\d{1,18}", text.strip()) else text


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("it must be true or false")  # noqa: TRY004 - ValueError is Kind's contract
    return value


def _span(value: object) -> float:
    if isinstance(value, str):
        value = seconds(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e9:
        raise ValueError("it must be a time such as 90, 90s, 5m or 2h, above zero")
    return float(value)


def _path(value: object) -> Path | None:
    if isinstance(value, Path):
        return value
    return Path(_string(value)) if value else None


def _executor(value: object) -> str:
    if not _EXECUTOR.fullmatch(_string(value)):
        raise ValueError("it must be local or dask://HOST:PORT")
    return str(value)


def one_of(choices: type[StrEnum]) -> Kind:
    """One of the members of an enum."""
    names = ", ".join(choices)

    def parse(value: object) -> StrEnum:
        if not isinstance(value, str) or value not in set(choices):
            raise ValueError(f"it must be one of {names}")
        return choices(value)

    return Kind(" \\| ".join(f"`{name}`" for name in choices), parse)


def _budget(value: object) -> Budget:
    return value if isinstance(value, Budget) else parse_budget(_string(value))


TEXT = Kind("string", _string)
TEXTS = Kind("list of strings", _strings, shlex.split)
COMMAND = Kind("string or list of strings", _command)
COUNT = Kind("integer, 1 or more", _at_least(1), _integer_text)
NATURAL = Kind("integer, 0 or more", _at_least(0), _integer_text)
FLAG = Kind("boolean", _flag, lambda text: _TRUTHS.get(text.strip().lower(), text))
SPAN = Kind("seconds, or a string such as `5m`", _span)
PATH = Kind("path", _path)
EXECUTOR = Kind("`local` or `dask://HOST:PORT`", _executor)
BUDGET = Kind("time, runs, or both", _budget)
HOURS = Kind("hours such as `22:00-07:00`", parse_hours)
