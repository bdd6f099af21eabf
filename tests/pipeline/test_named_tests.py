"""Tests that are named where a command is taken, explained as tests of the project's own suite."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pipeline_runs import afterd, repository

CODE = "def f(x):\n    return x + 1\n\n\ndef g(x):\n    return x\n"
BAD = CODE.replace("x + 1", "x + 2").replace("return x\n", "return 1 * x\n")
PYTEST = """\
import pytest
from calc import f, g


class TestF:
    @pytest.mark.parametrize("x", [1, "a b"])
    def test_f(self, x):
        assert x == "a b" or f(x) == 2


def test_also():
    assert f(2) == 3


def test_g():
    assert g(1) == 1
"""
UNITTEST = """\
import unittest
from calc import f, g


class T(unittest.TestCase):
    def test_f(self):
        self.assertEqual(f(1), 2)

    def test_also(self):
        self.assertEqual(f(2), 3)

    def test_g(self):
        self.assertEqual(g(1), 1)
"""


def of_pytest(path: Path) -> Path:
    """A project whose tests lie in a folder and are pytest's."""
    files = {
        "calc.py": CODE,
        "tests/test_calc.py": PYTEST,
        "pytest.ini": "[pytest]\npythonpath=.\n",
    }
    return repository(path, files, {"calc.py": BAD})


def of_unittest(path: Path) -> Path:
    """One whose tests are unittest's, in a folder that is no package."""
    return repository(path, {"calc.py": CODE, "tests/test_calc.py": UNITTEST}, {"calc.py": BAD})


def explained(path: Path, *typed: str) -> dict[str, tuple[str, ...]]:
    """The tests that were explained, each with its root, and the ones it stands for."""
    done = afterd("explain", "--format", "json", *typed, cwd=path)
    assert done.status == 0, done.err
    return {
        found["test"]: tuple(change["id"] for change in found["root"])
        for found in json.loads(done.out)["explanations"]
    }


@pytest.mark.parametrize(
    "typed",
    [
        ("--test", "tests/test_calc.py::TestF::test_f[1]"),
        ("--test", "tests/test_calc.py::TestF::test_f"),
        ("--test", "tests/test_calc.py::TestF"),
        ("--", "tests/test_calc.py::TestF::test_f[1]"),
    ],
)
def test_an_id_of_pytest_is_a_test_of_the_suite(tmp_path: Path, typed: tuple[str, ...]) -> None:
    path = of_pytest(tmp_path / "r")
    assert explained(path, *typed) == {"tests/test_calc.py::TestF::test_f[1]": ("c1",)}
    assert afterd("replay", "1", cwd=path).out.startswith("The test passes")
    assert afterd("replay", "1", "--revert", "c2", cwd=path).out.startswith("The test fails as")


def test_a_file_stands_for_its_tests(tmp_path: Path) -> None:
    """From the folder it is in, too; those that the same root repairs are one answer."""
    path = of_pytest(tmp_path / "r")
    done = afterd("explain", "--test", "test_calc.py", cwd=path / "tests")
    assert done.status == 0, done.err
    assert "tests/test_calc.py::test_also" in done.out
    assert "test_f[1]" in done.out


@pytest.mark.parametrize(
    "typed", ["tests.test_calc.T.test_f", "test_calc.T.test_f", "tests/test_calc.py::T::test_f"]
)
def test_a_dotted_name_is_a_test_of_unittest(tmp_path: Path, typed: str) -> None:
    path = of_unittest(tmp_path / "r")
    assert explained(path, "--test", typed) == {"test_calc.T.test_f": ("c1",)}


def test_in_a_setting(tmp_path: Path) -> None:
    """As in place of the command, and in the list of tests that are explained."""
    path = of_pytest(tmp_path / "r")
    wanted = {"tests/test_calc.py::TestF::test_f[1]": ("c1",)}
    (path / "afterd.toml").write_text('test = "tests/test_calc.py::TestF"\n')
    assert explained(path) == wanted
    assert afterd("replay", "1", "--revert", "c2", cwd=path).out.startswith("The test fails as")
    (path / "afterd.toml").write_text('tests = ["tests/test_calc.py::TestF"]\n')
    assert explained(path) == wanted


def test_beside_a_makefile_of_another_suite(tmp_path: Path) -> None:
    """The named test says which suite is meant, and pytest runs what no configuration asks for."""
    files = {
        "Makefile": "check:\n\tfalse\n",
        "calc.py": CODE,
        "checks/calc_checked.py": "import sys\nsys.path.insert(0, '.')\n" + PYTEST,
    }
    path = repository(tmp_path / "r", files, {"calc.py": BAD})
    found = explained(path, "--test", "checks/calc_checked.py::test_also")
    assert found == {"checks/calc_checked.py::test_also": ("c1",)}


@pytest.mark.parametrize(
    ("make", "typed", "said"),
    [
        (of_pytest, "tests/test_calc.py::test_als", "no such test. Is test_also meant?"),
        (of_pytest, "tests/test_calc.py::TestF::test_f[2]", "no such test"),
        (of_unittest, "tests.test_calc.T.test_als", "no such test"),
        (of_pytest, "test_calc.py::test_also", "(there is tests/test_calc.py)"),
    ],
)
def test_a_name_that_nothing_has(tmp_path: Path, make: object, typed: str, said: str) -> None:
    assert callable(make)
    done = afterd("explain", "--test", typed, cwd=make(tmp_path / "r"))
    done.refused(13, said)


@pytest.mark.parametrize("make", [of_pytest, of_unittest])
def test_a_named_test_that_passes(tmp_path: Path, make: object) -> None:
    assert callable(make)
    name = "tests/test_calc.py::test_g" if make is of_pytest else "tests.test_calc.T.test_g"
    done = afterd("explain", "--test", name, cwd=make(tmp_path / "r"))
    assert done.status == 0, done.err
    assert "test_g passes at the bad version." in " ".join(done.out.split())
