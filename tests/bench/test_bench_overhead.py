"""What is compared is really run, both ways."""

from __future__ import annotations

import pytest

from afterd.bench import overhead
from afterd.bench.overhead import Comparison
from afterd.bench.tables import comparison_tables, text


@pytest.fixture(autouse=True)
def twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overhead, "_REPEATS", 2)


def test_a_traced_build_and_run_take_longer() -> None:
    with overhead._sample(("after-example", ""), ("make", "CFLAGS=-O0 -g")) as sample:
        build, test = overhead._tracing("C", sample)
    assert 0 < build.plain < build.watched
    assert test.plain > 0
    assert test.watched > 0


def test_a_forked_run_saves_the_imports() -> None:
    """In one of three comparisons: beside another test on the other core, a second is not a second."""
    with overhead._sample(overhead.PYTHON_SAMPLE) as sample:
        for _ in range(3):
            forked = overhead._fork_comparison(sample)
            assert forked.note.startswith("adds ")
            if 0 < forked.watched < forked.plain:
                break
    assert 0 < forked.watched < forked.plain


def test_ratios_are_printed() -> None:
    rows = [Comparison("a run", 0.25, 1.0), Comparison("a fork", note="not measured: threads")]
    lines = text(comparison_tables("overhead", rows)).splitlines()
    assert lines[2].split() == ["a", "run", "0.250", "1.000", "4.0"]
    assert "not measured: threads" in lines[3]
