"""Declarations that took the place of others: what is cut apart, and what is not."""

from __future__ import annotations

import pytest

from afterd.model.location import LineSpan
from afterd.vcs.declarations import Declarations, apart
from afterd.vcs.hunks import Hunk, SourceText, difference, smallest_hunks, split_lines, undone_lines
from afterd.vcs.tokens import Language

_WANTED = "static int want_libs;\nstatic int want_cflags;\n"
_FLAGS = "static int want_flags;\n"
_BOOLEAN = (
    "typedef unsigned char mksh_bool;\n#undef true\n#define true 1\n"
    "#if !HAVE\ntypedef char uint8_t;\n#endif\n"
)
_TRUTH = "typedef unsigned char Wahr;\n#define Ja 1U\n"


def _parts(good: str, bad: str, path: str = "a.c") -> list[tuple[str, str]]:
    """What each part takes away and puts in."""
    one, other = good.encode(), bad.encode()
    before, after = split_lines(one), split_lines(other)
    return [(_text(before, part.old), _text(after, part.new)) for part in _hunks(one, other, path)]


def _hunks(good: bytes, bad: bytes, path: str) -> list[Hunk]:
    one, other = SourceText(good, Language.C), SourceText(bad, Language.C)
    return [
        part
        for hunk in difference(good, bad)
        for small in smallest_hunks(hunk, one, other)
        for part in (
            apart(small, Declarations(path, good), Declarations(path, bad))
            if small.old.count and small.new.count
            else [small]
        )
    ]


def _text(lines: list[bytes], span: LineSpan) -> str:
    return b"".join(lines[span.start - 1 : span.end - 1]).decode() if span.count else ""


@pytest.mark.parametrize(
    ("good", "bad", "expected"),
    [
        (_WANTED, _FLAGS, [(_WANTED, ""), ("", _FLAGS)]),
        ("#define OLD 1\n#define ELSE 2\n", "int f(void)\n{\n return 1;\n}\n",
         [("#define OLD 1\n#define ELSE 2\n", ""), ("", "int f(void)\n{\n return 1;\n}\n")]),
        # of the same name on both sides: one replaces the other
        ("int a(int);\n", "int a(long);\nint b;\nint c;\n",
         [("int a(int);\n", "int a(long);\n"), ("", "int b;\nint c;\n")]),
        (_BOOLEAN, _TRUTH, [(_BOOLEAN, ""), ("", _TRUTH)]),
        ("struct s {\n int old;\n int two;\n};\n", "struct s {\n long neu;\n};\n",
         [(" int old;\n int two;\n", ""), ("", " long neu;\n")]),
        ("void f(void)\n{\n int a;\n char *b;\n g();\n}\n", "void f(void)\n{\n long c;\n g();\n}\n",
         [(" int a;\n char *b;\n", ""), ("", " long c;\n")]),
        ("int a;\nint z;\nint y;\n", "void e(char *, ...)\n    NORETURN\n    FORMAT(p, 1, 2);\nint b;\n",
         [("int a;\nint z;\nint y;\n", ""), ("", "void e(char *, ...)\n    NORETURN\n    FORMAT(p, 1, 2);\nint b;\n")]),
    ],
)  # fmt: skip
def test_what_only_one_version_declares_is_a_change_of_its_own(
    good: str, bad: str, expected: list[tuple[str, str]]
) -> None:
    """Pkgconf: 17 variables became one, which half of the program uses. To have one of them back all of that was
    undone as well, and no set of changes that held its use could be built.
    """
    assert _parts(good, bad) == expected


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("void f(void)\n{\n a = 1;\n b = 2;\n}\n", "void f(void)\n{\n c();\n}\n"),
        ("void f(void)\n{\n int a = g();\n int b;\n}\n", "void f(void)\n{\n long c = g();\n}\n"),
        ("int a[] = {\n 1,\n 2,\n};\n", "int a[] = {\n 3,\n};\n"),
        ("struct s {\n int a;\n};\n", "struct s;\nstruct s {\n long a;\n};\nint s;\n"),
        ("int a;\nint b;\n", "long b;\nlong a;\nint c;\n"),
    ],
)
def test_what_belongs_together_stays_together(good: str, bad: str) -> None:
    """Statements, calls in what a variable is given, rows of a table, and what is in another order."""
    assert len(_parts(good, bad)) == len(difference(good.encode(), bad.encode()))


@pytest.mark.parametrize(
    ("good", "bad"), [(_WANTED, _FLAGS), ("int a(int);\n", "int a(long);\nint b;\n")]
)
def test_both_can_stand(good: str, bad: str) -> None:
    """Undoing all parts gives the old text; undoing the first of two leaves what came."""
    one, other = split_lines(good.encode()), split_lines(bad.encode())
    hunks = _hunks(good.encode(), bad.encode(), "a.c")
    assert undone_lines(one, other, hunks) == one
    assert undone_lines(one, other, hunks[:1]) == [
        *one[: hunks[0].old.count],
        *other[hunks[0].new.count :],
    ]
