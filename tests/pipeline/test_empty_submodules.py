"""A fresh clone whose submodules nobody asked for: what is missing is said, and what gets it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from pipeline_runs import Done, afterd, authored_git, repository

WANTS = "`git submodule update --init --recursive` gets it"
READS = "from pathlib import Path\nDATA = Path('data/set/one.txt').read_text()\n"


def _clone(
    tmp_path: Path, files: dict[str, str], later: dict[str, str], *, came: bool = False
) -> Path:
    """A clone without the files of its submodule ``data/set``, which ``came`` with its last commit or before."""
    data = repository(tmp_path / "data", {"one.txt": "1\n", "set.mk": "all:\n"})
    whole = repository(tmp_path / "whole", files)
    allowed = ("-c", "protocol.file.allow=always")
    authored_git(whole, "checkout", "-q", "-f", "main")
    authored_git(whole, *allowed, "submodule", "add", "-q", str(data), "data/set")
    if not came:
        authored_git(whole, "commit", "-qm", "Data")
    for name, text in later.items():
        (whole / name).write_text(text)
    authored_git(whole, "commit", "-qam", "Later")
    authored_git(tmp_path, "clone", "-q", str(whole), "clone")
    return tmp_path / "clone"


def _explained(where: Path, *command: str) -> Done:
    return afterd("explain", "HEAD~1..HEAD", *command, cwd=where)


CHECK = {"calc.py": "x = 1\n", "test_calc.py": READS + "def test_x():\n    assert DATA\n"}


@pytest.mark.parametrize("name", ["test_calc.py", "check.py"])
def test_a_test_that_reads_it(tmp_path: Path, name: str) -> None:
    """Tomlkit: "ran no test: its files can be loaded at neither end", and another command was advised."""
    where = _clone(tmp_path, {"calc.py": "x = 1\n", name: CHECK["test_calc.py"]}, {"calc.py": "\n"})
    command = () if name == "test_calc.py" else ("--", sys.executable, name)
    done = _explained(where, *command)
    said = " ".join((done.out + done.err).split())
    assert "data/set is a submodule whose files this clone does not have" in said
    assert WANTS in said


def test_a_build_that_includes_it(tmp_path: Path) -> None:
    make = "include data/set/set.mk\nall:\n\ttrue\n"
    where = _clone(tmp_path, {"Makefile": make, "calc.py": "x = 1\n"}, {"calc.py": "\n"})
    done = _explained(where, "--build", "make", "--", "false")
    assert WANTS in " ".join(done.err.split())


def test_a_build_that_needs_one_which_came_in_the_range_is_no_regression(tmp_path: Path) -> None:
    """P11-kit's needs its new one: 170 commits were bisected for the one in which the build broke."""
    good, bad = (
        "all: ready\n",
        "all:\n\t@test -f */set/set.mk || { echo error: no such part; exit 1; }\n",
    )
    files = {"Makefile": good + "ready:\n\t:\n", "calc.py": "x = 1\n"}
    where = _clone(tmp_path, files, {"Makefile": bad}, came=True)
    done = _explained(where, "--build", "make", "--", "false")
    said = " ".join(done.err.split())
    assert "The bad version does not build. data/set is a submodule whose files" in said
    assert "Its build says: error: no such part" in said
    assert said.count("git submodule update") == 1
    assert "bisecting" not in said


def test_nothing_is_said_of_one_that_is_there_or_not_wanted(tmp_path: Path) -> None:
    where = _clone(tmp_path, CHECK, {"calc.py": "\n"})
    done = _explained(where, "--", "false")
    assert "submodule" not in done.out + done.err
    authored_git(where, "-c", "protocol.file.allow=always", "submodule", "update", "-q", "--init")
    done = _explained(where)
    assert "test passes at the bad version" in done.out, done.err
