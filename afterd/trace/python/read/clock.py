"""Readings of the clock: when a run was made is in no version's text.

Two runs are made at two times, and a loaded machine puts them further apart, so that even whole seconds may differ
or not. A number, or a time of day in a text, is a reading where it lies in the time that the run took, in the unit
that it is written in; two of one unit are alike, each in its own run.
"""

from __future__ import annotations

import math
import re
from functools import cached_property
from typing import TYPE_CHECKING

from afterd.trace.python.read.tracefile import Recorded

if TYPE_CHECKING:
    from afterd.trace.python.read.trace import Trace

_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_DAY = 86_400
_WRITTEN = re.compile(r"(?<!\d)(?:\d{10,19}(?:\.\d+)?(?!\d)|\d\d:\d\d:\d\d(?:[.,]\d+)?)")
_RUNNING = frozenset({"monotonic", "perf_counter", "process_time", "thread_time", "default_timer"})
"""Functions of ``time`` and ``timeit`` that count from a time of their own."""
_Span = tuple[float, float, int]  # when it began and ended, and the zone, in seconds
_NEVER: _Span = (1.0, 0.0, 0)


class Clock:
    """The time in which one process was recorded."""

    def __init__(self, trace: Trace | None) -> None:
        self._trace = trace
        told: _Span | None = None if trace is None else trace.raw.header.get("clock")
        self._began, self._ended, self._zone = told or _NEVER

    def unit(self, value: Recorded) -> str:
        """In which unit a plain value is a reading of this run's clock; empty where it is none."""
        if type(value) not in (int, float):
            return ""
        for unit, scale in _PER_SECOND.items():
            if math.floor(self._began * scale) <= value <= math.ceil(self._ended * scale):
                return f"{type(value).__name__} {unit}"
        return "counted" if value in self._counted else ""

    def masked(self, text: str) -> str:
        """A text without the readings in it."""
        return _WRITTEN.sub(self._named, text)

    def _named(self, found: re.Match[str]) -> str:
        written = found[0]
        if ":" not in written:
            unit = self.unit(float(written) if "." in written else int(written))
            return f"<time in {unit}>" if unit else written
        hours, minutes, seconds = written.replace(",", ".").split(":")
        of_day = 3600 * int(hours) + 60 * int(minutes) + float(seconds)
        return "<time>" if any(self._in_day(of_day, zone) for zone in (0, self._zone)) else written

    def _in_day(self, of_day: float, zone: int) -> bool:
        """Whether it was that time of day, in a zone so many seconds east of Greenwich, while the run went on."""
        began = math.floor(self._began) + zone
        return (of_day - began) % _DAY <= self._ended - math.floor(self._began)

    @cached_property
    def _counted(self) -> frozenset[float]:
        """What the clocks that do not tell the date gave: numbers like any others, so from these calls alone."""
        return frozenset() if self._trace is None else _counted_by(self._trace)


def _counted_by(trace: Trace) -> frozenset[float]:
    found: set[float] = set()
    for module in trace.all_modules():
        for node in module.of_type("Call"):
            function = node["func"]
            name = function["attr"] or function["id"] or ""
            if name.removesuffix("_ns") in _RUNNING and not node["args"]:
                values = map(trace.value, trace.at_site(node))
                found.update(value for value in values if type(value) in (int, float))
    return frozenset(found)


NO_CLOCK = Clock(None)
"""Of values of which it is not known when they were recorded."""
