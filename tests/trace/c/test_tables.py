"""Which lines of a table gave one part of it, read from the text."""

from __future__ import annotations

from pathlib import Path

import pytest

from afterd.trace.c.build.source import Sources
from afterd.trace.c.build.tables import Rows, Tables
from afterd.trace.c.ir.metadata import Part

TEXTS = {
    "rows": "int x[3] = {\n 1,\n 2, /* }, */\n 3\n}, y;\n",
    "elided": "int x[2][2] = {\n 1, 2,\n 3, 4\n};\n",
    "conditional": "int x[] = {\n 1,\n#if A\n 2,\n#else\n 3,\n#endif\n 4\n};\n",
    "called": "int x[] = {\n ROW(1)\n ROW(2)\n};\n",
    "unknown": "int x[4] = {\n [A] = 1,\n [WHO] = 2,\n};\n",
    "constants": "int x[9] = {\n [A] = 1,\n [010] = 2,\n ['b' - 'a'] = 3,\n};\n",
    "typed": "static struct x { int a; } x[2] = {\n {1},\n {2},\n};\n",
    "none": "extern int x[2];\nint y[] = {\n 1};\n",
}


@pytest.mark.parametrize(
    ("name", "path", "whole", "part"),
    [
        ("rows", [Part(2, of=3)], (1, 5), (4, 4)),
        ("elided", [Part(1, of=2), Part(0, of=2)], (1, 4), None),
        ("conditional", [Part(2, of=3)], (1, 9), None),
        ("called", [Part(1, of=2)], (1, 4), None),
        ("unknown", [Part(3, of=4)], (1, 4), None),
        ("constants", [Part(8, of=9)], (1, 5), None),
        ("typed", [Part(1, of=2), Part(0, "a")], (1, 4), (3, 3)),
        ("none", [Part(0, of=2)], (1, 1), None),
    ],
)
def test_where_the_text_does_not_tell_which_entry_it_is_the_whole_table_is_meant(
    tmp_path: Path,
    name: str,
    path: list[Part],
    whole: tuple[int, int],
    part: tuple[int, int] | None,
) -> None:
    (tmp_path / "a.c").write_text(TEXTS[name])
    numbers = {"A": 0}.get
    found = Tables(Sources(tmp_path)).table("x", Rows("a.c", 1, 1), path, numbers)
    assert found.whole == Rows("a.c", *whole)
    assert found.part == (Rows("a.c", *part) if part else None)
