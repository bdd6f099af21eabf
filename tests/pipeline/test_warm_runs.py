"""The command on Python repositories runs tests again in warm processes, and says when it does not."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from pipeline_runs import afterd, repository

from afterd.execution.rerunning import Reruns

GOOD = "LIMIT = 3\nUNUSED = 1\n\n\ndef f(x):\n    return min(x, LIMIT)\n\n\nOTHER = 1\n"
BAD = "LIMIT = 4\nUNUSED = 1\n\n\ndef f(x):\n    return min(x, LIMIT)\n\n\nOTHER = 2\n"
CHECK = "import ops\nprint('seen', ops.f(9))\nassert ops.f(9) == 3\n"
UNITTEST = (
    "import unittest\nimport ops\n\n\nclass Test(unittest.TestCase):\n"
    "    def test(self):\n        self.assertEqual(ops.f(9), 3)\n"
)
KINDS: dict[str, tuple[str, ...]] = {
    "script": ("check.py",),
    "module": ("-m", "check"),
    "unittest": ("-m", "unittest", "-q", "test_ops"),
    "pytest": ("-m", "pytest", "-q", "-p", "no:hypothesispytest", "-p", "no:xdist", "test_ops.py"),
}
# A program that can tell, and ends otherwise in a fork.
TELLS = "import sys\nimport ops\nassert ops.f(9) == 3 or 'afterd_runtime.warm' in sys.orig_argv\n"
# A variant that can tell: once LIMIT is as in good, it fails in a process of its own.
BETRAYS = (
    "import sys\nimport ops\n"
    "forked = 'afterd_runtime.warm' in sys.orig_argv\n"
    "assert ops.f(9) == 3 and (forked or ops.OTHER == 1)\n"
)


def explained(path: Path, *command: str) -> tuple[dict[str, Any], str]:
    """The one explanation of two commits, and what was said on the way."""
    done = afterd("explain", "--format", "json", "--", sys.executable, *command, cwd=path)
    assert done.status == 0, done.err
    [found] = json.loads(done.out)["explanations"]
    assert isinstance(found, dict)
    return found, done.err


def made(path: Path, check: str = CHECK) -> Path:
    return repository(
        path, {"ops.py": GOOD, "check.py": check, "test_ops.py": UNITTEST}, {"ops.py": BAD}
    )


@pytest.mark.parametrize("command", KINDS.values(), ids=KINDS)
def test_warm_runs_find_what_fresh_ones_find(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same root. The good version's run is the warm process's first, recorded runs are the second of each end; a
    script is recorded in processes of its own, so both ends are run warm to compare. The answer is confirmed.
    """
    recorded_warm = command[0].startswith("-")
    found, said = explained(made(tmp_path / "warm"), *command)
    assert [change["id"] for change in found["root"]] == ["c1"]
    assert "in a warm process" in said
    assert "confirming the answer" in said
    runs = found["runs"]
    confirmed, warm = (3, 1) if recorded_warm else (5, 3)
    assert (runs["confirmation"], runs["warm"]) == (confirmed, warm + runs["tests"])
    assert not any("processes of its own alone" in note for note in found["notes"])

    monkeypatch.setattr(Reruns, "wanted", lambda *_given: False)
    monkeypatch.setattr(Reruns, "usable", lambda *_given: False)
    fresh, said = explained(made(tmp_path / "fresh"), *command)
    assert "warm" not in said
    assert fresh["root"] == found["root"]
    assert fresh["runs"]["warm"] == 0
    assert fresh["runs"]["tests"] == runs["tests"]


def test_a_program_that_can_tell_is_run_afresh(tmp_path: Path) -> None:
    """A warm run that ends otherwise is noticed before anything rests on it."""
    found, said = explained(made(tmp_path / "r", TELLS), "check.py")
    assert [change["id"] for change in found["root"]] == ["c1"]
    assert any("did not end as a fresh one" in note for note in found["notes"])
    assert "in a warm process" not in said


def test_an_answer_that_only_warm_runs_saw_is_withdrawn(tmp_path: Path) -> None:
    """The search is made again in processes of the test's own, and finds what they show."""
    found, said = explained(made(tmp_path / "r", BETRAYS), "check.py")
    assert [change["id"] for change in found["root"]] == ["c1", "c2"]
    assert found["verified"]
    assert "with c1 undone it passes, in a warm process" in said
    assert any("did not pass outside a warm process" in note for note in found["notes"])


def test_a_shell_is_not_spoken_of(tmp_path: Path) -> None:
    """Warm processes are for commands that start Python alone; others are run as ever."""
    path = made(tmp_path / "r")
    script = f"{sys.executable} check.py"
    done = afterd("explain", "--format", "json", "--test", f"sh -c '{script} && true'", cwd=path)
    assert done.status == 0, done.err
    [found] = json.loads(done.out)["explanations"]
    assert found["runs"]["warm"] == 0
    assert not any("warm" in note or "its own alone" in note for note in found["notes"])
