"""Places: ties share the worst, and nothing but the scores decides."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from spectra_of import drawn_statements, statements, timeless

from afterd.localization.ranking import best_places, rank, worst_places
from afterd.localization.spectrum import Spectrum, spectrum_of
from afterd.localization.techniques import TECHNIQUES

scores = st.lists(st.one_of(st.floats(allow_nan=False), st.sampled_from([0.0, 0.5, 1.0])))


@pytest.mark.parametrize(
    ("values", "worst", "best"),
    [
        ([], [], []),
        ([0.5], [1], [1]),
        ([1, 3, 2], [3, 1, 2], [3, 1, 2]),
        ([1, 1, 2, 1], [4, 4, 1, 4], [2, 2, 1, 2]),
        ([0, 0, 0], [3, 3, 3], [1, 1, 1]),
        ([math.inf, 0, math.inf, -math.inf], [2, 3, 2, 4], [1, 3, 1, 4]),
        ([0.3, 0.1 + 0.2, 0.2], [2, 2, 3], [1, 1, 3]),
    ],
)
def test_places(values: list[float], worst: list[int], best: list[int]) -> None:
    assert worst_places(np.array(values, np.float64)).tolist() == worst
    assert best_places(np.array(values, np.float64)).tolist() == best


@timeless
@given(scores)
def test_a_place_counts_the_scores_that_are_as_high(values: list[float]) -> None:
    for value, place in zip(values, worst_places(np.array(values)), strict=True):
        strictly = sum(other > value for other in values)
        nearly = sum(other == value or other >= value - 1e-6 * abs(value) for other in values)
        assert strictly < place <= nearly


@timeless
@given(scores, st.integers(0, 1000))
def test_the_order_of_the_scores_does_not_matter(values: list[float], seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(values))
    array = np.array(values, np.float64)
    assert worst_places(array[order]).tolist() == worst_places(array)[order].tolist()


@timeless
@given(drawn_statements(), st.integers(0, 1000), st.sampled_from(["ochiai", "op2", "dstar"]))
def test_permuting_tests_changes_nothing_and_permuting_statements_permutes(
    spectrum: Spectrum, seed: int, name: str
) -> None:
    chance = np.random.default_rng(seed)
    rows = chance.permutation(len(spectrum.runs))
    columns = chance.permutation(len(spectrum.entities))
    permuted = spectrum_of(
        [spectrum.runs[row] for row in rows],
        [spectrum.entities[column] for column in columns],
        spectrum.executed[rows][:, columns],
    )
    technique = TECHNIQUES[name]
    assert technique(permuted).scores.tolist() == technique(spectrum).scores[columns].tolist()


def test_a_ranking_is_in_order_and_ties_are_in_order_of_columns() -> None:
    spectrum = statements([[1, 0, 1, 1], [1, 1, 0, 0]], "-+")
    places = rank(spectrum, TECHNIQUES["ochiai"](spectrum))
    assert [(place.rank, place.entity.location.line) for place in places] == [
        (2, 3),
        (2, 4),
        (3, 1),
        (4, 2),
    ]
    assert places[0].score == 1.0
