"""Formula-based techniques of ``afterd rank`` on Python: the recording is the formula."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pipeline_runs import afterd, repository

LIBRARY = """\
def limited(value, low, high):
    if value < low:
        return low
    if value > high:
        return high
    return value


def fee(days, weight):
    base = limited(days, 1, 30) * 4
    extra = 0
    if weight > 20:
        extra = weight - 20
    unused = days * weight
    return base + extra
"""
WRONG = LIBRARY.replace("weight - 20", "weight - 10")
TESTS = """\
from fees import fee


def test_light():
    assert fee(2, 10) == 8


def test_heavy():
    assert fee(3, 25) == 17


def test_long():
    assert fee(40, 20) == 120
"""
FAULT, DEAD = 13, 14


def ranked(path: Path, *arguments: str) -> Any:  # noqa: ANN401 # a JSON document
    done = afterd("rank", "--format", "json", *arguments, cwd=path)
    assert done.status == 0, done.err
    return json.loads(done.out)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    path = tmp_path / "fees"
    path.mkdir()
    files = {"fees.py": LIBRARY, "test_fees.py": TESTS, "pytest.ini": "[pytest]\n"}
    return repository(path, files, {"fees.py": WRONG})


@pytest.mark.parametrize("in_range", [True, False])
@pytest.mark.parametrize("technique", ["ofc-cw", "conbas"])
def test_a_python_suite(project: Path, technique: str, in_range: bool) -> None:
    given = ["HEAD~1..HEAD"] if in_range else []
    found = ranked(project, *given, "--technique", technique)
    (ranking,) = (r["ranking"] for r in found["rankings"])
    places = {place["line"]: place["rank"] for place in ranking}
    assert places[FAULT] <= 5
    assert DEAD not in places  # it has no influence
    assert {place["file"] for place in ranking} == {"fees.py"}  # a test cannot be what is wrong


def test_all_paths_of_python_are_not_known(project: Path) -> None:
    done = afterd("rank", "--technique", "bugassist", cwd=project)
    assert done.status != 0
    assert "only the path that was run is recorded" in done.err


def test_a_fusion_has_a_vote_of_the_formula(project: Path) -> None:
    found = ranked(project, "--technique", "fused")
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
