"""What a technique did on a failing input: instructions, clauses and questions, and the CPU time of each phase."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, fields

from afterd.localization.formula.subject import Subject
from afterd.logic import Branch, ProgramFormula


@dataclass(frozen=True, slots=True)
class Work:
    """``run`` are the instructions of the failing run, ``formula`` those that the last formula was made of, on
    all sides that it has, ``executed`` those of all formulas. ``executing``, ``encoding`` and
    ``solving`` are seconds of CPU time.
    """

    run: float = 0.0
    formula: float = 0.0
    executed: float = 0.0
    clauses: float = 0.0
    questions: float = 0.0
    executing: float = 0.0
    encoding: float = 0.0
    solving: float = 0.0

    @property
    def seconds(self) -> float:
        """CPU time of all phases."""
        return self.executing + self.encoding + self.solving


def mean_work(parts: Sequence[Work]) -> Work:
    """The mean of several inputs' work."""
    count = max(1, len(parts))
    names = [one.name for one in fields(Work)]
    return Work(**{name: sum(getattr(p, name) for p in parts) / count for name in names})


@dataclass(slots=True)
class Watched:
    """A subject, and what making its formulas cost: ``seconds`` of CPU time, ``instructions`` executed."""

    subject: Subject
    seconds: float = 0.0
    instructions: int = 0

    def on_demand(self, explored: Collection[Branch], /) -> ProgramFormula:
        """The failing path, and the sides that are asked for."""
        return self._timed(lambda: self.subject.on_demand(explored))

    def all_paths(self, most: int = 0, /) -> ProgramFormula:
        """Every path up to the bounds, or of what is looked back over with so many instructions at most."""
        return self._timed(lambda: self.subject.all_paths(most))

    def paths_leaving_once(self) -> ProgramFormula:
        """The paths that leave the run's way once at a time."""
        return self._timed(self.subject.paths_leaving_once)

    def trace(self) -> ProgramFormula:
        """The failing path alone."""
        return self._counted(self.subject.trace())

    def force_less(self) -> bool:
        """Force no side from now on but those that are asked for."""
        return self.subject.force_less()

    def doubt_premises(self) -> bool:
        """What makes numbers of the input may be wrong, too."""
        return self.subject.doubt_premises()

    def windows(self) -> Sequence[int]:
        """How much of the run's end a formula may be about."""
        return self.subject.windows()

    def extent(self) -> int:
        """How long the run is until what it shows is wrong."""
        return self.subject.extent()

    def look_back(self, window: int, /) -> None:
        """From now on a formula is about so much of the run's end."""
        self.subject.look_back(window)

    def _timed(self, formula: Callable[[], ProgramFormula]) -> ProgramFormula:
        began = time.process_time()
        try:
            return self._counted(formula())
        finally:
            self.seconds += time.process_time() - began

    def _counted(self, formula: ProgramFormula) -> ProgramFormula:
        self.instructions += formula.instances
        return formula
