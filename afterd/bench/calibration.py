"""The odds of ``weights.GuiltOdds``, fitted to what was known when runs were chosen in cases whose fault is known.

A choice is a list of suspects, each with its signs, of which some are guilty. That a change is guilty is as
likely as its odds, the product of those of its signs, are among those of the innocent suspects and its own:
McFadden's conditional logit (Frontiers in Econometrics, 1974). What is fitted are the logarithms of the
odds, and they are held near those that were chosen by hand (a normal prior, whose width is the one that
foretells best the projects that it was not fitted on).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from math import exp, log

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from afterd.model.change import ChangeId
from afterd.model.progress import Signs
from afterd.weights import GuiltOdds

Floats = NDArray[np.float64]

FITTED = (
    "carrier", "cause", "slice", "executed", "other", "level", "parted", "passed", "carried",
    "absorbed", "same", "effect_seen", "unmet_parted", "unmet", "idle", "aside", "not_alone", "entangled",
    "shown", "spoken",
)  # fmt: skip
"""The odds that multiply. ``kin`` counts names instead and stays as it was chosen, and so does ``entry``: only
ratios show in a choice, so one of them has to stand.
"""

WIDTHS = (0.25, 0.5, 1.0, 2.0)
"""Widths of the prior that are tried, in natural logarithms: 0.25 holds odds within a factor of 1.3 or so."""


@dataclass(frozen=True, slots=True)
class Row:
    """Suspects of which the same is known: how many of them are innocent, and how many guilty."""

    signs: Signs
    innocent: int
    guilty: int


@dataclass(frozen=True, slots=True)
class Choice:
    """The suspects of one moment at which the next runs were chosen."""

    rows: tuple[Row, ...]

    @property
    def tells(self) -> bool:
        """Whether there was something to choose, and a guilty change among it."""
        guilty = sum(row.guilty for row in self.rows)
        return guilty > 0 and sum(row.innocent for row in self.rows) > 0


@dataclass(frozen=True, slots=True)
class KnownCase:
    """A case whose fault is known, and its choices; ``project``: the program it is of."""

    case: str
    project: str
    choices: tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class Fit:
    """Odds by name, and how likely they make what was seen: the mean over cases of the logarithm of a guilty
    change's chance, ``chosen`` by the odds chosen by hand, ``within`` by the fitted ones, ``left_out`` by
    those fitted without the case's own project. ``width`` is the prior's.
    """

    odds: Mapping[str, float]
    width: float
    chosen: float
    within: float
    left_out: float
    cases: int
    projects: int


def choices(
    suspicions: Iterable[Mapping[ChangeId, Signs]], guilty: Iterable[ChangeId]
) -> Iterator[Choice]:
    """What was known at each moment, with suspects of equal signs counted together."""
    wanted = frozenset(guilty)
    for suspicion in suspicions:
        counted: Counter[tuple[tuple[tuple[str, float], ...], bool]] = Counter(
            (tuple(sorted(signs.items())), change in wanted) for change, signs in suspicion.items()
        )
        kinds = dict.fromkeys(signs for signs, _ in counted)
        yield Choice(
            tuple(Row(dict(each), counted[each, False], counted[each, True]) for each in kinds)
        )


def fitted(cases: Sequence[KnownCase], chosen: GuiltOdds) -> Fit:
    """The odds that make the guilt that was seen likeliest, near the chosen ones.

    Raises ValueError where no case has a choice that tells anything.
    """
    known = [_Matrices.of(case, chosen.kin) for case in cases]
    known = [case for case in known if case.parts]
    projects = sorted({case.project for case in known})
    if not projects:
        raise ValueError("no case has a guilty and an innocent suspect")
    start = np.array([log(getattr(chosen, name)) for name in FITTED])
    left_out = {width: _left_out(known, projects, start, width) for width in WIDTHS}
    width = max(WIDTHS, key=lambda each: (left_out[each], -each))
    best = _likeliest(known, start, width)
    return Fit(
        odds={name: float(exp(value)) for name, value in zip(FITTED, best, strict=True)},
        width=width,
        chosen=_mean(known, start),
        within=_mean(known, best),
        left_out=left_out[width],
        cases=len(known),
        projects=len(projects),
    )


def signs_counted(cases: Iterable[KnownCase]) -> Mapping[str, tuple[int, int]]:
    """For each of the odds, in how many cases a guilty suspect had it, and in how many an innocent one."""
    guilty: Counter[str] = Counter()
    innocent: Counter[str] = Counter()
    for case in cases:
        rows = [row for choice in case.choices for row in choice.rows]
        guilty.update({name for row in rows if row.guilty for name in row.signs})
        innocent.update({name for row in rows if row.innocent for name in row.signs})
    return {each.name: (guilty[each.name], innocent[each.name]) for each in fields(GuiltOdds)}


@dataclass(frozen=True, slots=True)
class _Matrices:
    """A case as numbers: for each choice that tells, the signs of a row, what is no part of the fit, and the
    numbers of innocent and guilty changes.
    """

    project: str
    parts: tuple[tuple[Floats, Floats, Floats, Floats], ...]

    @classmethod
    def of(cls, case: KnownCase, kin: float) -> _Matrices:
        parts = []
        for choice in case.choices:
            if choice.tells:
                signs = [[row.signs.get(name, 0.0) for name in FITTED] for row in choice.rows]
                fixed = [log(1 + kin * row.signs.get("kin", 0.0)) for row in choice.rows]
                counts = [[row.innocent, row.guilty] for row in choice.rows]
                innocent, guilty = np.array(counts, dtype=float).T
                parts.append((np.array(signs), np.array(fixed), innocent, guilty))
        return cls(case.project, tuple(parts))

    def likelihood(self, logs: Floats) -> tuple[float, Floats]:
        """The mean logarithm of a guilty change's chance, and its gradient."""
        total, gradient = 0.0, np.zeros_like(logs)
        for signs, fixed, innocent, guilty in self.parts:
            scores = signs @ logs + fixed
            weights = innocent * np.exp(scores - scores.max())
            rest, pull = weights.sum(), weights @ signs
            each = np.exp(scores - scores.max())
            share = guilty / guilty.sum() / len(self.parts)
            total += float(share @ np.log(each / (rest + each)))
            mean = (pull + each[:, None] * signs) / (rest + each)[:, None]
            gradient += share @ (signs - mean)
        return total, gradient


def _mean(known: Sequence[_Matrices], logs: Floats) -> float:
    return sum(case.likelihood(logs)[0] for case in known) / len(known)


def _likeliest(known: Sequence[_Matrices], start: Floats, width: float) -> Floats:
    def loss(logs: Floats) -> tuple[float, Floats]:
        seen = [case.likelihood(logs) for case in known]
        off = (logs - start) / width
        value = sum(each for each, _ in seen) - off @ off / 2
        gradient = sum((each for _, each in seen), np.zeros_like(logs)) - off / width
        return -float(value), -gradient

    return np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B").x)


def _left_out(
    known: Sequence[_Matrices], projects: Sequence[str], start: Floats, width: float
) -> float:
    """The mean over all cases, each by odds that were fitted without its own project."""
    total = 0.0
    for project in projects:
        others = [case for case in known if case.project != project]
        logs = _likeliest(others, start, width) if others else start
        total += sum(case.likelihood(logs)[0] for case in known if case.project == project)
    return total / len(known)
