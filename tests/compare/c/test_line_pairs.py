"""Lines of two outputs that are one line written otherwise."""

from __future__ import annotations

import pytest

from afterd.compare.c.line_pairs import Pair, line_pairs


@pytest.mark.parametrize(
    ("mine", "other", "pairs"),
    [
        ("a one\nb two\n", "c\nd\n", [(0, 0), (1, 1)]),  # as many: one by one
        (  # GNU indent: braces moved to the end of the lines before them
            "     func (1);}\n     return DONE;}\n",
            "      func (1);\n    }\n  return DONE;\n}\n",
            [(0, 0), (None, 1), (1, 2), (None, 3)],
        ),
        ("    int x;\n", "\n\nint x;\n", [(None, 0), (None, 1), (0, 2)]),
        ("noise\nint x;\n", "int y;\n", [(0, None), (1, 0)]),
        ("abc\n", "xyz\nuvw\n", [(0, 0), (None, 1)]),  # nothing is alike
        ("abc\n", "", [(0, None)]),
        ("", "abc\n", [(None, 0)]),
    ],
)
def test_lines_stand_beside_those_that_they_are_like(
    mine: str, other: str, pairs: list[Pair]
) -> None:
    one, another = mine.encode().splitlines(), other.encode().splitlines()
    assert list(line_pairs(one, another)) == pairs
