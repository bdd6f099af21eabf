"""Which lines of a table gave one part of it, read from the text."""

from __future__ import annotations

from pathlib import Path

import pytest

from afterd.limits import ProcessLimits
from afterd.trace.c.build.preprocessed import Preprocessed, listing_of
from afterd.trace.c.build.source import Sources
from afterd.trace.c.build.tables import Rows, Tables
from afterd.trace.c.ir.metadata import Part

TEXTS = {
    "rows": "int x[3] = {\n 1,\n 2, /* }, */\n 3\n}, y;\n",
    "elided": "int x[2][2] = {\n 1, 2,\n 3, 4\n};\n",
    "begun": "int x[3][2] = {\n 1, 2,\n 3\n};\n",
    "mixed": "int x[2][2] = {\n {1, 2},\n 3, 4\n};\n",
    "texts": 'char x[2][3] = {\n "ab",\n "cd"\n};\n',
    "wrapped": "std::array<int, 2> x{\n 1,\n 2\n};\n",
    "macros": "int x[2] = {\n ROW(1),\n ROW(2)\n};\n",
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
        ("elided", [Part(1, of=2), Part(0, of=2)], (1, 4), (3, 3)),
        ("begun", [Part(1, of=3), Part(0, of=2)], (1, 4), (3, 3)),
        ("begun", [Part(2, of=3), Part(0, of=2)], (1, 4), None),
        ("mixed", [Part(1, of=2), Part(0, of=2)], (1, 4), None),
        ("texts", [Part(1, of=2), Part(1, of=3)], (1, 4), (3, 3)),
        ("wrapped", [Part(0, "_M_elems", 1), Part(1, of=2)], (1, 4), (3, 3)),
        ("macros", [Part(1, of=2)], (1, 4), (3, 3)),
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
    unknown = Preprocessed(tmp_path, tmp_path, tmp_path, ProcessLimits())
    tables, start = Tables(Sources(tmp_path), unknown), Rows("a.c", 1, 1)
    assert tables.whole("x", start) == Rows("a.c", *whole)
    found = tables.part("x", start, path, numbers, "a.c")
    assert found == (Rows("a.c", *part) if part else None)


def test_a_line_of_preprocessed_text_stands_where_it_was_written() -> None:
    text = '# 1 "/src/lib/a.c"\nint a;\n\n# 7 "rows.def" 1\n{1},\n# 4 "/src/lib/a.c" 2\n};'
    listing = listing_of(text, Path("/src/lib"), Path("/src"))
    assert dict(zip(listing.lines, listing.places, strict=True)) == {
        "int a;": ("lib/a.c", 1),
        "": ("lib/a.c", 2),
        "{1},": ("lib/rows.def", 7),
        "};": ("lib/a.c", 4),
    }
    assert listing.first["lib/a.c", 4] == 3


def test_enumerators_are_counted_as_far_as_the_text_tells_their_values() -> None:
    text = "enum a { A, B = 0x10, C, D = B + 2, E = f(1), F };\nenum class b : int { G = 010 };"
    known = listing_of(text, Path("/"), Path("/")).enumerators
    assert known == {"A": 0, "B": 16, "C": 17, "D": 18, "G": 8}
