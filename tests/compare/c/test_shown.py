"""Which wrong output the test looks at."""

from __future__ import annotations

import pytest

from afterd.compare.c.shown import Shown


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
