"""What stands where a command is taken and is a test's name."""

from __future__ import annotations

from pathlib import Path

import pytest
from pipeline_runs import repository

from afterd.config import Settings, shell
from afterd.errors import TestError
from afterd.vcs.repository import open_repository
from afterd.vcs.trees import TreeReader
from afterd.workspace.named_tests import NamedTest, Version, is_asked_for, typed_names

FILES = {
    "tests/test_a.py": "def test_b(): pass\n",
    "tests/unit/test_c.py": "",
    "pkg/test_d.py": "",
    "run_all.py": "print(1)\n",
}


@pytest.mark.parametrize(
    ("typed", "names"),
    [
        ("tests/test_a.py", ("tests/test_a.py",)),
        ("tests/test_a.py::test_b", ("tests/test_a.py::test_b",)),
        ("tests/test_a.py::T::test_b[1-x]", ("tests/test_a.py::T::test_b[1-x]",)),
        ("tests/test_a.py::test_b[a 'b' c::d]", ("tests/test_a.py::test_b[a 'b' c::d]",)),
        ("'tests/test_a.py::test_b[a b]'", ("tests/test_a.py::test_b[a b]",)),
        ("a.py::b[x y] c.py  d.py::e", ("a.py::b[x y]", "c.py", "d.py::e")),
        ("tests.test_a.T.test_b", ("tests.test_a.T.test_b",)),
        ("pytest tests/test_a.py::test_b", ()),
        ("make check", ()),
        ("./run.sh", ()),
        ("python3.11", ()),
        ("test_a.py > log", ()),
        ("a 'b", ()),
        ("", ()),
    ],
)
def test_names_are_told_from_commands(typed: str, names: tuple[str, ...]) -> None:
    assert typed_names(shell(typed)) == names
    if " " not in typed and typed:
        assert typed_names((typed,)) == names


def named(path: Path, typed: str, here: str = "", build: tuple[str, ...] = ()) -> list[NamedTest]:
    """The tests of the version that is checked out."""
    if not path.exists():
        repository(path, FILES)
    made = open_repository(path)
    version = Version(TreeReader(made), str(made.head.peel().tree.id), str(path), here)
    return list(version.named_tests(Settings(path, test=shell(typed), build=build)))


def test_the_file_says_what_it_is(tmp_path: Path) -> None:
    """From the top of the repository, from the user's own folder, or by its whole path."""
    path = tmp_path / "r"
    one = NamedTest("tests/test_a.py", ("test_b[x::y]",))
    assert named(path, "tests/test_a.py::test_b[x::y]") == [one]
    assert named(path, "./test_a.py::test_b[x::y]", here="tests") == [one]
    assert named(path, f"{path}/tests/test_a.py::test_b[x::y]") == [one]
    assert named(path, "tests/unit/test_c.py") == [NamedTest("tests/unit/test_c.py")]
    assert named(path, "tests.test_a.T.test_b") == [NamedTest("tests/test_a.py", ("T", "test_b"))]
    assert named(path, "test_a.T") == [NamedTest("tests/test_a.py", ("T",))]
    assert named(path, "unit.test_c", here="tests") == [NamedTest("tests/unit/test_c.py")]


def test_what_is_executable_is_a_command(tmp_path: Path) -> None:
    path = tmp_path / "r"
    path.mkdir()
    (path / "check.py").write_text("#!/bin/sh\n")
    (path / "check.py").chmod(0o755)
    repository(path, FILES)
    assert named(path, "./check.py") == []
    assert named(path, "run_all.py") == [NamedTest("run_all.py")]


def test_what_a_build_makes_is_a_command(tmp_path: Path) -> None:
    assert named(tmp_path / "r", "out/check.py", build=("make",)) == []


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("test_a.py::test_b", "no file test_a.py (there is tests/test_a.py)"),
        ("tests/test_z.py", "no file tests/test_z.py."),
        ("tests.test_z.T.test_b", "no module of that name"),
    ],
)
def test_what_is_neither_is_said(tmp_path: Path, typed: str, said: str) -> None:
    with pytest.raises(TestError) as refused:
        named(tmp_path / "r", typed)
    assert f"{typed} is neither a command nor a test: the bad version has {said}" in str(
        refused.value
    )


@pytest.mark.parametrize(
    ("test", "name", "is_one"),
    [
        ("t.py::T::a[1]", "t.py", True),
        ("t.py::T::a[1]", "t.py::T", True),
        ("t.py::T::a[1]", "t.py::T::a", True),
        ("t.py::T::a[1]", "t.py::T::a[1]", True),
        ("t.py::T::ab", "t.py::T::a", False),
        ("t.py::a[1]", "t.py::a[12]", False),
        ("t.py", "t.py::a", True),
        ("t.T.a", "t.T", True),
        ("t.T.ab", "t.T.a", False),
    ],
)
def test_a_name_stands_for_what_is_in_it(test: str, name: str, is_one: bool) -> None:
    """And a file that could not be read for all of it."""
    assert is_asked_for(test, [name]) is is_one
