"""What is read piece by piece is what reading the whole file would have said."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from afterd.vcs.enclosing import Enclosing, enclosing_symbol, symbols
from afterd.vcs.outline import Outline
from afterd.vcs.statements import _BracedLayout, layout
from afterd.vcs.tokens import Language

HERE = Path(__file__).parents[2]
SOURCES = sorted(path for path in HERE.glob("*/**/*.[ch]") if ".venv" not in path.parts)
PARTS = (
    *(
        "int f(int a) {\n",
        "}\n",
        "} g;\n",
        "struct s {\n",
        "int t[] = {\n",
        "1,\n",
        "};\n",
        "x = 1;\n",
    ),
    *(
        "#if A\n",
        "#else\n",
        "#endif\n",
        "#define M(x) do { \\\n x; } while (0)\n",
        "#ifdef B /* {\n*/\n",
    ),
    *(
        'extern "C" {\n',
        "/* {\n } ; */\n",
        "// }\n",
        "if (a) {\n",
        "} else {\n",
        's = "};{";\n',
        "c = '}';\n",
    ),
    *(
        "int a; /* b */\n",
        "call(a,\n",
        "b);\n",
        "K(a) int a;\n",
        "{\n",
        "n = 1'000;\n",
        's = "open;\n',
        "\n",
    ),
)


def _check(text: str) -> None:
    content = text.encode("latin-1")
    lines = content.splitlines(keepends=True)
    whole, read = _BracedLayout(Language.C, len(lines)).of(text), layout(lines, Language.C)
    assert read is not None
    assert list(read.complete) == list(whole.complete)
    assert list(read.depth) == list(whole.depth)
    names, every = Enclosing(content, Language.C), symbols(content, Language.C)
    for line in range(1, len(lines) + 1):
        assert names.name(line) == enclosing_symbol(every, line)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_a_file_is_read_alike_in_pieces_and_as_a_whole(path: Path) -> None:
    _check(path.read_text("latin-1"))


@given(st.lists(st.sampled_from(PARTS), max_size=24))
@example(["#if A\n", 'extern "C" {\n', "x = 1;\n", "#else\n", "1,\n"])
@example(['s = "open;\n', 'extern "C" {\n', "b);\n", "}\n"])
@settings(max_examples=300)
def test_any_text_is_read_alike_in_pieces_and_as_a_whole(parts: list[str]) -> None:
    _check("".join(parts))


def test_a_large_file_falls_into_pieces() -> None:
    text = "".join(f"static int f{n}(int a) {{\n    return a + {n};\n}}\n\n" for n in range(9))
    piece = Outline(text).around(18, 18)
    assert (piece.first, piece.last) == (16, 19)
