"""A script that the test command runs and that the range changes: the test, whatever it is called, or the program."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from pipeline_runs import afterd, repository

from afterd.config import Settings, shell
from afterd.model.explanation import Explanation, Status
from afterd.pipeline.explain import explain

PYTHON = sys.executable
OF = '[ "$({} p.py)" = {} ] || {{ echo it is not {}; exit 1; }}\n'


def _script(wanted: int) -> str:
    return OF.format(PYTHON, wanted, wanted)


def _explained(path: Path, command: str, **settings: object) -> Explanation:
    [found] = explain(Settings(path, test=shell(command), **settings))  # type: ignore[arg-type]
    return found


def _files(found: Explanation) -> list[str]:
    return [change.file for change in found.root]


@pytest.mark.parametrize(
    ("old", "command"),
    [(4, "sh t.sh"), (3, "cd . && timeout 50 sh ./t.sh"), (4, "bash -e t.sh || exit 1")],
)
def test_the_script_is_the_test(tmp_path: Path, old: int, command: str) -> None:
    """With its old text the good version was red, and that was told of the text that the bad version has."""
    path = repository(
        tmp_path / "r",
        {"p.py": "print(3)\n", "t.sh": _script(old)},
        {"p.py": "print(4)\n", "t.sh": "# of today\n" + _script(3)},
    )
    found = _explained(path, command)
    assert (found.status, _files(found)) == (Status.EXPLAINED, ["p.py"])


def test_a_python_script_is_the_test(tmp_path: Path) -> None:
    path = repository(
        tmp_path / "r",
        {"p.py": "def three():\n    return 3\n", "check.py": "import p\nassert p.three() == 4\n"},
        {"p.py": "def three():\n    return 4\n", "check.py": "import p\nassert p.three() == 3\n"},
    )
    found = _explained(path, f"{PYTHON} check.py")
    assert (found.status, _files(found)) == (Status.EXPLAINED, ["p.py"])


def test_the_script_is_the_program(tmp_path: Path) -> None:
    """With the bad version's text the good one is as red, so its changes are searched; and that is said."""
    path = repository(
        tmp_path / "r",
        {"calc.py": "import lib\nprint(lib.x)\n", "lib.py": "x = 1\n"},
        {"calc.py": "import lib\nprint(lib.x // 0)\n", "lib.py": "x = 2\n"},
    )
    found = _explained(path, f"{PYTHON} calc.py")
    assert (found.status, _files(found)) == (Status.EXPLAINED, ["calc.py"])
    assert any("calc.py was searched as well" in each for each in found.remarks)
    again = afterd("replay", "1", "--revert", "c1", cwd=path)
    assert "passes" in again.out, again.out + again.err


@pytest.mark.parametrize("more", [{}, {"README.md": "News\n"}])
def test_nothing_but_the_script_changed(tmp_path: Path, more: dict[str, str]) -> None:
    path = repository(
        tmp_path / "r", {"calc.py": "print(1)\n"}, {"calc.py": "print(1 // 0)\n", **more}
    )
    found = _explained(path, f"{PYTHON} calc.py")
    assert (found.status, _files(found)) == (Status.EXPLAINED, ["calc.py"])
    assert not found.remarks


@pytest.mark.parametrize("where", ["pkg/", ""])
def test_a_script_of_the_package_is_the_program(tmp_path: Path, where: str) -> None:
    """It stands in the package, or another file of the program imports it: nothing else is tried first."""
    first = {f"{where}{name}.py": "x = 1\n" for name in ("__init__", "lib")} if where else {}
    first |= {f"{where}calc.py": "x = 1\nprint(x)\n", "main.py": "import calc\n", "other.py": ""}
    later = {f"{where}calc.py": "x = 1\nprint(x // 0)\n", "other.py": "x = 2\n"}
    path = repository(tmp_path / "r", first, later)
    found = _explained(path, f"{PYTHON} {where}calc.py")
    assert (found.status, _files(found)) == (Status.EXPLAINED, [f"{where}calc.py"])
    assert not found.remarks


def test_a_script_that_was_red_before_is_told_with_its_text(tmp_path: Path) -> None:
    path = repository(
        tmp_path / "r",
        {"p.py": "print(1)\n", "t.sh": _script(3)},
        {"p.py": "print(2)\n", "t.sh": "# of today\n" + _script(3)},
    )
    found = _explained(path, "sh t.sh")
    assert found.status is Status.ALREADY_RED
    assert found.reason.startswith("The test, as the bad version has it, fails at the good version")


@pytest.mark.parametrize(
    ("command", "settings"),
    [("sh t.sh | grep -q fine", {}), ("sh t.sh", {"keep_tests": False})],
)
def test_a_script_that_is_not_kept_is_said_to_be_each_version_s_own(
    tmp_path: Path, command: str, settings: dict[str, bool]
) -> None:
    """What the bad version has was not run at the good one."""
    path = repository(
        tmp_path / "r",
        {"p.py": "print(3)\n", "t.sh": _script(4) + "echo fine\n"},
        {"p.py": "print(4)\n", "t.sh": _script(3) + "echo fine\n"},
    )
    found = _explained(path, command, **settings)
    assert found.status is Status.ALREADY_RED
    assert found.reason.startswith(
        "The test fails at the good version as well, with that version's own t.sh"
    )


def test_a_program_that_broke_before_the_range_is_looked_for_with_its_own_text(
    tmp_path: Path,
) -> None:
    """With the script of the bad version no older one is green."""
    path = repository(
        tmp_path / "r",
        {"calc.py": "x = 1\n\n\nprint(x)\n", "lib.py": "x = 1\n"},
        {"calc.py": "x = 1\n\n\nprint(x // 0)\n", "lib.py": "x = 2\n"},
        {"calc.py": "x = 2\n\n\nprint(x // 0)\n", "lib.py": "x = 3\n"},
    )
    found = _explained(path, f"{PYTHON} calc.py", range="HEAD~1..HEAD")
    assert (found.status, _files(found)) == (Status.EXPLAINED, ["calc.py"])
    assert any("last green commit" in each for each in found.remarks)


def test_commits_of_a_range_are_asked_with_one_text_of_the_script(tmp_path: Path) -> None:
    """A range of many commits in which both changed, again and again."""
    versions = [
        {
            "p.py": f"y = {n}\n\n\nprint({3 if n < 5 else 4})\n",
            "q.py": f"z = {n}\n",
            "t.sh": f"# {n}\n" + _script(3 if n == 8 else 5),
        }
        for n in range(9)
    ]
    path = repository(tmp_path / "r", *versions)
    found = _explained(path, "sh t.sh", range="HEAD~8..HEAD")
    assert found.status is Status.EXPLAINED
    [change] = found.root
    assert "print(4)" in change.patch


def test_a_script_that_alone_changed_is_the_program_from_the_start(tmp_path: Path) -> None:
    """The good version was run with the bad one's text first, which could only be red."""
    path = repository(
        tmp_path / "r",
        {"calc.py": "print(1)\n", "README": "of old\n"},
        {"calc.py": "print(1 // 0)\n", "README": "of today\n"},
    )
    done = afterd("explain", "HEAD~1..HEAD", "--test", f"{PYTHON} calc.py", cwd=path)
    assert done.status == 0, done.out + done.err
    assert "trying the good version with its own" not in done.err
    assert "calc.py:1" in done.out
