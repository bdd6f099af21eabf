"""SAT-TAR on Python: the numbers of a failed test are its input, the good version is the oracle."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from fees_project import FAULT, LIBRARY, SETTINGS, TESTS, WRONG, project, ranked
from pipeline_runs import afterd

PARAMETRISED = """\
import pytest
from fees import fee


@pytest.fixture
def discount():
    return 0


@pytest.mark.parametrize(("days", "weight", "expected"), [(2, 10, 8), (3, 25, 17), (40, 20, 120)])
def test_fee(days, weight, expected, discount):
    assert fee(days, weight) - discount == expected
"""
IN_CLASS = """\
import unittest
from fees import fee


class FeeTest(unittest.TestCase):
    def setUp(self):
        self.days = 3

    def test_light(self):
        self.assertEqual(fee(self.days, 10), 12)

    def test_heavy(self):
        self.assertEqual(fee(self.days + 1, 25), 21)
"""


WORDS = """\
from fees import fee


def test_words():
    assert fee("a", "b") == ""


def test_nothing():
    pass
"""
_COUNT = re.compile(r"(\d+) (passed|failed)")


def outcome(path: Path, library: str, kept: Path) -> tuple[int, int]:
    """Passed and failed tests of the kept module beside the project's."""
    (path / "fees.py").write_text(library)
    (path / "test_afterd.py").write_text((kept / "test_afterd.py").read_text())
    done = subprocess.run(
        [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_afterd.py"],
        cwd=path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    counts = {word: int(number) for number, word in _COUNT.findall(done.stdout)}
    return counts.get("passed", 0), counts.get("failed", 0)


@pytest.mark.parametrize(
    ("tests", "more"),
    [
        (TESTS, SETTINGS),
        (PARAMETRISED, SETTINGS),
        (IN_CLASS, {}),
    ],
    ids=["plain", "parametrised", "unittest"],
)
def test_tests_are_generated_run_in_both_versions_and_kept(
    tmp_path: Path, tests: str, more: dict[str, str]
) -> None:
    path = project(tmp_path / "fees", tests, **more)
    kept = tmp_path / "kept"
    found = ranked(path, "HEAD~1..HEAD", "--technique", "sat-tar", "--emit-tests", str(kept))
    places = {place["line"]: place["rank"] for place in found["rankings"][0]["ranking"]}
    assert places[FAULT] == 1
    (said,) = (note for note in found["notes"] if "of them fail on this version" in note)
    count, failing = int(said.split()[0]), int(said.partition("; ")[2].split()[0])
    assert count > 2
    assert 0 < failing < count
    assert outcome(path, LIBRARY, kept) == (count, 0)
    assert outcome(path, WRONG, kept) == (count - failing, failing)


def test_without_a_good_version_nothing_says_what_a_test_should_show(tmp_path: Path) -> None:
    path = project(tmp_path / "fees", TESTS, **SETTINGS)
    afterd("rank", "--technique", "sat-tar", cwd=path).refused(2, "needs a RANGE")
    afterd("rank", "--emit-tests", "kept", cwd=path).refused(2, "needs a RANGE")


def test_a_test_without_numbers_has_a_reason(tmp_path: Path) -> None:
    path = project(tmp_path / "fees", WORDS, **SETTINGS)
    done = afterd("rank", "HEAD~1..HEAD", "--technique", "sat-tar", cwd=path)
    assert done.status != 0
    assert "has no numbers that could be others" in done.err
