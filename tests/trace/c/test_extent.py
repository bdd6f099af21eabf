"""Where a statement begins and ends, read from the text."""

from __future__ import annotations

from pathlib import Path

import pytest

from afterd.trace.c.build.source import Sources

TEXT = """\
int x;
// why
int y = first(
    // one, and
    1,
    /* two */
    2);

int z = 3;  // so
    // on
return alternatives<
    // a word
    word,
    number
>(text);
"""


@pytest.mark.parametrize(
    ("line", "extent"),
    [
        (1, (1, 1)),
        (3, (3, 7)),
        (5, (3, 7)),
        (6, (3, 7)),
        (9, (9, 9)),
        (11, (11, 15)),
        (13, (11, 15)),
    ],
)
def test_a_line_of_comment_ends_no_statement(
    tmp_path: Path, line: int, extent: tuple[int, int]
) -> None:
    """Of libsass: a statement of eighty lines, each part of it with a comment above."""
    (tmp_path / "a.cc").write_text(TEXT)
    assert Sources(tmp_path).extent("a.cc", line) == extent


def test_a_long_statement_is_one(tmp_path: Path) -> None:
    lines = ["int a;", "return sum(", *[f"    {number}," for number in range(80)], "    0);"]
    (tmp_path / "a.cc").write_text("\n".join(lines))
    assert Sources(tmp_path).extent("a.cc", 2) == (2, 83)


def test_a_row_of_a_table_is_a_statement_of_its_own(tmp_path: Path) -> None:
    """A std::map is filled when the program begins: each row was altered by the changes of all."""
    lines = [
        "std::map<int, int> all = {",
        "    {1, 2},",
        "    {3, 4},  // so",
        "    {5,",
        "     6},",
        "};",
    ]
    (tmp_path / "a.cc").write_text("\n".join(lines))
    sources = Sources(tmp_path)
    assert [sources.extent("a.cc", line) for line in (2, 3, 4)] == [(2, 2), (3, 3), (4, 6)]
