"""Rows of a table name nothing: what speaks against a variant is read without them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_changes import change

from afterd.model.change import ChangeForm
from afterd.trace.python.source import VariantCheck, nameless_changes


@pytest.mark.parametrize(
    ("patch", "nameless"),
    [
        ("-        (0x00300, 0x0036f,),  # Combining Grave Accent\n+        (0x2, 0x3),\n", True),
        ("-    'a b': [1, -2.5e3],\n", True),
        ("+    # only a remark\n", True),
        ("+    rb'x': (\n+        1,\n+    ),\n", True),
        ("-    (1, 2),\n+    (1, LAST),\n", False),
        (
            "-    (1, 2)\n",
            False,
        ),  # what stands before the next row without a comma is called with it
        ("+    ),\n", False),
        ("+    (1,\n", False),
        ("+    'not closed,\n", False),
        ("+    return 1,\n", False),
        ("+    x = 1,\n", False),
    ],
)
def test_rows_of_literals(patch: str, *, nameless: bool) -> None:
    one = change(1, "table.py", patch=patch)
    assert bool(nameless_changes([one])) is nameless
    assert not nameless_changes([change(1, "table.c", patch=patch)])
    assert not nameless_changes([replace(one, form=ChangeForm.ADDED)])


@given(st.lists(st.tuples(st.integers(0), st.text("ab '\"#(", max_size=4)), min_size=1, max_size=4))
def test_any_table_s_rows_are_nameless(rows: list[tuple[int, str]]) -> None:
    patch = "".join(f"+    ({number:#x}, {text!r}),  # {text}\n" for number, text in rows)
    assert nameless_changes([change(1, "table.py", patch=patch)])


def test_a_variant_of_rows_alone_is_not_read() -> None:
    texts = {"bad": b"T = [\n 1,\n]\n", "good": b"T = [\n 2,\n]\n"}
    read: list[str] = []

    def content(identifier: str) -> bytes:
        read.append(identifier)
        return texts[identifier]

    check = VariantCheck(
        lambda reverted: {"t.py": "mixed" if len(reverted) == 1 else "good" if reverted else "bad"},
        content,
        frozenset({"c1", "c2"}),
        nameless=frozenset({"c1"}),
    )
    assert check.against(frozenset({"c1"})) == ""
    assert "mixed" not in read


def test_a_long_number_is_read_once() -> None:
    """construct: it was divided in every way before a name behind it was seen, for minutes."""
    assert not nameless_changes([change(1, "t.py", patch=f"+    {'1' * 400} x\n")])
