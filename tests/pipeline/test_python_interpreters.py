"""The whole way with every supported Python on this machine, whichever one afterd runs in."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from pipeline_runs import afterd, repository

MINORS = (11, 12, 13)
GOOD = """\
from dataclasses import dataclass


@dataclass
class Box:
    n: int

    def half(self):
        match self.n:
            case n if (h := n // 2) > 0:
                return h
            case _:
                return 0


def names(xs):
    return [f"{x!r:>{3}}" for x in xs]
"""
BAD = GOOD.replace("n // 2", "n - 2").replace("!r", "!s")
TEST = """\
import unittest
import ops


class Halves(unittest.TestCase):
    def test_half(self):
        self.assertEqual(ops.Box(9).half(), 4)
"""
# Syntax that only the newer ones have; afterd's own may not be able to read it.
NEWER = (
    "type Pair[T] = tuple[T, T]\n\n\ndef first[T](pair: Pair[T]) -> T:\n    return pair[0]\n\n\n"
)


def interpreter(minor: int) -> str:
    """A Python of this version that runs; empty where there is none."""
    pyenv = Path.home() / ".pyenv" / "versions"
    found = [shutil.which(f"python3.{minor}"), *sorted(pyenv.glob(f"3.{minor}.*/bin/python"))]
    for path in map(str, filter(None, found)):
        said = subprocess.run([path, "-V"], capture_output=True, text=True, check=False).stdout
        if said.startswith(f"Python 3.{minor}."):
            return path
    return ""


@pytest.mark.parametrize("minor", MINORS)
def test_a_failing_test_is_explained(minor: int, tmp_path: Path) -> None:
    python = interpreter(minor)
    if not python:
        pytest.skip(f"no Python 3.{minor} on this machine")
    above = NEWER if minor >= MINORS[1] else ""
    files = {"ops.py": above + GOOD, "test_ops.py": TEST}
    repository(tmp_path / "r", files, {"ops.py": above + BAD})
    command = (python, "-m", "unittest", "-q", "test_ops")
    done = afterd("explain", "--format", "json", "--", *command, cwd=tmp_path / "r")
    assert done.status == 0, done.err
    [found] = json.loads(done.out)["explanations"]
    assert ["n - 2" in change["patch"] for change in found["root"]] == [True]
    assert found["runs"]["tests"] == 1
    assert "c1" in changes_in(found["tree"])


def changes_in(node: dict[str, Any]) -> set[str]:
    """The changes marked in a causal tree."""
    own = {step["change"] for step in node["steps"] if step["change"]}
    return own.union(*map(changes_in, node["causes"]))
