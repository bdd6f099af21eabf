"""From the end of a run to more of it: any-time localisation for runs whose formula may be too large.

A formula of a run's last instructions says what was concrete before them, so each answer is sound. The
next one is about more of the run and tells more statements apart; the widest that was settled is the
answer. What a wider formula will be is foretold from the last ones, so that none is made in vain.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise
from typing import Protocol, TypeVar

from afterd.limits import DEMAND
from afterd.localization.formula.subject import Subject
from afterd.logic import Corrections

Size = tuple[int, int]
"""Instructions of the run, and clauses of what was asked about them."""


class Answer(Protocol):
    """What a technique says of one window."""

    @property
    def settled(self) -> bool:
        """Whether it was asked to the end."""
        ...

    @property
    def sets(self) -> Sequence[AbstractSet[object]]:
        """The sets that it found."""
        ...


_Answer = TypeVar("_Answer", bound=Answer)
Windows = tuple[int, ...]
"""How much of each input's run a formula is about."""


def widest_answer(
    subjects: Sequence[Subject],
    solver: Corrections,
    ask: Callable[[Windows], _Answer],
    *,
    at_once: bool = False,
    most: int = DEMAND.most,
) -> _Answer:
    """The answer about the widest window that was settled with a set, of the narrowest where none was.

    A short run, and one that is to be asked for ``at_once``, is asked for whole, and from its end where that gives
    nothing. Each window has an encoding of its own; none is begun whose formula would have more than ``most`` clauses.
    Raises TooLargeError where a run cannot be followed.
    """
    levels = _levels([subject.windows() for subject in subjects])
    if at_once or sum(levels[-1]) <= DEMAND.whole or len(levels) == 1:
        whole = _asked_windows(subjects, levels.pop(), ask)
        if whole.settled or whole.sets or not levels or solver.over:
            return whole
        solver.restart()
    best = _asked_windows(subjects, levels[0], ask)
    last, sizes = best, [(sum(levels[0]), solver.encoding.size)]
    for windows in levels[1:]:
        too_large = foretold_clauses(sizes, sum(windows)) > most
        if not last.settled or solver.over or too_large:
            break
        solver.restart()
        last = _asked_windows(subjects, windows, ask)
        sizes.append((sum(windows), solver.encoding.size))
        if last.settled and (last.sets or not best.sets):
            best = last
    return best


def look_back(subjects: Sequence[Subject], windows: Windows) -> None:
    """Set each input's window."""
    for subject, window in zip(subjects, windows, strict=True):
        subject.look_back(window)


def foretold_clauses(sizes: Sequence[Size], instructions: int) -> float:
    """Clauses of a formula of so many instructions: a power of them, as the last two sizes had it.

    At least in proportion: the end of a run may do little, and what is before it more.
    """
    power = 1.0
    for (few, small), (more, large) in pairwise(sizes[-2:]):
        power = max(power, math.log(max(1, large) / max(1, small)) / math.log(more / few))
    last, clauses = sizes[-1]
    return float(clauses * (instructions / last) ** power)


def _levels(choices: Sequence[Sequence[int]]) -> list[Windows]:
    """The windows of all inputs, the narrowest first; a short input is whole while others widen."""
    count = max(map(len, choices))
    return [tuple(choice[min(at, len(choice) - 1)] for choice in choices) for at in range(count)]


def _asked_windows(
    subjects: Sequence[Subject], windows: Windows, ask: Callable[[Windows], _Answer]
) -> _Answer:
    look_back(subjects, windows)
    return ask(windows)
