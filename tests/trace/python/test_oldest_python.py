"""Python 3.8, the oldest that is recorded: what runs in it asks for nothing newer."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from older_pythons import GENERIC, older_pythons
from python_pairs import reachable, traced_pair

import afterd.trace.python.record

RUNTIME = sorted(Path(str(afterd.trace.python.record.__file__)).parent.glob("*.py"))
OLDEST = (3, 8)
PARTED = GENERIC | {"Callable", "Mapping", "Sequence"}
NEWER = {"removeprefix", "removesuffix", "is_relative_to", "waitstatus_to_exitcode", "unparse"}


def evaluated(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that are evaluated: no annotations, and nothing for a type checker alone."""
    yield node
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns"}:
            continue
        for each in value if isinstance(value, list) else [value]:
            checked = isinstance(each, ast.If) and ast.unparse(each.test) == "TYPE_CHECKING"
            if isinstance(each, ast.AST) and not checked:
                yield from evaluated(each)


@pytest.mark.parametrize("path", RUNTIME, ids=lambda path: path.stem)
def test_the_runtime_asks_for_nothing_newer(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=OLDEST)
    for node in evaluated(tree):
        part = isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name)
        assert not part or ast.unparse(node).partition("[")[0] not in PARTED, ast.unparse(node)
        assert not isinstance(node, ast.Attribute) or node.attr not in NEWER, ast.unparse(node)


MAIN = """\
import sys

class Table:
    def __init__(self, rows):
        self.rows = rows

    def __getitem__(self, key):
        columns, rows = key
        return [row[columns] for row in self.rows[rows]]

def total(table):
    found = table[1:3, 0:2]
    count = {"rows": 0}
    for row in found:
        count["rows"] += len(row)
    last = found[-1][CHOSEN]
    return count["rows"] + last

got = total(Table([[1, 2, 3], [4, 5, 6], [7, 8, 9]]))
assert got == 10, got
"""


@pytest.mark.parametrize(
    "python", older_pythons(9, since=8) or [""], ids=lambda path: path or "none"
)
def test_a_program_is_recorded_by_the_oldest_python(tmp_path: Path, python: str) -> None:
    """NMigen and cwltool ran by 3.8, and 9 and 18 runs were made where one and seven are enough."""
    if not python:
        pytest.skip("no Python 3.8 is on this machine")
    good, bad = ({"main.py": MAIN.replace("CHOSEN", each)} for each in ("1", "0"))
    execution = traced_pair(tmp_path, good, bad, (python, "main.py"))
    assert execution.executed_changes() == ["c1"]
    [failure] = execution.failures()
    assert (failure.message, failure.expected) == ("AssertionError: 9", "10")
    assert {change for step in reachable(execution) for change in step.changes} == {"c1"}
