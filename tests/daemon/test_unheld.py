"""The daemon with ``sandbox = auto``: what only the sandbox makes red is not red."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from daemon_repositories import commit, git, jobs, made, once, opened, verdicts

from afterd.config import Sandbox
from afterd.daemon.approval import approve
from afterd.execution.confinement import bubblewrap_trouble, landlock_version
from afterd.store import open_store
from afterd.store.explanations import load

TEST = (sys.executable, "-B", "check.py")
CHECK = "from library import keep, total\n\nkeep()\nassert total(2, 3) == 5\n"
LIBRARY = "def keep():\n    pass\n\n\ndef total(a, b):\n    return a + b\n"
WRITES = LIBRARY.replace(
    "    pass", '    import os\n    open(os.environ["KEPT"], "a").write("run")'
)
needs_sandbox = pytest.mark.skipif(
    bool(bubblewrap_trouble()) and not landlock_version(), reason="nothing here holds a program"
)


def _repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    outside = tmp_path / "outside"
    outside.mkdir()
    monkeypatch.setenv("KEPT", str(outside / "kept"))
    where = made(tmp_path / "r", {"library.py": LIBRARY, "check.py": CHECK})
    once(where, test=TEST, sandbox=Sandbox.AUTO)
    return where


@needs_sandbox
def test_a_test_that_only_the_sandbox_makes_red_has_no_culprit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = _repository(tmp_path, monkeypatch)
    writes = commit(where, {"library.py": WRITES})
    once(where, test=TEST, sandbox=Sandbox.AUTO)
    assert verdicts(where, writes) == []
    assert jobs(where)[-1] == (writes, "done")

    wrong = commit(where, {"library.py": WRITES.replace("a + b", "a - b")})
    once(where, test=TEST, sandbox=Sandbox.AUTO)
    [verdict] = verdicts(where, wrong)
    assert verdict.kind == "caused"
    with opened(where) as reader:
        found = load(reader, verdict.explanation_id or 0)
    assert [change.lines("+") for change in found.root] == [["    return a - b"]]
    assert found.remarks[0].startswith("The sandbox was left off")


def _strangers(where: Path, files: dict[str, str]) -> str:
    """A commit of somebody else's, fetched into a branch, and approved."""
    theirs = where.with_name("theirs")
    git("clone", "-q", str(where), str(theirs), cwd=where.parent)
    of = commit(theirs, files, GIT_COMMITTER_EMAIL="stranger@example.org")
    git("fetch", "-q", str(theirs), "main:refs/heads/theirs", cwd=where)
    once(where, test=TEST, sandbox=Sandbox.AUTO)
    assert jobs(where)[-1] == (of, "waiting")
    with open_store(where / ".git/afterd/afterd.db") as store:
        assert approve(store, of)
    return of


@needs_sandbox
def test_an_approved_commit_of_a_stranger_does_not_get_out_by_failing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = _repository(tmp_path, monkeypatch)
    of = _strangers(where, {"library.py": WRITES})
    once(where, test=TEST, sandbox=Sandbox.AUTO)
    assert not Path(os.environ["KEPT"]).exists()
    [verdict] = verdicts(where, of)
    assert verdict.kind == "caused"  # it writes where no version before it did
    with opened(where) as reader:
        loaded = load(reader, verdict.explanation_id or 0)
        notes = (*loaded.remarks, *loaded.notes)
    assert notes[0].startswith("The commit came from elsewhere")
    assert any("were held by" in note for note in notes)


@needs_sandbox
def test_what_only_the_sandbox_makes_red_before_is_not_blamed_on_a_stranger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = _repository(tmp_path, monkeypatch)
    commit(where, {"library.py": WRITES})
    once(where, test=TEST, sandbox=Sandbox.AUTO)
    of = _strangers(where, {"notes": "harmless\n"})
    Path(os.environ["KEPT"]).unlink()
    once(where, test=TEST, sandbox=Sandbox.AUTO)
    [verdict] = verdicts(where, of)
    assert verdict.kind == "undetermined", verdict.reason
    assert "not run without" in verdict.reason
    assert not Path(os.environ["KEPT"]).exists()


def test_where_nothing_holds_a_strangers_commit_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = _repository(tmp_path, monkeypatch)
    of = _strangers(where, {"library.py": WRITES})
    for name, nothing in (("bubblewrap_trouble", "it is not installed"), ("landlock_version", 0)):
        monkeypatch.setattr(f"afterd.execution.confinement.{name}", lambda nothing=nothing: nothing)
    once(where, test=TEST, sandbox=Sandbox.AUTO)
    assert jobs(where)[-1] == (of, "queued")
    assert not Path(os.environ["KEPT"]).exists()
    with opened(where) as reader:
        [row] = reader.rows("SELECT reason FROM job WHERE state = 'queued'")
    assert "nothing on this machine can hold its tests" in str(row["reason"])
    once(where, test=TEST, sandbox=Sandbox.AUTO)  # nor does it stop the daemon
    mine = commit(where, {"library.py": LIBRARY.replace("a + b", "a - b")})
    once(where, test=TEST, sandbox=Sandbox.AUTO)
    assert [each.kind for each in verdicts(where, mine)] == ["caused"]


@needs_sandbox
def test_what_is_red_both_ways_is_examined_in_the_sandbox(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = _repository(tmp_path, monkeypatch)
    wrong = commit(where, {"library.py": LIBRARY.replace("a + b", "a - b")})
    once(where, test=TEST, sandbox=Sandbox.AUTO)
    [verdict] = verdicts(where, wrong)
    with opened(where) as reader:
        loaded = load(reader, verdict.explanation_id or 0)
        notes = (*loaded.remarks, *loaded.notes)
    assert any("were held by" in note for note in notes)
    assert not any("left off" in note for note in notes)
