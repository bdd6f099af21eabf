"""Whether evidence is worth what it costs, beside the test runs that it may save.

A run of 0.2 s and an analysis of 10 s are both questions, and the one that tells more for its cost is
asked first (value of information; Howard 1966). Everything is counted in units of work
(``limits.WORK``), never timed: the same repository gives the same search on every machine and under
every load, with a budget and without.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import log2, log10

from afterd.causality.standing import Standing, Unbuildable
from afterd.limits import WORK
from afterd.model.change import ChangeSet
from afterd.weights import WORTH


@dataclass(frozen=True, slots=True)
class Worth:
    """``spent`` is the work that evidence has cost so far, ``run`` what a test run of a variant costs
    with its build, ``changes`` how many there are to choose from.
    """

    spent: Callable[[], int] = lambda: 0
    run: int = WORK.second
    changes: int = 1

    def allows(self, besides: int = 0) -> bool:
        """Whether evidence, ``besides`` so much of it, has cost less than all the runs of a search without any."""
        blind = self.run * self.blind_runs
        return self.spent() - besides < max(WORTH.least * WORK.second, blind)

    @property
    def blind_runs(self) -> float:
        """How many runs a search without any evidence takes."""
        return WORTH.runs_a_bit * log2(self.changes + 1) + WORTH.runs_more

    def beats_running(self, cost: int, suspects: int | None = None) -> bool:
        """Whether more evidence of this cost is to be had for less than the runs that it may save: of few
        suspects no more than one for each.
        """
        saved = WORTH.runs_saved if suspects is None else min(WORTH.runs_saved, suspects)
        return cost <= saved * self.run


def run_work(cpu: float) -> int:
    """The work that a test run is, which took so many seconds of CPU: rounded to a power of ten times the quickest.

    CPU seconds of one command differ by a quarter whenever they are measured. With powers of two a test of 0.15 to 0.2
    seconds had two searches, of which one did not end (lighttpd as one commit). Here one of 0.65 to 0.95 seconds can,
    or of ten times as many.
    """
    steps = round(log10(max(cpu, WORTH.quickest) / WORTH.quickest))
    return int(WORTH.quickest * 10**steps * WORK.second)


def bisection_work(commits: int, run: int) -> int:
    """What it costs to halve so many commits down to one."""
    return commits.bit_length() * run if commits > 1 else 0


def question_units(run: int) -> int:
    """z3's resource units that one question is worth where a test run costs so much work."""
    return int(max(WORTH.least * WORK.second, WORTH.runs_saved * run) // WORK.unit)


@dataclass(slots=True)
class QuestionCounter:
    """What was asked of what speaks against variants, each question at so much ``work``."""

    each: int
    asked: int = 0

    def over(self, question: Unbuildable) -> Unbuildable:
        """The same question, counted."""

        def counted(reverted: ChangeSet) -> str:
            self.asked += 1
            return question(reverted)

        return counted

    def work(self) -> int:
        """What all of them cost."""
        return self.asked * self.each


def counted_questions(standing: Standing, each: int) -> Standing:
    """The same, where every question costs so much work."""
    counter = QuestionCounter(each)
    return replace(standing.asked_by(counter.over), work=counter.work)
