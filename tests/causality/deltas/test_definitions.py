"""Which changes only define what others use."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made_changes import change

from afterd.causality.deltas.definitions import only_defines


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
