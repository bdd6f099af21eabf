"""Which changes only define what others use."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made_changes import change

from afterd.causality.deltas.definitions import (
    former_users,
    names_taken_away,
    only_defines,
    only_gives_names,
)
from afterd.model.change import ChangeForm


@pytest.mark.parametrize(
    ("patch", "only"),
    [
        ("+def f():\n+    return 1\n+", True),
        ("+\n+    @property\n+    def f(self):\n+        return 1", True),
        ("+class A:\n+    size = 1", True),
        ("+import re\n+from os import (\n+    path,\n+)", True),
        ("+# what it is\n+async def f(\n+    a,\n+) -> int:\n+    return 1", True),
        ("+opened = isinstance(file, int)\n+if opened:\n+    raise OSError", False),
        ("+def f():\n+    return 1\n+f()", False),
        ("-def f(a):\n+def f():", False),
        ("+    size = 1", False),
        ("-def f():", False),
        ("+# no more", False),
    ],
)
def test_what_only_defines(patch: str, *, only: bool) -> None:
    assert only_defines(replace(change(1), patch=patch)) is only


@pytest.mark.parametrize(
    ("path", "only"), [("src/locks.py", True), ("locks.txt", False), ("locks.pyx", False)]
)
def test_a_module_that_nobody_imports_does_nothing(path: str, *, only: bool) -> None:
    """filelock: of a new module that imports what is not there, the line that imports it is the root."""
    added = replace(change(1), file=path, form=ChangeForm.ADDED, patch="+import sqlite3\n+x = f()")
    assert only_defines(added) is only


@pytest.mark.parametrize(
    ("patch", "only"),
    [
        ("+    result = []", True),
        ("+    result: list[int] = list()\n+    first, last = 0, 1", False),
        ("+    result: list[int] = list()\n+    first = last = 0", True),
        ("+    result = {\n+        1: a.b,\n+    }", True),
        ("+    result = f()", False),
        ("+    result = [x async for x in y if (z := x)]", False),
        ("+    self.result = []", False),
        ("+    result: list[int]", False),
        ("-    result = None\n+    result = []", False),
        ("+    if result := []:", False),
        ("+", False),
    ],
)
def test_what_only_gives_names_a_value(patch: str, *, only: bool) -> None:
    """gunicorn: `result = []`, of which the line that returns it is the root."""
    assert only_gives_names(replace(change(1), patch=patch)) is only


@pytest.mark.parametrize(
    ("patches", "names"),
    [
        (["-def keys(d):\n-    return list(d)\n-"], {"keys"}),
        (["-class A:\n-    x = 1\n-\n-async def f(\n-    a,\n-):\n-    return a"], {"A", "f"}),
        (["-def keys(d):\n-    # what it is", "-    return list(d)"], {"keys"}),
        (["-    return list(d)"], set()),
        (["-@route\n-def keys(d):\n-    return list(d)"], set()),
        (["-def keys(d):\n-    return list(d)\n-keys.asked = 0"], set()),
        (["-    def keys(self):\n-        return list(self)"], set()),
        (["-def keys(d):\n-    return list(d)\n+x = 1"], set()),
        (["-"], set()),
    ],
)
def test_which_functions_are_only_taken_away(patches: list[str], names: set[str]) -> None:
    parts = [
        replace(change(at), file="compat.py", patch=patch) for at, patch in enumerate(patches, 1)
    ]
    assert names_taken_away(*parts) == names


def test_who_called_what_was_taken_away_stands_for_it() -> None:
    """pika: `dictkeys` was brought back first, alone, where nobody called it."""
    gone = replace(change(1), file="compat.py", patch="-def keys(d):\n-    return list(d)")
    user = replace(change(2), file="a.py", patch="-    for k in keys(d):\n+    for k in d.keys():")
    other = replace(change(3), file="a.py", patch="-    monkeys(d)\n+    keys(d)")
    changes = {each.id: each for each in (gone, user, other)}
    assert former_users(frozenset({"keys"}), changes) == {user.id}
