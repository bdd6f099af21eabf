"""A commit that makes a test hang: explained like any failure, with the loop that should have ended."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pipeline_runs import afterd, repository

C = """\
#include <stdio.h>

static int twice(int n) {
    return HARMLESS;
}

int main(void) {
    int seen = 0, at = 0, end = twice(5);
    while (at != end) {
        at += STEP;
        seen++;
    }
    printf("%d\\n", seen);
    return 0;
}
"""
PYTHON = """\
def twice(n):
    return HARMLESS


def steps():
    seen, at, end = 0, 0, twice(5)
    while at != end:
        at += STEP
        seen += 1
    return seen


assert steps() == 5
"""


@dataclass(frozen=True)
class Program:
    """A file with a loop, and how it is built and tested."""

    file: str
    text: str
    options: tuple[str, ...]
    condition: str

    def version(self, *, bad: bool) -> dict[str, str]:
        # Not 3: when an int wraps around, that meets 10, after a second on a fast machine.
        step, harmless = ("4", "n + n") if bad else ("2", "2 * n")
        return {self.file: self.text.replace("STEP", step).replace("HARMLESS", harmless)}


PROGRAMS = {
    "C": Program("p.c", C, ("--build", "cc -g -o p p.c", "--", "./p"), "while (at != end) {"),
    "Python": Program("p.py", PYTHON, ("--", sys.executable, "p.py"), "while at != end:"),
}


def explained(path: Path, program: Program) -> dict[str, Any]:
    repository(path, program.version(bad=False), program.version(bad=True))
    options = ("--format", "json", *program.options)
    done = afterd("explain", *options, cwd=path, AFTERD_TEST_TIMEOUT="1s")
    assert done.status == 0, done.err + done.out
    [found] = json.loads(done.out)["explanations"]
    return dict(found)


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=list(PROGRAMS))
def test_the_loop_that_does_not_end(tmp_path: Path, program: Program) -> None:
    found = explained(tmp_path / "r", program)
    assert found["failure"]["kind"] == "hang"
    assert [change["patch"].count("at +=") for change in found["root"]] == [2]
    assert (found["minimal"], found["verified"]) == (True, True)
    assert found["tree"] is not None, found["notes"]
    assert found["failure"]["file"] == program.file
    assert program.condition in found["tree"]["predicate"]
    assert any(step["change"] == found["root"][0]["id"] for step in found["tree"]["steps"])
