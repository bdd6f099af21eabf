"""The odds of ``weights.GuiltOdds``, fitted to what was known when runs were chosen in cases whose fault is known.

A choice is a list of suspects, each with its signs, of which some are guilty. That a change is guilty is as
likely as its odds, the product of those of its signs, are among those of the innocent suspects and its own:
McFadden's conditional logit (Frontiers in Econometrics, 1974). What is fitted are the logarithms of the
odds, and they are held near those that were chosen by hand (a normal prior, whose width is the one that
foretells best the projects that it was not fitted on).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from math import exp, log

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from afterd.bench.choices import KnownCase
from afterd.weights import CALIBRATION, GuiltOdds

Floats = NDArray[np.float64]

FITTED = (
    "carrier", "cause", "slice", "executed", "other", "level", "parted", "passed", "carried",
    "absorbed", "same", "effect_seen", "unmet_parted", "unmet", "idle", "aside", "not_alone", "entangled",
    "shown", "spoken", "similar",
)  # fmt: skip
"""The odds that multiply. ``kin`` counts names instead and stays as it was chosen, and so does ``entry``: only
ratios show in a choice, so one of them has to stand.
"""


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


def fitted_odds(cases: Sequence[KnownCase], chosen: GuiltOdds) -> Fit:
    """The odds that make the guilt that was seen likeliest, near the chosen ones.

    Raises ValueError where no case has a choice that tells anything.
    """
    known = [_Matrices.of(case, chosen.kin) for case in cases]
    known = [case for case in known if case.parts]
    projects = sorted({case.project for case in known})
    if not projects:
        raise ValueError("no case has a guilty and an innocent suspect")
    start = np.array([log(getattr(chosen, name)) for name in FITTED])
    left_out = {width: _left_out(known, projects, start, width) for width in CALIBRATION.widths}
    width = max(CALIBRATION.widths, key=lambda each: (left_out[each], -each))
    best = _likeliest_weights(known, start, width)
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


def _likeliest_weights(known: Sequence[_Matrices], start: Floats, width: float) -> Floats:
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
        logs = _likeliest_weights(others, start, width) if others else start
        total += sum(case.likelihood(logs)[0] for case in known if case.project == project)
    return total / len(known)
