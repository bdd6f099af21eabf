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
