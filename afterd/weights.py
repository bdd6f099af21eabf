"""Every weight and share: what it is a part of, what it means, and where it comes from.

"Chosen" says that nothing was measured: any number near it would do. A budget (how long, how much,
how many) stands in ``limits``.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Similarity:
    """When two texts are one text rewritten: the ratio of difflib, from 0 to 1. Chosen: half."""

    line: float = 0.5  # share of tokens that a line and its replacement have in common
    body: float = 0.5  # share of lines that two definitions have in common


SIMILARITY = Similarity()


@dataclass(frozen=True, slots=True)
class SolverShares:
    """What part of a budget one question may use. All chosen; the shares of z3's units are one in so many."""

    suffix: int = 100  # one in so many: a check whether the last constraints alone contradict
    deletion: int = 10  # one in so many: a check whether a constraint can go
    loaded: int = 8  # times its CPU seconds that a question may take on a busy machine
    idle_variables: float = (
        0.02  # not needed, as a part of those a formula has, before it is loaded alone
    )


SOLVER_SHARES = SolverShares()


@dataclass(frozen=True, slots=True)
class WarmShares:
    """What tells runs of a warm process apart."""

    busy: float = 0.2  # of the time until a run was ended: it computed and did not wait (chosen)


WARM_SHARES = WarmShares()


@dataclass(frozen=True, slots=True)
class WorthShares:
    """What a search without evidence needs, and what evidence may save of it.

    The first two are of delta debugging with two guilty changes (2 log2 n + 3 runs); the others are chosen.
    """

    runs_a_bit: float = 2.0  # runs for each bit of which changes are guilty
    runs_more: float = 3.0  # runs besides
    runs_saved: float = 3.0  # runs that the next level of causes may save
    quickest: float = (
        1 / 16
    )  # seconds of CPU: a quicker run costs as much, by what goes on around it
    least: int = 2  # seconds of work that evidence may always cost: a story is wanted, too


WORTH = WorthShares()
