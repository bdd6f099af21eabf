"""Which changes leave what a program does as it was."""

from __future__ import annotations

import pytest

from afterd.compare.python.relaid import relaid
from afterd.model.change import Change
from afterd.model.location import LineSpan

_SPAN = LineSpan(1, 1)


@pytest.mark.parametrize(
    ("patch", "laid_out", "annotated"),
    [
        ("-    f(a,\n-      b)\n+    f(a, b)  # type: ignore", True, True),
        ("-    def f(a: 'A') -> t.List[int]:\n+    def f(a: A) -> list[int]:", False, True),
        ("-    async def f(a: 'A'):\n+    async def f(a: A):", False, True),
        ("-def f(a: 'A'):\n-    pass\n+def f(a: A):\n+    pass", False, True),
        ("-    args: t.List[str],\n-    x=1,\n+    args: list[str],\n+    x=1,", False, True),
        ("-    def f(a: int = 1):\n+    def f(a: int = 2):", False, False),
        ("-    x: int = 1\n+    x: str = 1", False, False),  # of a dataclass, as likely as not
        ("-    f(a)\n+    f(b)", False, False),
        ("-    if a:\n+    if b:", False, False),
        ("+    f(a)", False, False),
    ],
)
def test_layout_and_annotations(patch: str, laid_out: bool, annotated: bool) -> None:
    change = Change("c1", "a.py", "a.py", _SPAN, _SPAN, patch=f"@@ -1 +1 @@\n{patch}\n")
    assert bool(relaid([change], annotations=False)) == laid_out
    assert bool(relaid([change], annotations=True)) == annotated


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        (
            "        a, LIMIT,\n",
            "        a,\n        LIMIT,\n",
            True,
        ),  # arguments: alone it is another program
        ("        a, LIMIT,\n", "        a,\n        MOST,\n", False),
    ],
)
def test_layout_inside_of_a_statement_whose_line_numbers_can_be_seen(
    old: str, new: str, same: bool
) -> None:
    """dramatiq: a call's arguments, one a line now, came before the guilty line."""
    head, tail = "import inspect\ninspect.stack()[0].lineno\ndef f(a):\n    log(\n", "    )\n"
    span = LineSpan(5, old.count("\n")), LineSpan(5, new.count("\n"))
    lines = [*(f"-{line}" for line in old.splitlines()), *(f"+{line}" for line in new.splitlines())]
    change = Change("c1", "a.py", "a.py", *span, patch="\n".join(["@@ -5 +5 @@", *lines, ""]))
    texts = {("a.py", "a.py"): ((head + old + tail).encode(), (head + new + tail).encode())}
    assert not relaid([change], annotations=True)
    assert bool(relaid([change], texts, annotations=True)) == same
