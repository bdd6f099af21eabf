"""Table II: shares located at the checkpoints, mean and deviation, and what is left out."""

from __future__ import annotations

import math

import pytest
from schedule_example import schedule
from spectra_of import statements

from afterd.localization.siemens import FaultyVersion, effectiveness, table
from afterd.localization.techniques import TECHNIQUES

OCHIAI = TECHNIQUES["ochiai"]


def version(name: str, place: int, *, size: int = 20) -> FaultyVersion:
    """A program of ``size`` statements whose faulty one is the ``place``-th for Ochiai."""
    passed = [[1] * (size - n) + [0] * n for n in range(size)]
    spectrum = statements([[1] * size, *passed], "-" + "+" * size)
    return FaultyVersion(name, spectrum, frozenset({("f.c", size - place + 1)}))


def test_shares_mean_and_deviation() -> None:
    versions = [version("v1", 1), version("v2", 2), version("v3", 4), version("v4", 13)]
    result = effectiveness("ochiai", OCHIAI, versions)
    assert dict(result.efforts) == {"v1": 0.05, "v2": 0.10, "v3": 0.20, "v4": 0.65}
    assert dict(result.located) == {0.05: 0.25, 0.10: 0.5, 0.15: 0.5, 0.20: 0.75}
    assert result.mean == pytest.approx(0.25)
    assert result.deviation == pytest.approx(math.sqrt((0.04 + 0.0225 + 0.0025 + 0.16) / 3))
    assert not result.left_out


def test_what_cannot_be_scored_is_left_out_with_a_reason() -> None:
    green = FaultyVersion("green", statements([[1]], "+"), frozenset({("f.c", 1)}))
    elsewhere = FaultyVersion("elsewhere", statements([[1]], "-"), frozenset({("g.h", 1)}))
    result = effectiveness("ochiai", OCHIAI, [green, elsewhere, version("v1", 1)])
    assert dict(result.efforts) == {"v1": 0.05}
    assert dict(result.left_out) == {
        "green": "no test reveals the fault",
        "elsewhere": "no executable statement stands on a faulty line",
    }


def test_a_technique_without_its_counts_is_left_out() -> None:
    result = effectiveness("cp", TECHNIQUES["cp"], [version("v1", 1)])
    assert dict(result.left_out) == {"v1": "the spectrum has no block and edge counts"}
    assert math.isnan(result.mean)
    assert all(math.isnan(share) for share in result.located.values())


def test_one_version_has_no_deviation() -> None:
    assert effectiveness("ochiai", OCHIAI, [version("v1", 3)]).deviation == 0.0


def test_the_table_has_a_row_for_every_technique() -> None:
    spectrum = schedule(statements=True)
    rows = table([FaultyVersion("v2", spectrum, frozenset({("schedule.c", 2)}))])
    efforts = {row.technique: row.efforts["v2"] for row in rows}
    assert list(efforts) == list(TECHNIQUES)
    assert efforts["blockrank"] == min(efforts.values()) == 4 / 9
    assert efforts["tarantula"] == 1.0
