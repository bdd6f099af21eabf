"""What a technique reports on one failing input, and the ranking of lines that follows from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Protocol

from afterd.logic import Diagnosis

Line = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Report:
    """Diagnoses in order; ``weights`` the cost of each line where the technique weighs them.

    ``reason`` says why the diagnoses are not all (empty: they are); ``history`` are the diagnoses
    of each iteration of OFC; ``notes`` what was made concrete; ``clauses`` the formula's size;
    ``finished`` the size up to which all diagnoses are known; ``instructions`` how many were executed
    for the (last) formula, on all sides and of all inputs; ``covered`` what part of the runs, until what they show is
    wrong, the diagnoses are about, 0 to 1.
    """

    technique: str
    diagnoses: tuple[Diagnosis, ...] = ()
    reason: str = ""
    history: tuple[tuple[Diagnosis, ...], ...] = ()
    weights: Mapping[Line, int] | None = None
    notes: tuple[str, ...] = ()
    clauses: int = 0
    finished: int = 0
    instructions: int = 0
    covered: float = 1.0

    @property
    def complete(self) -> bool:
        """Whether these are all diagnoses within the bounds."""
        return not self.reason

    @property
    def settled(self) -> bool:
        """Whether all single statements are known that repair the input: no other line does so alone."""
        return self.finished > 0

    @property
    def answers(self) -> bool:
        """Whether it says anything; that no single statement repairs the input is an answer, too."""
        return bool(self.diagnoses) or self.settled

    @property
    def lines(self) -> frozenset[Line]:
        """Every line of a diagnosis."""
        return frozenset(s.line for diagnosis in self.diagnoses for s in diagnosis)


def cost(diagnosis: Diagnosis, weights: Mapping[Line, int] | None) -> int:
    """What dropping these statements costs; one that has no weight was counted nowhere, so it costs most."""
    if not weights:
        return len(diagnosis)
    heaviest = max(weights.values())
    return sum(weights.get(s.line, heaviest) for s in diagnosis)


def ordered_diagnoses(
    diagnoses: Sequence[Diagnosis], weights: Mapping[Line, int] | None
) -> tuple[Diagnosis, ...]:
    """The cheapest first."""
    return tuple(sorted(diagnoses, key=lambda diagnosis: cost(diagnosis, weights)))


def ranked_lines(report: Report) -> dict[Line, float]:
    """The place of each reported line from 1, the mean place among equals.

    Without weights lines come in the order in which a MAX-SAT solver finds them, those of the smallest
    diagnoses first; lines of diagnoses of one size are a set (III-A): whoever reads it in any order meets
    a line, on average, half way, so that all of them share one place. With weights lines come in the order of
    the cheapest diagnosis that names them, and within it the most suspicious first.
    """
    if report.weights is None:
        return places(smallest_sizes(report))
    best: dict[Line, tuple[int, int]] = {}
    heaviest = max(report.weights.values(), default=1)
    for diagnosis in report.diagnoses:
        whole = cost(diagnosis, report.weights)
        for statement in diagnosis:
            key = (whole, report.weights.get(statement.line, heaviest))
            best[statement.line] = min(best.get(statement.line, key), key)
    order = {key: float(at) for at, key in enumerate(sorted(set(best.values())))}
    return places({line: order[key] for line, key in best.items()})


def smallest_sizes(report: Report) -> dict[Line, float]:
    """Of how many statements the smallest diagnosis is that names a line."""
    found: dict[Line, float] = {}
    for diagnosis in report.diagnoses:
        size = float(len(diagnosis))
        for statement in diagnosis:
            found[statement.line] = min(size, found.get(statement.line, size))
    return found


def places(keys: Mapping[Line, float]) -> dict[Line, float]:
    """Places from 1 by ascending key; equal keys share the mean of their places."""
    found: dict[Line, float] = {}
    ordered = sorted(keys.items(), key=lambda item: item[1])
    at = 0
    while at < len(ordered):
        end = at
        while end < len(ordered) and ordered[end][1] == ordered[at][1]:
            end += 1
        for line, _ in ordered[at:end]:
            found[line] = (at + 1 + end) / 2
        at = end
    return found


class About(Protocol):
    """An answer about a part of a run."""

    @property
    def answers(self) -> bool:
        """Whether it says anything."""
        ...

    @property
    def covered(self) -> float:
        """How large the part is."""
        ...


def mean_covered(reports: Iterable[About]) -> float:
    """The mean of what the answers are about; 0 where there is none."""
    found = [report.covered for report in reports if report.answers]
    return fmean(found) if found else 0.0


def top(places_of: Mapping[Line, float], count: int = 10) -> Sequence[Line]:
    """The first lines."""
    return sorted(places_of, key=lambda line: (places_of[line], line))[:count]
