"""One row of a table: what a strategy answered for a case, and what it cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from afterd.bench.choices import Choice
from afterd.bench.judgement import Verdict
from afterd.bench.tree_facts import TreeFacts


@dataclass(frozen=True, slots=True)
class Measurement:
    """``language`` is what the case is written in; empty where it was skipped. ``guilty`` counts the
    changes to be found, ``root`` and ``auxiliary`` those reported.

    ``floor`` is the least number of test runs for this root: one that passes, and one for each
    change that shows it is needed. ``tests`` leaves out the confirmation of both ends. ``seconds``
    are wall clock and hold everything, builds and confirmation included. ``memory`` is the peak in
    bytes of afterd with its solver and LLVM processes, without builds and tests. ``events`` is the
    length of the failing run's trace (0: unknown), ``causes`` the size of the causal tree,
    ``tree`` what it is worth. ``cpu`` seconds are of everything, by stage. ``log`` are the progress
    lines, ``choices`` what was known of the changes of a matched case each time that the next runs
    were chosen.
    """

    case: str
    strategy: str
    verdict: Verdict
    note: str = ""
    language: str = ""
    changes: int = 0
    guilty: int = 0
    root: int = 0
    auxiliary: int = 0
    tests: int = 0
    floor: int = 0
    builds: int = 0
    solver_calls: int = 0
    seconds: float = 0.0
    memory: int = 0
    events: int = 0
    causes: int = 0
    tree: TreeFacts | None = None
    cpu: Mapping[str, float] = field(default_factory=dict)
    log: tuple[str, ...] = ()
    choices: tuple[Choice, ...] = ()

    @property
    def reported(self) -> int:
        """Root and auxiliary changes together."""
        return self.root + self.auxiliary


@dataclass(frozen=True, slots=True)
class Summary:
    """A strategy over all cases that could be asked.

    ``excess`` is the median of reported to guilty changes, over the cases with an answer;
    ``within`` counts, for each of ``SLACKS``, the cases matched in k and so many test runs.
    """

    strategy: str
    asked: int
    matched: int
    partial: int
    missed: int
    excess: float
    within: tuple[int, ...]
    tests: int
    seconds: float


SLACKS = (3, 4)
"""Test runs beyond k, the size of the root, that are the goal for Python and for C."""


def summaries(measurements: Sequence[Measurement]) -> list[Summary]:
    """One summary a strategy, in the order in which they first appear."""
    strategies = dict.fromkeys(each.strategy for each in measurements)
    return [_summary(name, measurements) for name in strategies]


def _summary(strategy: str, measurements: Sequence[Measurement]) -> Summary:
    asked = [
        each
        for each in measurements
        if each.strategy == strategy and each.verdict is not Verdict.SKIPPED
    ]
    verdicts = [each.verdict for each in asked]
    matched = [each for each in asked if each.verdict is Verdict.MATCHED]
    ratios = [each.reported / each.guilty for each in asked if each.reported and each.guilty]
    return Summary(
        strategy=strategy,
        asked=len(asked),
        matched=len(matched),
        partial=verdicts.count(Verdict.PARTIAL),
        missed=verdicts.count(Verdict.MISSED),
        excess=median(ratios) if ratios else 0.0,
        within=tuple(sum(each.tests < each.floor + slack for each in matched) for slack in SLACKS),
        tests=sum(each.tests for each in asked),
        seconds=sum(each.seconds for each in asked),
    )
