"""``--sandbox``: what it holds, that the answer says so, and that ``auto`` breaks no project."""

from __future__ import annotations

import json
from pathlib import Path

import pygit2
import pytest
from cli_repository import GOOD, Run, commit, refused

from afterd.execution.confinement import bubblewrap_trouble, landlock_version
from afterd.execution.memory_group import memory_is_held_by
from afterd.limits import ProcessLimits

pytest_plugins = ["cli_fixtures"]

whole = pytest.mark.skipif(bool(bubblewrap_trouble()), reason=f"needs it: {bubblewrap_trouble()}")


def repository(path: Path, test: str) -> Path:
    opened = pygit2.init_repository(path, initial_head="main")
    commit(opened, {**GOOD, "test.sh": test}, "All is well\n")
    commit(opened, {"text.txt": "one\n", "other.txt": "b\n"}, "Break it\n")
    return path


def explained(afterd: Run, path: Path, how: str) -> dict[str, object]:
    done = afterd("explain", "--sandbox", how, "--format", "json", "--", "sh", "test.sh", cwd=path)
    assert done.returncode == 0, done.stderr
    [found] = json.loads(done.stdout)["explanations"]
    assert [change["file"] for change in found["root"]] == ["text.txt"]
    return dict(found)


@whole
@pytest.mark.parametrize("how", ["auto", "require"])
def test_a_test_that_means_harm_is_held(afterd: Run, tmp_path: Path, how: str) -> None:
    outside = tmp_path / "outside"
    outside.write_text("kept")
    path = repository(tmp_path / "r", f"rm -f {outside}; rm -rf ../../..; grep -q three text.txt\n")
    found = explained(afterd, path, how)
    assert outside.read_text() == "kept"
    assert (path / ".git/afterd/afterd.db").exists()
    assert "held by bubblewrap" in str(found["notes"])
    assert "no network" in str(found["notes"])
    assert memory_is_held_by(ProcessLimits()) in str(found["notes"])
    shown = afterd("show", cwd=path)
    assert "were held by bubblewrap" in " ".join(shown.stdout.split()), (
        "said on the terminal as well"
    )


@whole
def test_a_build_that_means_harm_is_held(afterd: Run, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("kept")
    path = repository(tmp_path / "r", f"rm -f {outside}; grep -q three text.txt\n")
    build = f"sh -c 'rm -f {outside}; touch $HOME/of-a-build; touch built'"
    asked = ("--sandbox", "require", "--build", build, "--", "sh", "test.sh")
    done = afterd("explain", *asked, cwd=path, HOME=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert outside.read_text() == "kept"
    assert not (tmp_path / "of-a-build").exists()


@whole
def test_a_project_that_needs_more_is_explained_without_and_it_is_said(
    afterd: Run, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    path = repository(tmp_path / "r", f"echo x >>{outside} || exit 3; grep -q three text.txt\n")
    found = explained(afterd, path, "auto")
    assert "The sandbox was left off, because with it" in str(found["notes"])
    assert "held by" not in str(found["notes"])
    done = afterd("explain", "--sandbox", "require", "--", "sh", "test.sh", cwd=path)
    assert done.returncode == 12, done.stdout
    (path / "afterd.toml").write_text(f"sandbox = 'require'\nwritable = ['{tmp_path}']\n")
    done = afterd("explain", "--", "sh", "test.sh", cwd=path)
    assert done.returncode == 0, done.stdout


def test_where_there_is_none_require_says_what_to_install(
    afterd: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "afterd.execution.confinement.bubblewrap_trouble", lambda: "bubblewrap is not installed"
    )
    path = repository(tmp_path / "r", "grep -q three text.txt\n")
    done = afterd("explain", "--sandbox", "require", "--", "sh", "test.sh", cwd=path)
    refused(done, 13, ["apt-get install bubblewrap"])
    words = "held by Landlock" if landlock_version() else "not held by a sandbox"
    assert words in str(explained(afterd, path, "auto")["notes"])
