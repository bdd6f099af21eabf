"""Which part of an explanation the time went to: every second belongs to exactly one phase."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")


class Phase(StrEnum):
    """What afterd does while it explains, in the order in which it begins to."""

    RANGE = "reading the range and its changes"
    SUITE = "finding which tests broke"
    CONFIRM = "confirming both ends"
    TRACE = "recording runs"
    COMPARE = "comparing runs and choosing what to try"
    CHECK = "checking whether variants build, without a build"
    SOLVE = "solving"
    RUN = "building and testing variants"
    STORY = "putting the story together"
    RANK = "ranking lines"
    KEEP = "storing the answer"


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds on the wall, and seconds of afterd's own processor time (not its children's)."""

    seconds: float = 0.0
    cpu: float = 0.0


class PhaseClock:
    """Seconds by phase. Phases nest; a second counts for the innermost one alone, so that they add up to
    the total. Used by one thread.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        cpu: Callable[[], float] = time.process_time,
    ) -> None:
        self._clock, self._cpu = clock, cpu
        self._began = self._since = (clock(), cpu())
        self._phase = Phase.RANGE
        self._spent: dict[Phase, tuple[float, float]] = defaultdict(lambda: (0.0, 0.0))

    @contextmanager
    def during(self, phase: Phase) -> Iterator[None]:
        """What is done within counts for ``phase``."""
        outer = self._phase
        self._turn(phase)
        try:
            yield
        finally:
            self._turn(outer)

    def over(self, phase: Phase, question: Callable[_P, _T]) -> Callable[_P, _T]:
        """The same question, whose time counts for ``phase``."""

        def asked(*args: _P.args, **keywords: _P.kwargs) -> _T:
            with self.during(phase):
                return question(*args, **keywords)

        return asked

    def spent(self) -> Mapping[Phase, Spent]:
        """What each phase took up to now, those that took nothing left out."""
        self._turn(self._phase)
        return {phase: Spent(*self._spent[phase]) for phase in Phase if phase in self._spent}

    def total(self) -> Spent:
        """What all took since the clock was made."""
        return Spent(self._since[0] - self._began[0], self._since[1] - self._began[1])

    def _turn(self, phase: Phase) -> None:
        now = (self._clock(), self._cpu())
        seconds, cpu = self._spent[self._phase]
        passed, used = now[0] - self._since[0], now[1] - self._since[1]
        self._spent[self._phase] = (seconds + passed, cpu + used)
        self._since, self._phase = now, phase
