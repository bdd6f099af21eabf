"""A script that shows the bug, called as its author likes, is the test's, not the program's."""

from __future__ import annotations

from pathlib import Path

import pytest
from pipeline_runs import authored_git

from afterd.config import Settings, shell
from afterd.model.explanation import Status
from afterd.model.progress import Silent
from afterd.pipeline.explain import explain
from afterd.vcs.kinds import FileRules
from afterd.vcs.repository import open_repository
from afterd.workspace.brought_files import brought_files

GREET = "hello() {{ echo {}; }}\n"
REPRO = '. ./greet.sh\n[ "$(hello)" = hello ] || { echo no hello; exit 1; }\n'


def _history(path: Path, name: str) -> Path:
    """The bug, and beside it a script that shows it."""
    authored_git(path.parent, "init", "-q", "-b", "main", str(path))
    (path / "greet.sh").write_text(GREET.format("hello"))
    (path / "kept.sh").write_text("true\n")
    authored_git(path, "add", "-A")
    authored_git(path, "commit", "-q", "-m", "first")
    (path / "greet.sh").write_text(GREET.format("goodbye"))
    (path / "kept.sh").write_text("true; true\n")
    (path / name).parent.mkdir(exist_ok=True)
    (path / name).write_text(REPRO)
    authored_git(path, "add", "-A")
    authored_git(path, "commit", "-q", "-m", "second")
    return path


@pytest.mark.parametrize("name", ["repro.sh", "bugs/shows[1].sh"])
def test_a_script_that_came_with_the_bug_is_run_at_the_good_version(
    tmp_path: Path, name: str
) -> None:
    """Less's lesskey was called already red: the script was missing at the good version and at twelve older ones."""
    path = _history(tmp_path / "r", name)
    [found] = explain(Settings(path, test=shell(f"sh '{name}'")), Silent())
    assert found.status is Status.EXPLAINED
    assert [change.file for change in found.root] == ["greet.sh"]


@pytest.mark.parametrize(
    ("test", "build", "files"),
    [
        ("sh repro.sh", "", ["/repro.sh"]),
        ("./a.out", "cc -I. repro.sh -o a.out", ["/repro.sh"]),
        ("x=1; (sh ./repro.sh>log)", "", ["/repro.sh"]),
        ("sh kept.sh greet.sh", "", []),
        ("sh absent.sh -- / .. .", "", []),
    ],
    ids=["script", "source of the build", "in a line of shell", "at both ends", "nowhere"],
)
def test_only_what_the_commands_name_and_the_good_version_lacks(
    tmp_path: Path, test: str, build: str, files: list[str]
) -> None:
    path = _history(tmp_path / "r", "repro.sh")
    settings = Settings(path, test=shell(test), build=shell(build) if build else ())
    assert brought_files(open_repository(path), settings, FileRules()) == files
    assert not brought_files(
        open_repository(path), Settings(path, range="a..b", test=shell(test)), FileRules()
    )


@pytest.mark.parametrize("named", ["samples/one.csv", "one.csv"])
def test_data_that_came_with_the_test_is_there_at_the_good_version(
    tmp_path: Path, named: str
) -> None:
    """Pdfminer was called already red: the sample that its test reads was missing at the good version."""
    path = _history(tmp_path / "r", "repro.sh")
    (path / "samples").mkdir()
    for each in ("one.csv", "two.csv", "three.sh"):
        (path / "samples" / each).write_text("1\n")
    reads = f'cat "samples/$(basename "{named}")" || exit 1\n'
    (path / "repro.sh").write_text(reads + ": three.sh\n" + REPRO)
    authored_git(path, "add", "-A")
    authored_git(path, "commit", "-q", "--amend", "-m", "second")
    settings = Settings(path, test=shell("sh repro.sh"))
    found = brought_files(open_repository(path), settings, FileRules())
    assert found == ["/repro.sh", "/samples/one.csv"]
    [answer] = explain(settings, Silent())
    assert answer.status is Status.EXPLAINED
    assert [change.file for change in answer.root] == ["greet.sh"]


def test_what_a_script_starts_beside_it_came_with_it(tmp_path: Path) -> None:
    """Patchelf was called already red: its script's own Python was missing at the good version and at older ones."""
    path = _history(tmp_path / "r", "bugs/check.sh")
    (path / "bugs/repro.sh").write_text(
        'sh "$(dirname "$0")"/check.sh\n: other.sh\n: elsewhere.sh\n'
    )
    (path / "bugs/other.sh").write_text(": one.csv\n")
    (path / "elsewhere.sh").write_text("true\n")
    (path / "one.csv").write_text("1\n")
    authored_git(path, "add", "-A")
    authored_git(path, "commit", "-q", "--amend", "-m", "second")
    settings = Settings(path, test=shell("sh bugs/repro.sh"))
    found = brought_files(open_repository(path), settings, FileRules())
    assert found == ["/bugs/repro.sh", "/bugs/check.sh", "/bugs/other.sh", "/one.csv"]
