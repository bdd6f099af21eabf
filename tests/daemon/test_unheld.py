"""The daemon with ``sandbox = auto``: what only the sandbox makes red is not red."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from daemon_repositories import commit, jobs, made, once, opened, verdicts

from afterd.config import Sandbox
from afterd.execution.confinement import bubblewrap_trouble, landlock_version
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
    assert found.notes[0].startswith("The sandbox was left off")


@needs_sandbox
def test_what_is_red_both_ways_is_examined_in_the_sandbox(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = _repository(tmp_path, monkeypatch)
    wrong = commit(where, {"library.py": LIBRARY.replace("a + b", "a - b")})
    once(where, test=TEST, sandbox=Sandbox.AUTO)
    [verdict] = verdicts(where, wrong)
    with opened(where) as reader:
        notes = load(reader, verdict.explanation_id or 0).notes
    assert any("were held by" in note for note in notes)
    assert not any("left off" in note for note in notes)
