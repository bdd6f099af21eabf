"""CBI and SOBER: values by hand, the ends of their ranges, and what must not change a score."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from spectra_of import drawn_predicates, predicates, timeless

from afterd.localization.coefficients.predicates import cbi, sober_score
from afterd.localization.spectrum import Evaluations, Spectrum, Vector
from afterd.localization.techniques import TECHNIQUES

Cell = tuple[int, int]
NEVER: Cell = (0, 0)


def scores(technique: str, cells: list[Cell], outcomes: str) -> float:
    """The score of a single predicate, given its outcomes in each run."""
    return float(TECHNIQUES[technique](predicates([[cell] for cell in cells], outcomes)).scores[0])


@pytest.mark.parametrize(
    ("cells", "outcomes", "importance"),
    [
        # only true in all of the failed runs: Increase 1 - 2/4, sensitivity 1
        ([(1, 0), (2, 1), (0, 1), (0, 3)], "--++", 2 / (1 / 0.5 + 1)),
        # the same of "it did not hold"
        ([(0, 1), (1, 2), (1, 0), (3, 0)], "--++", 2 / (1 / 0.5 + 1)),
        # true in two of four failed runs: Increase 2/2 - 4/6, sensitivity log 2 / log 4
        ([(1, 0), (1, 1), (0, 1), (0, 1), (0, 1), (0, 1)], "----++", 2 / (3 + 2)),
        # true in one of two failed runs: log 1 is no sensitivity at all
        ([(1, 1), (0, 1), (0, 1)], "--+", 0.0),
        # a single failed run is all of them
        ([(1, 0), (0, 1)], "-+", 2 / (1 / 0.5 + 1)),
        # runs that do not evaluate it are no context
        ([(1, 0), (0, 1), NEVER, NEVER], "-+++", 2 / (1 / 0.5 + 1)),
        # no increase, a decrease, never evaluated
        ([(1, 1), (1, 1)], "-+", 0.0),
        ([(1, 1), (1, 1), (1, 1)], "-++", 0.0),
        ([NEVER, NEVER], "-+", 0.0),
        ([(1, 0), (1, 0)], "++", 0.0),
        ([(1, 0), (1, 0)], "--", 0.0),
    ],
)
def test_importance(cells: list[Cell], outcomes: str, importance: float) -> None:
    assert scores("cbi", cells, outcomes) == pytest.approx(importance)


def test_the_surprise_of_sober_by_hand() -> None:
    """Passed biases 1/4 and 3/4, failed biases 1 and 1: σ = √(1/8), z = √2 · (1 - 1/2) / σ."""
    deviation = math.sqrt(1 / 8)
    z = math.sqrt(2) * 0.5 / deviation
    density = math.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
    expected = math.log10(deviation / (math.sqrt(2) * density))
    assert scores("sober", [(1, 3), (3, 1), (5, 0), (2, 0)], "++--") == pytest.approx(expected)


def test_a_run_without_an_evaluation_has_the_bias_one_half() -> None:
    cells = [(1, 3), (3, 1), (1, 0), (5, 5)]
    unseen = [(1, 3), (3, 1), (1, 0), NEVER]
    assert scores("sober", cells, "++--") == scores("sober", unseen, "++--")


@pytest.mark.parametrize(
    ("cells", "outcomes", "score"),
    [
        ([(1, 2), (2, 4), (5, 10), (1, 0)], "+++-", math.inf),  # constant when passed, else not
        ([(1, 2), (2, 4), (5, 10), (3, 6)], "+++-", -math.inf),  # constant throughout
        ([(1, 2), (1, 0)], "+-", math.inf),  # one passed run has no spread
        ([NEVER, NEVER, NEVER], "++-", -math.inf),
        ([(1, 2), (2, 1)], "--", 0.0),  # nothing to compare with
        ([(1, 2), (2, 1)], "++", 0.0),
    ],
)
def test_the_ends_of_sober(cells: list[Cell], outcomes: str, score: float) -> None:
    assert scores("sober", cells, outcomes) == score


def test_a_large_surprise_does_not_underflow() -> None:
    cells = [(500, 500), (501, 499), *[(1000, 0)] * 40]
    assert 1e5 < scores("sober", cells, "++" + "-" * 40) < 1e9


def _negated(spectrum: Spectrum) -> Spectrum:
    matrix = spectrum.executed - spectrum.held
    return Spectrum(spectrum.runs, spectrum.entities, spectrum.executed, matrix)


@timeless
@given(drawn_predicates(), st.sampled_from([cbi, sober_score]))
def test_a_branch_and_its_negation_are_equally_suspicious(
    spectrum: Spectrum, coefficient: Callable[[Evaluations], Vector]
) -> None:
    columns = np.arange(len(spectrum.entities))
    plain = coefficient(spectrum.evaluations(columns))
    negated = coefficient(_negated(spectrum).evaluations(columns))
    assert negated == pytest.approx(plain, abs=1e-9)


@timeless
@given(drawn_predicates())
def test_ranges(spectrum: Spectrum) -> None:
    columns = np.arange(len(spectrum.entities))
    importance = cbi(spectrum.evaluations(columns))
    assert importance.min() >= 0
    assert importance.max() <= 1
    assert not np.isnan(sober_score(spectrum.evaluations(columns))).any()
