"""A test younger than the versions it is run at lies outside the repository: it is recorded with the program."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from pipeline_runs import repository

from afterd.config import Settings
from afterd.model.explanation import CauseNode, Explanation, Status
from afterd.pipeline.explain import explain
from afterd.trace.python.stage import folders_beside

GAP = "\n\n\nUNUSED = {}\n\n\n"
GOOD = GAP.join(
    [
        "RATE = 2",
        "EXTRA = 1",
        "def price(n):\n    return n * RATE",
        "def fee(n):\n    return n + EXTRA",
    ]
)
BAD = GAP.join(
    [
        "RATE = 3",
        "EXTRA = 1 + 0",
        "def price(n):\n    return n * RATE",
        "def fee(n):\n    return n + EXTRA",
    ]
)
HELPER = "from ops import price\n\n\ndef cost(n):\n    cents = price(n) * 100\n    return cents\n"
PYTEST = "from helping import cost\n\n\ndef test_cost():\n    found = cost(5)\n    assert found == 1000\n"
SCRIPT = "from helping import cost\n\nassert cost(5) == 1000\n"


def _explained(tmp_path: Path, name: str, text: str, *command: str) -> Explanation:
    where = repository(tmp_path / "program", {"ops.py": GOOD}, {"ops.py": BAD})
    aside = tmp_path / "aside"
    aside.mkdir()
    (aside / "helping.py").write_text(HELPER)
    (aside / name).write_text(text)
    full = (*command, str(aside / name))
    [found] = explain(Settings(repository=where, test=full, range="HEAD~1..HEAD"))
    assert found.status is Status.EXPLAINED, found.reason
    return found


@pytest.mark.parametrize(
    ("name", "text", "command", "line"),
    [
        ("test_new.py", PYTEST, (sys.executable, "-m", "pytest", "-q"), 6),
        ("repro.py", SCRIPT, ("env", "PYTHONPATH=.", sys.executable), 3),
    ],
    ids=["pytest", "script"],
)
def test_the_story_ends_at_the_assertion_of_a_test_outside(
    name: str, text: str, command: tuple[str, ...], line: int, tmp_path: Path
) -> None:
    found = _explained(tmp_path, name, text, *command)
    aside = tmp_path / "aside"
    [guilty] = found.root
    assert "+RATE = 3" in guilty.patch
    assert found.tree is not None
    assert (found.tree.file, found.tree.line) == (str(aside / name), line)
    assert str(aside / "helping.py") in _files(found.tree)
    # What is recorded from the change to the assertion rules chance out: no end is run ten times for it.
    assert found.runs.confirmation <= 6


def _files(cause: CauseNode) -> set[str]:
    own = {step.file for step in cause.steps}
    return own.union(*map(_files, cause.causes))


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (("python", "-m", "pytest", "{}/test_new.py::test_it[a-b]"), ("{}",)),
        (("python", "{}/repro.py"), ("{}",)),
        (("sh", "-c", "python -m pytest '{}/test_new.py'"), ("{}",)),
        (("python", "-m", "pytest", "{}"), ("{}",)),
        (("python", "-m", "pytest", "--rootdir", "{}/empty", "test_new.py"), ()),
        (("python", "-m", "pytest", "{}/gone.py", "it's"), ()),
        (("python", "{}/venv/run.py"), ()),
    ],
)
def test_folders_of_the_files_that_a_command_names(
    command: tuple[str, ...], expected: tuple[str, ...], tmp_path: Path
) -> None:
    here = tmp_path.resolve()
    for folder in ("empty", "venv"):
        (here / folder).mkdir()
    for name in ("test_new.py", "repro.py", "venv/run.py"):
        (here / name).touch()
    named = tuple(word.replace("{}", str(here)) for word in command)
    assert folders_beside(named) == tuple(word.replace("{}", str(here)) for word in expected)
