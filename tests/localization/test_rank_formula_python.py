"""Formula-based techniques of ``afterd rank`` on Python: the recording is the formula."""

from __future__ import annotations

from pathlib import Path

import pytest
from fees_project import DEAD, FAULT, SETTINGS, project, ranked
from pipeline_runs import afterd, repository


@pytest.fixture
def fees(tmp_path: Path) -> Path:
    return project(tmp_path / "fees", **SETTINGS)


@pytest.mark.parametrize("in_range", [True, False])
@pytest.mark.parametrize("technique", ["ofc-cw", "conbas"])
def test_a_python_suite(fees: Path, technique: str, in_range: bool) -> None:
    given = ["HEAD~1..HEAD"] if in_range else []
    found = ranked(fees, *given, "--technique", technique)
    (ranking,) = (r["ranking"] for r in found["rankings"])
    places = {place["line"]: place["rank"] for place in ranking}
    assert places[FAULT] <= 5
    assert DEAD not in places  # it has no influence
    assert {place["file"] for place in ranking} == {"fees.py"}  # a test cannot be what is wrong


def test_all_paths_of_python_are_not_known(fees: Path) -> None:
    done = afterd("rank", "--technique", "bugassist", cwd=fees)
    assert done.status != 0
    assert "only the path that was run is recorded" in done.err


def test_a_fusion_has_a_vote_of_the_formula(fees: Path) -> None:
    found = ranked(fees, "--technique", "fused")
    (ranking,) = (r["ranking"] for r in found["rankings"])
    assert any("ofc-cw" in place["votes"] for place in ranking)


PAGES = """\
class Page:
    def __init__(self, rows):
        self.rows = [row for row in rows]


def page(rows, number, size):
    start = number * size
    return Page(rows[start : start + size])


def unused(rows):
    return len(rows)
"""
SHORT = PAGES.replace("start + size]", "start + size - 1]")
PAGE_TESTS = """\
from pages import page, unused


def test_first():
    unused([1])
    assert page([1, 2, 3, 4], 0, 2).rows == [1, 2]


def test_empty():
    assert page([], 0, 2).rows == []
"""


@pytest.mark.parametrize("technique", ["ofc-cw", "conbas"])
def test_what_goes_through_objects_and_arguments_is_followed(
    tmp_path: Path, technique: str
) -> None:
    path = tmp_path / "pages"
    path.mkdir()
    files = {"pages.py": PAGES, "test_pages.py": PAGE_TESTS, "pytest.ini": "[pytest]\n"}
    repository(path, files, {"pages.py": SHORT})
    found = ranked(path, "--technique", technique)
    lines = {place["line"] for place in found["rankings"][0]["ranking"]}
    assert {3, 7, 8} <= lines  # the fault is in an argument: the call gave it
    assert 12 not in lines
