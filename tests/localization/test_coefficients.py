"""The coefficients of ef, ep, nf, np: values, the rule for 0/0, ranges, and proven properties."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from spectra_of import counts, drawn_statements, statements, timeless

from afterd.localization.coefficients.statements import (
    barinel,
    dstar,
    jaccard,
    ochiai,
    op2,
    quotient,
    sbi,
    tarantula,
    tarantula_confidence,
)
from afterd.localization.ranking import worst_places
from afterd.localization.spectrum import Counts, Spectrum
from afterd.localization.techniques import Coefficient

BY_NAME: dict[str, Coefficient] = {
    "tarantula": tarantula,
    "confidence": tarantula_confidence,
    "jaccard": jaccard,
    "ochiai": ochiai,
    "sbi": sbi,
    "barinel": barinel,
    "op2": op2,
    "dstar": dstar,
}
MONOTONE = [name for name in BY_NAME if name != "confidence"]
runs = st.integers(0, 9)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tarantula", 0.75 / (0.75 + 0.25)),
        ("confidence", 0.75),
        ("jaccard", 3 / 6),
        ("ochiai", 3 / math.sqrt(4 * 5)),
        ("sbi", 3 / 5),
        ("barinel", 1 - 2 / 5),
        ("op2", 3 - 2 / 9),
        ("dstar", 9 / 3),
    ],
)
def test_formula_for_ef_3_ep_2_nf_1_np_6(name: str, value: float) -> None:
    assert BY_NAME[name](counts(3, 2, 1, 6)) == pytest.approx(value)


def test_the_exponent_of_dstar() -> None:
    assert dstar(counts(3, 2, 1, 6), star=3.0) == 27 / 3


@pytest.mark.parametrize(
    ("numerator", "denominator", "value"), [(0, 0, 0), (2, 0, math.inf), (0, 3, 0), (3, 2, 1.5)]
)
def test_zero_over_zero_is_zero_and_anything_else_over_zero_is_infinite(
    numerator: float, denominator: float, value: float
) -> None:
    assert quotient(np.array([float(numerator)]), np.array([float(denominator)])) == value


@pytest.mark.parametrize(
    ("name", "never_executed", "no_passed_run", "no_failed_run", "only_by_all_failed"),
    [
        ("tarantula", 0, 1, 0, 1),
        ("jaccard", 0, 1, 0, 1),
        ("ochiai", 0, 1, 0, 1),
        ("sbi", 0, 1, 0, 1),
        ("barinel", 0, 1, 0, 1),
        ("op2", 0, 2, -0.75, 2),
        ("dstar", 0, math.inf, 0, math.inf),
    ],
)
def test_where_a_denominator_is_zero(
    name: str,
    never_executed: float,
    no_passed_run: float,
    no_failed_run: float,
    only_by_all_failed: float,
) -> None:
    coefficient = BY_NAME[name]
    assert coefficient(counts(0, 0, 2, 3)) == never_executed
    assert coefficient(counts(2, 0, 0, 0)) == no_passed_run
    assert coefficient(counts(0, 3, 0, 0)) == no_failed_run
    assert coefficient(counts(2, 0, 0, 3)) == only_by_all_failed


@timeless
@given(ef=runs, ep=runs, nf=runs, np_=runs, name=st.sampled_from(list(BY_NAME)))
def test_range(ef: int, ep: int, nf: int, np_: int, name: str) -> None:
    low, high = {"op2": (-1.0, float(ef + nf)), "dstar": (0.0, math.inf)}.get(name, (0.0, 1.0))
    assert low <= BY_NAME[name](counts(ef, ep, nf, np_)).item() <= high


@timeless
@given(ef=runs, ep=runs, nf=st.integers(1, 9), np_=runs, name=st.sampled_from(MONOTONE))
def test_one_more_failed_run_that_executes_it_never_lowers_a_score(
    ef: int, ep: int, nf: int, np_: int, name: str
) -> None:
    coefficient = BY_NAME[name]
    before, after = (
        coefficient(counts(ef, ep, nf, np_)),
        coefficient(counts(ef + 1, ep, nf - 1, np_)),
    )
    assert after >= before - 1e-12


@timeless
@given(ef=runs, ep=runs, nf=runs, np_=st.integers(1, 9), name=st.sampled_from(MONOTONE))
def test_one_more_passed_run_that_executes_it_never_raises_a_score(
    ef: int, ep: int, nf: int, np_: int, name: str
) -> None:
    coefficient = BY_NAME[name]
    before, after = (
        coefficient(counts(ef, ep, nf, np_)),
        coefficient(counts(ef, ep + 1, nf, np_ - 1)),
    )
    assert after <= before + 1e-12


def _counts(spectrum: Spectrum) -> Counts:
    return spectrum.counts(spectrum.units)


@timeless
@given(drawn_statements())
def test_tarantula_and_sbi_rank_alike(spectrum: Spectrum) -> None:
    """Xie, Chen, Kuo and Xu, ACM TOSEM 22(4), 2013: they are in one class (ER3), so is Barinel."""
    assume(not spectrum.failed.all())
    n = _counts(spectrum)
    assert worst_places(tarantula(n)).tolist() == worst_places(sbi(n)).tolist()
    assert barinel(n).tolist() == sbi(n).tolist()


@timeless
@given(drawn_statements())
def test_op2_beats_ochiai_beats_jaccard_beats_tarantula_on_a_single_fault(
    spectrum: Spectrum,
) -> None:
    """The same paper's hierarchy, for a fault that every failed run executes."""
    assume(not spectrum.failed.all())  # else Tarantula does not tell some failed runs from all
    n = _counts(spectrum)
    for fault in np.flatnonzero(n.nf == 0):
        places = [worst_places(f(n))[fault] for f in (op2, ochiai, jaccard, tarantula)]
        assert places == sorted(places)


@timeless
@given(drawn_statements(), st.sampled_from([tarantula, jaccard, ochiai, sbi]))
def test_running_the_whole_suite_twice_changes_no_score(
    spectrum: Spectrum, coefficient: Coefficient
) -> None:
    n = _counts(spectrum)
    twice = Counts(2 * n.ef, 2 * n.ep, 2 * n.nf, 2 * n.np)
    assert coefficient(twice) == pytest.approx(coefficient(n))


@timeless
@given(drawn_statements(), st.integers(2, 5))
def test_tarantula_does_not_care_how_many_passed_tests_there_are(
    spectrum: Spectrum, times: int
) -> None:
    n = _counts(spectrum)
    more = Counts(n.ef, times * n.ep, n.nf, times * n.np)
    assert tarantula(more) == pytest.approx(tarantula(n))


def test_how_often_a_run_executes_a_statement_does_not_matter() -> None:
    once, often = statements([[1, 0], [1, 1]], "-+"), statements([[7, 0], [3, 9]], "-+")
    assert ochiai(_counts(once)).tolist() == ochiai(_counts(often)).tolist()
