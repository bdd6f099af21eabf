"""The worked example of the BlockRank paper, number by number (papers/README.md)."""

from __future__ import annotations

import numpy as np
import pytest
from schedule_example import PREDICATES, schedule

from afterd.localization.examination import effort, units_on
from afterd.localization.propagation.blockrank import suspicious_profile
from afterd.localization.propagation.cp import cp
from afterd.localization.propagation.flow_graph import flow_graph
from afterd.localization.ranking import rank, worst_places
from afterd.localization.techniques import TECHNIQUES

FAULTY_LINE = {("schedule.c", 2)}


@pytest.mark.parametrize(
    ("technique", "scores"),
    [
        ("tarantula", [0.50, 0.50, 0.50, 0.50]),
        ("jaccard", [0.50, 0.50, 0.50, 0.50]),
        ("ochiai", [0.71, 0.71, 0.71, 0.71]),
        ("sbi", [0.50, 0.50, 0.50, 0.50]),
        ("cbi", [0.00, 0.00]),
        ("sober", [1.03, 4.17]),
        ("des-cbi", [0.00, 0.00]),
        ("des-sober", [1.03, 4.17]),
        ("blockrank", [4.00, 4.32, 3.67, 4.00]),
        ("blockrank-joint", [4.32, 4.32, 3.67, 4.00]),
    ],
)
def test_scores_to_two_decimals(technique: str, scores: list[float]) -> None:
    assert TECHNIQUES[technique](schedule()).scores.round(2).tolist() == scores


@pytest.mark.parametrize(
    ("technique", "places"),
    [
        ("tarantula", [4, 4, 4, 4]),
        ("ochiai", [4, 4, 4, 4]),
        ("cbi", [2, 2]),
        ("sober", [2, 1]),
        ("cp", [3, 3, 4, 3]),
        ("blockrank", [3, 1, 4, 3]),
    ],
)
def test_places(technique: str, places: list[int]) -> None:
    assert worst_places(TECHNIQUES[technique](schedule()).scores).tolist() == places


@pytest.mark.parametrize(
    ("technique", "share"),
    [
        ("tarantula", 1.00),
        ("jaccard", 1.00),
        ("ochiai", 1.00),
        ("sbi", 1.00),
        ("cp", 0.75),
        ("blockrank", 0.25),
    ],
)
def test_code_examining_effort(technique: str, share: float) -> None:
    spectrum = schedule()
    faulty = units_on(spectrum, FAULTY_LINE)
    assert effort(spectrum, TECHNIQUES[technique](spectrum), faulty) == share


def test_suspicious_edge_profile() -> None:
    profile = suspicious_profile(flow_graph(schedule()))
    assert profile.edges.round(2).tolist() == [0.0, 6.0, 0.33, 3.67, 3.67]
    assert profile.entries.tolist() == [6.0, 0.0, 0.0, 0.0]


def test_block_transition_rate() -> None:
    assert flow_graph(schedule()).transition_rate.tolist() == [1.0, 32 / 38, 1.0, 0.0]


def test_the_faulty_block_is_first() -> None:
    spectrum = schedule()
    first = rank(spectrum, TECHNIQUES["blockrank"](spectrum))[0]
    assert (first.rank, first.entity) == (1, spectrum.entities[1])


def test_cp_by_hand() -> None:
    """θ is 6/12.67, 0.33/4.33 and 3.67/6.33; the exit b4 has the sum of its incoming edges."""
    branch, out, loop = 0.0, (1 / 3) / (13 / 3), (11 / 3) / (19 / 3)
    exit_score = branch + out + loop
    third = exit_score * loop / exit_score
    second = third + exit_score * out / exit_score
    expected = np.array([second, second, third, exit_score])
    assert cp(flow_graph(schedule())) == pytest.approx(expected, abs=1e-8)


def test_the_statements_of_a_block_share_its_place() -> None:
    """Section III-C.3: s2 to s5 are four statements of nine, and b2 is first."""
    spectrum = schedule(statements=True)
    faulty = units_on(spectrum, FAULTY_LINE)
    assert faulty.tolist() == [False, True] + 7 * [False]
    assert effort(spectrum, TECHNIQUES["blockrank"](spectrum), faulty) == 4 / 9


def test_every_predicate_has_one_condition_here() -> None:
    spectrum = schedule()
    for des, plain in (("des-cbi", "cbi"), ("des-sober", "sober")):
        assert np.array_equal(TECHNIQUES[des](spectrum).scores, TECHNIQUES[plain](spectrum).scores)
    assert len(PREDICATES) == 2
