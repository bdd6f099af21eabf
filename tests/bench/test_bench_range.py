"""One range put to afterd, git bisect and picire: what each names, in how many runs."""

from __future__ import annotations

import sys
from pathlib import Path

import pygit2
import pytest
from click.testing import CliRunner

from afterd.cli.bench_range import command

PERSON = pygit2.Signature("A", "a@example.org", 1, 0)
GOOD = "def total(a, b):\n    return a + b\n\n\ndef twice(a):\n    return 2 * a\n"
CHECK = "from library import total\n\nassert total(2, 3) == 5, total(2, 3)\n"


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six commits, of which the fourth breaks ``total``."""
    path = tmp_path_factory.mktemp("range")
    made = pygit2.init_repository(path, initial_head="main")
    texts = [f"{GOOD}\n\nVERSION = {number}\n" for number in range(6)]
    texts[3:] = [text.replace("a + b", "a - b") for text in texts[3:]]
    parents: list[pygit2.Oid] = []
    for number, text in enumerate(texts):
        builder = made.TreeBuilder()
        for name, content in (("library.py", text), ("check.py", CHECK)):
            blob = made.create_blob(content.encode())
            builder.insert(name, blob, pygit2.enums.FileMode.BLOB)
        commit = made.create_commit(
            "refs/heads/main", PERSON, PERSON, f"commit {number}", builder.write(), parents
        )
        parents = [commit]
    made.reset(parents[0], pygit2.enums.ResetMode.HARD)
    return path


def test_a_name_is_no_command(repository: Path) -> None:
    """Git bisect would ask a shell for it."""
    arguments = ["HEAD~5..HEAD", "-C", str(repository), "--", "check.py::test_total"]
    done = CliRunner().invoke(command, arguments)
    assert "python -m pytest check.py::test_total" in str(done.exception)


def row(repository: Path, *options: str) -> str:
    """The table of one range."""
    arguments = ["-C", str(repository), "main~5..main", *options, "--", sys.executable, "check.py"]
    found = CliRunner().invoke(command, arguments)
    assert found.exit_code == 0, found.output
    return found.stdout


def test_bisecting_names_the_commit(repository: Path) -> None:
    broke = str(pygit2.Repository(str(repository)).revparse_single("main~2").id)
    assert broke[:10] in row(repository, "--with", "git bisect")


def test_afterd_names_the_change(repository: Path) -> None:
    assert "library.py:2" in row(repository, "--with", "afterd")


def test_picire_reduces_the_same_changes(repository: Path) -> None:
    assert " c1 " in row(repository, "--with", "picire", "--slowed", "0.01")


def test_a_budget_in_runs_is_refused(repository: Path) -> None:
    arguments = ["-C", str(repository), "main~5..main", "--budget", "3runs", "--", "true"]
    assert "has to be a time" in str(CliRunner().invoke(command, arguments).exception)
