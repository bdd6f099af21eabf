"""Half-reverted Python: what a variant misses is found before it runs, or from its run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pipeline_runs import afterd, repository

TEST = """\
import ops

def test_add():
    assert ops.run("add", 3, 1) == 4
"""
SETTING = "\n\n\nUNUSED = {}\n\n\n"  # between two changes, so that they are two

# Seen from the text alone: the caller needs a name that only one version has.
RENAMED = (
    "def plus(a, b):\n    return a + b\n"
    + SETTING
    + "def run(kind, a, b):\n    return plus(a, b)\n",
    "def add(a, b):\n    return a + b\n"
    + SETTING
    + "def run(kind, a, b):\n    return add(a, b - 2)\n",
)
# Seen from the run alone: the name is put together when it is looked up.
LOOKED_UP = (
    "import sys\ndef do_add(a, b): return a + b\n"
    + SETTING
    + "PREFIX = 'do_'\ndef run(kind, a, b):\n    return getattr(sys.modules[__name__], PREFIX + kind)(a, b)\n",
    "import sys\ndef handle_add(a, b): return a - b\n"
    + SETTING
    + "PREFIX = 'handle_'\ndef run(kind, a, b):\n    return getattr(sys.modules[__name__], PREFIX + kind)(a, b)\n",
)
# A keyword argument that arrives through a dictionary.
KEYWORD = (
    "def add(a, b, by=1): return a + b * by\n"
    + SETTING
    + "GIVEN = {'b' + 'y': 1}\ndef run(kind, a, b):\n    return add(a, b, **GIVEN)\n",
    "def add(a, b, times=1): return a - b * times\n"
    + SETTING
    + "GIVEN = {'ti' + 'mes': 1}\ndef run(kind, a, b):\n    return add(a, b, **GIVEN)\n",
)
# The test itself: a NameError in the bad version is the failure, not a variant that does not build.
BROKEN = (
    "def add(a, b): return a + b\n"
    + SETTING
    + "LIMIT = 3\ndef run(kind, a, b):\n    return add(a, b)\n",
    "def add(a, b): return a + c\n"
    + SETTING
    + "LIMIT = 4\ndef run(kind, a, b):\n    return add(a, b)\n",
)


def explained(path: Path, good: str, bad: str) -> dict[str, Any]:
    """The explanation of the one failing test of two commits."""
    repository(
        path,
        {
            "ops.py": good,
            "test_ops.py": TEST,
            "pytest.ini": "[pytest]\naddopts = -p no:hypothesispytest\n",
        },
        {"ops.py": bad},
    )
    done = afterd("explain", "--format", "json", cwd=path)
    assert done.status == 0, done.err
    [found] = json.loads(done.out)["explanations"]
    assert isinstance(found, dict)
    return found


def undone(changes: list[dict[str, Any]]) -> str:
    return "".join(change["patch"] for change in changes)


# Two causes, each handed on for itself: with one of them alone undone the sum is wrong still.
TWO = (
    "def first(a):\n    base = a + 1\n    return base * 2\n"
    + SETTING
    + "def second(b):\n    base = b + 1\n    return base * 2\n\n\n"
    "def run(kind, a, b):\n    return first(a) - second(b)\n",
    "def first(a):\n    base = a + 5\n    return base * 2\n"
    + SETTING
    + "def second(b):\n    base = b + 3\n    return base * 2\n\n\n"
    "def run(kind, a, b):\n    return first(a) - second(b)\n",
)


def test_each_of_two_causes_has_its_branch(tmp_path: Path) -> None:
    """Told by the twins in which one alone is undone; what both of them alter is nobody's."""
    found = explained(tmp_path / "r", *TWO)
    whose = {(step["file"], step["line"]): step["whose"] for step in found["tree"]["steps"]}
    first, second = (c["id"] for c in sorted(found["root"], key=lambda c: c["new"][0]))
    assert whose == {
        ("ops.py", 2): None,  # the changes' own lines say it
        ("ops.py", 3): first,
        ("ops.py", 11): None,
        ("ops.py", 12): second,
        ("ops.py", 16): None,
        ("test_ops.py", 4): None,
    }


CASES = {
    "a name": (RENAMED, "", "@@"),  # either needs the other: which one is the root is for the loop
    "a name that is put together": (LOOKED_UP, "return a - b", "handle_'"),
    "a keyword": (KEYWORD, "return a - b", "'mes'"),
    "a name that is the failure": (BROKEN, "a + c", ""),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_must_go_along(case: tuple[tuple[str, str], str, str], tmp_path: Path) -> None:
    (good, bad), guilty, along = case
    found = explained(tmp_path / "r", good, bad)
    assert guilty in undone(found["root"])
    assert len(found["root"]) == 1
    assert (along in undone(found["auxiliary"])) if along else not found["auxiliary"]
    assert found["runs"]["tests"] <= 4
    assert found["verified"]


def test_what_is_left_fails_otherwise(tmp_path: Path) -> None:
    """The failing run ends before it comes to the second guilty change: a variant's run does."""
    calls = [f"def part{i}(n):\n    return n\n\n\n" for i in range(12)]
    good = "".join(calls)
    harmless = [call.replace("return n", "return +n") for call in calls]
    harmless[2] = calls[2].replace("return n", "return n + 1")
    harmless[7] = calls[7].replace("return n", "return -n")
    asserts = "".join(f"    assert ops.part{i}(3) == 3\n" for i in range(12))
    repository(
        tmp_path / "r",
        {
            "ops.py": good,
            "test_ops.py": f"import ops\n\n\ndef test_all():\n{asserts}",
            "pytest.ini": "[pytest]\naddopts = -p no:hypothesispytest\n",
        },
        {"ops.py": "".join(harmless)},
    )
    done = afterd("explain", "--format", "json", cwd=tmp_path / "r")
    assert done.status == 0, done.err
    [found] = json.loads(done.out)["explanations"]
    assert "return n + 1" in undone(found["root"])
    assert "return -n" in undone(found["root"])
    assert (len(found["root"]), found["auxiliary"]) == (2, [])
    assert found["runs"]["tests"] <= 6
    assert any("fails otherwise" in note for note in found["notes"])
