"""The registry: every name, every result a number, every refusal a phrase."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from schedule_example import schedule
from spectra_of import (
    drawn_predicates,
    drawn_programs,
    drawn_statements,
    predicates,
    statements,
    timeless,
)

from afterd.localization.spectrum import Spectrum
from afterd.localization.techniques import TECHNIQUES

STATEMENT_LEVEL = ["tarantula", "jaccard", "ochiai", "sbi", "dstar", "op2", "barinel"]
ALL = [
    *STATEMENT_LEVEL,
    *["cbi", "sober", "des-cbi", "des-sober"],
    *["cp", "blockrank", "blockrank-joint"],
]


def test_the_names() -> None:
    assert list(TECHNIQUES) == ALL


def test_every_technique_can_rank_the_example() -> None:
    assert not any(technique.lacks(schedule()) for technique in TECHNIQUES.values())


@pytest.mark.parametrize(
    ("spectrum", "able"),
    [
        (statements([[1]], "-"), STATEMENT_LEVEL),
        (predicates([[(1, 1)]], "-"), ["cbi", "sober"]),
    ],
)
def test_a_technique_says_what_it_lacks(spectrum: Spectrum, able: list[str]) -> None:
    lacking = {name: technique.lacks(spectrum) for name, technique in TECHNIQUES.items()}
    assert [name for name, reason in lacking.items() if not reason] == able


@timeless
@given(
    st.one_of(drawn_statements(), drawn_predicates(), drawn_programs(crashes=True)),
    st.sampled_from(ALL),
)
def test_a_score_is_a_number_and_belongs_to_a_column(spectrum: Spectrum, name: str) -> None:
    suspicion = TECHNIQUES[name](spectrum)
    assert suspicion.scores.shape == suspicion.columns.shape
    assert suspicion.scores.dtype == np.float64
    assert not np.isnan(suspicion.scores).any()
    assert TECHNIQUES[name].lacks(spectrum) or suspicion.columns.size
