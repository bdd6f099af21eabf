"""The stopping rule, against Bayes' rule done by hand and against simulated tests."""

from __future__ import annotations

import random
from math import isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import beta

from afterd.execution.flakiness import (
    CHANCE,
    Prior,
    Repeats,
    chance_of_both,
    further_runs,
    prior_after_both,
    prior_from_history,
    probability_flaky,
    rate,
    repeats,
    runs_needed,
)

PRIORS = st.builds(Prior, st.floats(0.001, 0.999), st.floats(0.1, 20.0), st.floats(0.1, 20.0))


@pytest.mark.parametrize(
    ("agreeing", "probability"),
    # With rate ~ Beta(1, 1), E[(1 - rate)^n] = 1 / (n + 1); prior odds are 1 : 9.
    [(0, 0.1), (1, 1 / 19), (2, 1 / 28), (3, 1 / 37), (9, 1 / 91)],
)
def test_by_hand(agreeing: int, probability: float) -> None:
    assert isclose(probability_flaky(Prior(), agreeing), probability)


@given(PRIORS, st.integers(0, 200))
def test_as_scipy_computes_it(prior: Prior, agreeing: int) -> None:
    unseen = beta(prior.alpha, prior.beta + agreeing) / beta(prior.alpha, prior.beta)
    expected = prior.flaky * unseen / (prior.flaky * unseen + 1 - prior.flaky)
    assert isclose(probability_flaky(prior, agreeing), expected, rel_tol=1e-6, abs_tol=1e-12)


@given(PRIORS, st.integers(0, 50))
def test_each_agreeing_run_lowers_the_probability(prior: Prior, agreeing: int) -> None:
    assert probability_flaky(prior, agreeing + 1) < probability_flaky(prior, agreeing)


@given(PRIORS, st.floats(0.001, 0.5), st.integers(1, 40))
def test_the_rule_stops_at_the_first_run_that_suffices(
    prior: Prior, threshold: float, most: int
) -> None:
    runs = runs_needed(prior, threshold, most)
    assert 1 <= runs <= most
    if runs < most:
        assert probability_flaky(prior, runs) < threshold
    if runs > 1:
        assert probability_flaky(prior, runs - 1) >= threshold


def test_without_history_each_end_runs_twice() -> None:
    assert runs_needed(Prior()) == 2


def test_history_of_flakiness_asks_for_more_runs_and_of_firmness_for_fewer() -> None:
    flaky = prior_from_history([Repeats(10, 3), Repeats(5, 1), Repeats(4, 0)])
    firm = prior_from_history([Repeats(2, 0)] * 50)
    assert runs_needed(firm) <= runs_needed(Prior()) < runs_needed(flaky)
    assert isclose(flaky.flaky, (0.1 * 10 + 2) / 13)
    assert (flaky.alpha, flaky.beta) == (1 + 4, 1 + 11)


def test_trees_that_were_run_once_teach_nothing() -> None:
    assert prior_from_history([Repeats(1, 0)] * 100) == Prior()


def test_three_failures_in_ten_runs_are_counted() -> None:
    seen = repeats([True] * 7 + [False] * 3)
    assert seen == Repeats(10, 3)
    assert isclose(rate(Prior(), seen), 4 / 12)


@pytest.mark.parametrize(("flake_rate", "least"), [(0.5, 0.85), (0.3, 0.75)])
def test_a_test_known_to_be_flaky_is_caught(flake_rate: float, least: float) -> None:
    """Seeded: a test that fails in ``flake_rate`` of its runs, with that in its history."""
    chance = random.Random(7)
    prior = prior_from_history([Repeats(20, round(20 * flake_rate))] * 3)
    runs = runs_needed(prior)

    def is_caught() -> bool:
        return repeats([chance.random() < flake_rate for _ in range(runs)]).other > 0

    assert sum(is_caught() for _ in range(500)) / 500 > least


@pytest.mark.parametrize(
    ("before", "passes", "runs"), [(Prior(), 2, 5), (Prior(), 3, 4), (Prior(0.2, 6, 6), 3, 5)]
)
def test_a_test_that_ended_both_ways_is_run_until_chance_is_unlikely(
    before: Prior, passes: int, runs: int
) -> None:
    assert runs_needed(before) < runs
    assert runs_needed(prior_after_both(before, passes, 1)) == runs


@pytest.mark.parametrize(
    ("red", "green", "further"),
    [
        (0, 0, (5, 4)),
        (2, 2, (3, 2)),
        (2, 4, (3, 0)),
        (4, 4, (1, 0)),
        (6, 4, (0, 0)),
        (5, 1, (0, 3)),
    ],
)
def test_runs_that_were_made_count(red: int, green: int, further: tuple[int, int]) -> None:
    """With an even rate the chance is r! g! / (r + g + 1)!, which 5 and 4 runs bring below one in a thousand."""
    assert further_runs(Prior(), red, green) == further


@given(PRIORS, st.integers(0, 30), st.integers(0, 30))
def test_further_runs_are_bounded_and_will_do(prior: Prior, red: int, green: int) -> None:
    reds, greens = further_runs(prior, red, green)
    assert 0 <= reds <= 20
    assert 0 <= greens <= 20
    if red + reds < 20 or green + greens < 20:
        assert chance_of_both(prior, red + reds, green + greens) < CHANCE
