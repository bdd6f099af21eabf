"""A package that cannot be imported by its tests: what it raised is the failure, with the way there."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from pipeline_runs import afterd, repository

LIMITED = """\
from memo import Memo

LIMIT = 32
CACHE = Memo(LIMIT)


def twice(n):
    return CACHE.get(n, lambda: 2 * n)
"""
MEMO = """\
class Memo:
    def __init__(self, size):
        if size < 1:
            raise ValueError("a memo holds at least one value")
        self.values = {}

    def get(self, key, make):
        return self.values.setdefault(key, make())
"""
CONFTEST = """\
import pytest

from limited import twice


@pytest.fixture
def two():
    return twice
"""
UNITTEST = """\
import unittest

from limited import twice


class Test(unittest.TestCase):
    def test_twice(self):
        self.assertEqual(twice(4), 8)
"""
TEST = "def test_twice(two):\n    assert two(4) == 8\n"


@pytest.mark.parametrize("folder", [".", "checks"])
def test_what_a_conftest_raises_is_the_failure(tmp_path: Path, folder: str) -> None:
    """It was "standard output", which departs from the good version's; no step led to the change."""
    (tmp_path / "r" / folder).mkdir(parents=True)
    files = {
        "pytest.ini": "[pytest]\npythonpath = .\n",
        "limited.py": LIMITED,
        "memo.py": MEMO,
        f"{folder}/conftest.py": CONFTEST,
        f"{folder}/test_twice.py": TEST,
    }
    _expect_story(tmp_path / "r", files, "pytest", "-q", f"{folder}/test_twice.py::test_twice")


def test_what_a_module_of_unittests_raises_is_the_failure(tmp_path: Path) -> None:
    """Unittest makes a test of it that fails with the text of what was raised."""
    files = {"limited.py": LIMITED, "memo.py": MEMO, "test_twice.py": UNITTEST}
    _expect_story(tmp_path / "r", files, "unittest", "-q")


def _expect_story(path: Path, files: dict[str, str], *runner: str) -> None:
    """That the module's limit is the answer, and what it raised the failure."""
    bad = {"limited.py": LIMITED.replace("LIMIT = 32", "LIMIT = 0").replace("2 * n", "n * 2")}
    where = repository(path, files, bad)
    command = (sys.executable, "-m", *runner)
    done = afterd("explain", "--format", "json", "--", *command, cwd=where)
    assert done.status == 0, done.err + done.out
    [found] = json.loads(done.out)["explanations"]
    assert [change["old"][0] for change in found["root"]] == [3]
    assert (found["tree"]["file"], found["tree"]["line"]) == ("memo.py", 4)
    assert found["failure"]["message"] == "ValueError: a memo holds at least one value"
    assert "no recorded step leads" not in done.err
