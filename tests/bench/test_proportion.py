"""Wilson's interval, against the numbers of the literature."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterd.bench.proportion import Proportion


@pytest.mark.parametrize(
    ("hits", "trials", "low", "high"),
    [  # Newcombe (1998), table I, method 3: the score method without correction
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (0, 0, 0.0, 1.0),
    ],
)
def test_the_published_intervals(hits: int, trials: int, low: float, high: float) -> None:
    found = Proportion(hits, trials)
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)


@given(st.integers(1, 10_000), st.data())
def test_the_rate_is_in_its_interval(trials: int, data: st.DataObject) -> None:
    found = Proportion(data.draw(st.integers(0, trials)), trials)
    assert 0 <= found.low <= found.hits / trials <= found.high <= 1
    assert found.describe().startswith(f"{found.hits} of {trials} (")
