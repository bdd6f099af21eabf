"""Which wrong output the test looks at."""

from __future__ import annotations

import pytest

from afterd.compare.c.shown import Shown, turned_red


@pytest.mark.parametrize(
    ("mine", "other", "observed", "expected", "told"),
    [
        ("1 line\n", "typedef union\n1 line\n", "YYSTYPE;", "typedef union", True),
        ("< 5 apples\n> 6 apples\n", "", "5 apples", "6 apples", True),
        ("done\n", "done\n", "wrong", "right", False),
        ("a {\n", "b {\n", "{", "}", False),  # punctuation is in every line
        ("same text: 1\n", "same text: 2\n", "same text", "same text", False),
    ],
)
def test_a_line_that_one_run_shows_alone(
    mine: str, other: str, observed: str, expected: str, *, told: bool
) -> None:
    assert Shown(mine, other).tells_of(observed, expected) is told


@pytest.mark.parametrize(
    ("quoted", "observed", "expected", "share"),
    [
        ("^int x;", "    int x;", "int x;", 2),  # the line whole
        ("unsigned short", "(unsignedshort)", "(unsigned short)", 2),  # what tells the two apart
        ("+ *|.*blocks.c", "11  5  |blocks.c", "11  5+ |blocks.c", 1),  # a part of a pattern
        ("^int x;", "        int t = a;", "    int t = a;", 0),
        ("}", "  }", "}", 0),  # punctuation is in every line
        ("", "a", "b", 0),
    ],
)
def test_what_the_test_itself_was_written_with(
    quoted: str, observed: str, expected: str, share: int
) -> None:
    assert Shown("", "", [quoted]).asks_for(observed, expected) == share


@pytest.mark.parametrize(
    ("observed", "expected", "red"),
    [
        ("[fail] Text [3][4]", "[pass] Text [3][3]", True),
        ("FAIL: parse", "ok: parse", True),
        ("not ok 3 - parse", "ok 3 - parse", True),
        ("[pass] Size [48]", "[pass] Size [40]", False),
        ("2 failed, 7 passed", "0 failed, 9 passed", False),
        ("failover: on", "failover: off", False),
        ("a test failed", "", False),
    ],
)
def test_a_line_of_a_test_that_failed(observed: str, expected: str, *, red: bool) -> None:
    assert turned_red(observed, expected) is red
