"""How much the benchmarks that make their own cases do, and how long they wait. All chosen; times in seconds.

A product's limits are in ``afterd.limits``: none of these changes an answer.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SoakBudget:
    """``afterd bench soak``: bad commits made of mutants."""

    explanation: float = 300.0
    test: float = 6.0  # of a program's tests, which take less than one
    starved: float = 3.0  # times that, where other programs had the processor
    build: float = 120.0
    drawn: int = 240  # mutants of a program at most
    runs: int = 40  # of the test, to sort them
    enough: int = 5  # of the harmless ones, and of the guilty ones
    guilty: int = 3  # in one bad commit
    apart: int = 2  # lines between two mutants, so that they are two hunks
    commits: int = 20  # made of the mutants that were tried once


SOAK = SoakBudget()


@dataclass(frozen=True, slots=True)
class DayBudget:
    """``afterd bench day``: five people and a daemon. What is a part of the day is so much of its commits."""

    suite: float = 8.0  # of a run of the suite, which takes less than one
    look: float = 0.1  # between two looks at what is to do
    burst: int = 3  # pushes at most that follow each other at once
    patience: float = 900.0  # without a job done, after which the daemon is said to stand still
    full: float = 20.0  # that the disk is full
    disk: int = 512 << 20  # bytes of the disk that is filled
    between: float = 2.0  # at most between two kills of a daemon at work
    of_one_job: int = (
        6  # kills at most while it is at work: it is given up where its runs are lost for hours
    )
    lurking: float = 2.0  # at most, for a process of the kind that was killed least
    peep: float = 0.01  # between two looks for it
    of_c: float = 0.3  # the part of the pushes that are to the project in C
    filled: float = 0.3  # the part of the day after which it is
    dependency: tuple[float, float] = (0.45, 0.6)  # the part in which the dependency is broken
    faults: int = 3  # of a branch at once
    based: float = 0.12  # of the commits break all tests of a module by one line
    based_mended: float = 0.4  # of those on top of such a one mend it


DAY = DayBudget()
