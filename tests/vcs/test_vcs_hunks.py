"""Splitting hunks: what can stand alone does, what cannot is left together."""

from __future__ import annotations

import ast

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from afterd.model.location import LineSpan
from afterd.vcs.hunks import Hunk, SourceText, difference, smallest_hunks, split_lines, undone_lines
from afterd.vcs.statements import layout
from afterd.vcs.tokens import Language, language_of

Span = tuple[int, int]


def _split(good: str, bad: str, language: Language) -> list[tuple[Span, Span]]:
    return [
        ((part.old.start, part.old.count), (part.new.start, part.new.count))
        for part in _parts(good, bad, language)
    ]


def _parts(good: str, bad: str, language: Language) -> list[Hunk]:
    one, other = SourceText(good.encode(), language), SourceText(bad.encode(), language)
    return [
        part
        for hunk in difference(one.content, other.content)
        for part in smallest_hunks(hunk, one, other)
    ]


_SINGLES = [((2, 1), (2, 1)), ((3, 1), (3, 1))]
_TOGETHER = [((2, 2), (2, 2))]


@pytest.mark.parametrize(
    ("language", "good", "bad", "expected"),
    [
        (Language.C, "{\n a = 1;\n b = 2;\n}\n", "{\n a = 3;\n b = 4;\n}\n", _SINGLES),
        (Language.C, "{\n f(a,\n   1);\n}\n", "{\n f(b,\n   2);\n}\n", _TOGETHER),
        (Language.C, "{\n if (a)\n  f(1);\n}\n", "{\n if (b)\n  f(2);\n}\n", _TOGETHER),
        (Language.C, "{\n a = 1 + \n  b;\n}\n", "{\n a = 2 + \n  c;\n}\n", _TOGETHER),
        (Language.C, "{\n if (a) {\n f(1);\n }\n}\n", "{\n if (b) {\n f(2);\n }\n}\n", _SINGLES),
        (
            Language.C,
            "{\n if (a) {\n f(1);\n}\n}\n",
            "{\n if (a) f(a);\n f(1); {\n}\n}\n",
            _TOGETHER,
        ),
        (Language.C, "x[] = {\n 1,\n 2,\n};\n", "x[] = {\n 3,\n 4,\n};\n", _SINGLES),
        (Language.C, "enum {\n A = 1,\n B = 2\n};\n", "enum {\n A = 3,\n B = 4\n};\n", _SINGLES),
        (Language.C, "\n#define A 1\n#define B 2\n", "\n#define A 3\n#define B 4\n", _SINGLES),
        (Language.C, "\n#define A(x) \\\n  f(x)\n", "\n#define A(y) \\\n  f(y)\n", _TOGETHER),
        (Language.C, "\n#if A\n#define B 1\n#endif\n", "\n#if C\n#define B 2\n#endif\n", _SINGLES),
        (Language.C, "{\ncase 1:\ncase 2:\n;}\n", "{\ncase 3:\ncase 4:\n;}\n", _SINGLES),
        (Language.C, "{\n out:\n f(1);\n}\n", "{\n err:\n f(2);\n}\n", _SINGLES),
        (Language.C, "/*\n one two;\n three;\n*/\n", "/*\n one too;\n tree;\n*/\n", _TOGETHER),
        (Language.C, '{\n s = ";\\\n a";\n}\n', '{\n s = ";\\\n b";\n}\n', [((3, 1), (3, 1))]),
        (Language.C, "{\n a(1); // x\n b(2);\n}\n", "{\n a(3); // x\n b(4);\n}\n", _SINGLES),
        (Language.C, "{\n abc();\n xyz = 1;\n}\n", "{\n int q[9];\n goto done;\n}\n", _TOGETHER),
        (Language.SCRIPT, "{\n a = 1\n b = 2\n}\n", "{\n a = 3\n b = 4\n}\n", _SINGLES),
        (Language.SCRIPT, "{\n a = 1 +\n b\n}\n", "{\n a = 3 +\n c\n}\n", _TOGETHER),
        (
            Language.RUST,
            "{\n let a: &'x = 1;\n b(2);\n}\n",
            "{\n let a: &'y = 3;\n b(4);\n}\n",
            _SINGLES,
        ),
        (Language.PYTHON, "if q:\n  a = 1\n  b = 2\n", "if q:\n  a = 3\n  b = 4\n", _SINGLES),
        (Language.PYTHON, "x = 1\na = (1 +\n 2)\n", "x = 1\na = (3 +\n 4)\n", _TOGETHER),
        (Language.PYTHON, "x = 1\nif a:\n  b(1)\n", "x = 1\nif c:\n  b(2)\n", _SINGLES),
        (Language.PYTHON, "x = 1\nif a:\n  b(1)\n", "x = 1\na(a)\nb(2)\n", _TOGETHER),
        (Language.PYTHON, 'x = """\na 1;\nb 2\n"""\n', 'x = """\na 3;\nb 4\n"""\n', _TOGETHER),
        (Language.PYTHON, "x = (\na = 1\nb = 2\n", "x = (\na = 3\nb = 4\n", _TOGETHER),
        (Language.OTHER, "[s]\na = 1\nb = 2\n", "[s]\na = 3\nb = 4\n", _SINGLES),
        (Language.OTHER, "x:\n\ta 1 \\\n\tb 2\n", "x:\n\ta 3 \\\n\tb 4\n", _TOGETHER),
        (Language.OTHER, "k:\n  a: 1\n  b: 2\n", "k:\n   a: 1\n   b: 2\n", _TOGETHER),
    ],
)
def test_replacements(
    language: Language, good: str, bad: str, expected: list[tuple[Span, Span]]
) -> None:
    assert _split(good, bad, language) == expected


@pytest.mark.parametrize(
    ("good", "bad", "expected"),
    [
        (  # p11-kit: a special case in front of a statement whose pointer has another type
            "{\n p->kind = t.kind;\n}\n",
            "{\n if (t.kind == 0) {\n  *p = NULL;\n  return 0;\n }\n\n (*p)->kind = t.kind;\n}\n",
            [((1, 0), (2, 5)), ((2, 1), (7, 1))],
        ),
        (
            "{\n p->kind = t.kind;\n}\n",
            "{\n p->kind = t->kind;\n if (q)\n  done(p);\n}\n",
            [((2, 1), (2, 1)), ((2, 0), (3, 2))],
        ),
        (
            "{\n if (k == 0) {\n  return 0;\n }\n p->kind = t.kind;\n}\n",
            "{\n p->kind = t->kind;\n}\n",
            [((2, 3), (1, 0)), ((5, 1), (2, 1))],
        ),
        # the condition is of what was rewritten
        ("{\n f(a, 1);\n}\n", "{\n if (a)\n  f(a, 2);\n}\n", [((2, 1), (2, 2))]),
        ("{\n f(a, 1);\n}\n", "{\n if (a) g();\n else f(a, 2);\n}\n", [((2, 1), (2, 2))]),
        ("{\n if (a) g();\n}\n", "{\n if (b) g();\n else h();\n}\n", [((2, 1), (2, 2))]),
        # nothing stands for what there was
        ("{\n f(a, 1);\n}\n", "{\n int q[9];\n goto done;\n}\n", [((2, 1), (2, 2))]),
        ("{\n f(a, 1);\n}\n", "{\n g();\n }\n {\n f(a, 2);\n}\n", [((2, 1), (2, 4))]),
    ],
)
def test_a_branch_beside_a_rewritten_statement_is_a_change_of_its_own(
    good: str, bad: str, expected: list[tuple[Span, Span]]
) -> None:
    assert _split(good, bad, Language.C) == expected


_FUNCTIONS = "int f(void)\n{\n\n  return 1;\n}\n\n/* g */\nint g(void)\n{\n  return 2;\n}\n"


@pytest.mark.parametrize(
    ("language", "before", "added", "after", "starts"),
    [
        (Language.C, "int x;\n\n", _FUNCTIONS, "", [1, 7]),
        (Language.C, "int x;\n", "\n" + _FUNCTIONS, "int y;\n", [1, 8]),
        (Language.C, "int f(void) {\n", "  int a;\n\n  int b;\n", "}\n", [1]),
        (Language.C, "int x;\n", "\n#if A\nint y;\n\nint z;\n#endif\n\nint w;\n", "", [1, 8]),
        (Language.C, "int x;\n", "/* c\n\nint y;\n*/\n\nint w;\n", "", [1, 6]),
        (Language.C, "void f(void) {\n", "  a();\n}\n\nvoid g(void) {\n", "  b();\n}\n", [1]),
        (Language.C, 'extern "C" {\n', _FUNCTIONS, "}\n", [1, 7]),
        (
            Language.PYTHON,
            "x = 1\n",
            "\n\ndef f():\n    a\n\n    b\n\n\n@d\ndef g(): 1\n",
            "",
            [1, 9],
        ),
        (
            Language.PYTHON,
            "class A:\n",
            "  def f(self):\n    1\n\n  def g(self):\n    2\n",
            "",
            [1, 4],
        ),
        (
            Language.PYTHON,  # the end of a method, and two more, one of which holds a function
            "class A:\n  def f(self):\n    a\n",
            "    b\n\n  def g(self):\n    c\n\n    def h(): 1\n\n    h()\n\n  def i(self):\n    2\n",
            "",
            [1, 3, 10],
        ),
        (
            Language.PYTHON,
            "def f():\n    a\n",
            "    b\n\ndef g():\n    c\n\n    def h(): 1\n\n    h()\n",
            "",
            [1, 3],
        ),
        (
            Language.PYTHON,  # functions under a condition are no blocks of their own
            "def f():\n",
            "    if a:\n\n        def g(): 1\n\n    b\n\n    def h(): 2\n",
            "",
            [1, 7],
        ),
        (Language.PYTHON, "def f():\n", "    a = 1\n\n    b = 2\n", "", [1]),
        (Language.PYTHON, "x = 1\n", 's = """\n\ndef f(): 1\n"""\n\ny = 1\n', "", [1, 6]),
        (Language.PYTHON, "x = 1\n", "s = (\n\ny\n\n", "z\n", [1]),
        (Language.OTHER, "[a]\n", "x = 1\n\n[b]\nx = 1\n\n[c]\nx = 2\n", "", [1, 3, 6]),
    ],
)
def test_additions_and_deletions_split_between_blocks(
    language: Language, before: str, added: str, after: str, starts: list[int]
) -> None:
    first = before.count("\n") + 1
    whole, without = before + added + after, before + after
    parts = _parts(without, whole, language)
    assert [part.new.start - first + 1 for part in parts] == starts
    gone = _parts(whole, without, language)
    assert [part.old.start - first + 1 for part in gone] == starts
    assert sum(part.new.count for part in parts) == added.count("\n")


def test_the_papers_example_has_its_four_changes() -> None:
    """AFTER, Figs. 6-9: c1 on line 1, c2 on 5, c3 on 10, c4 on 12."""
    good = [
        *("bool sorted = true;", "int sum;", "", "if (!sorted) {", "if (x > y)", "sum = x;"),
        *("else sum = y;", "} else sum = x;", "if (z > 0)", "sum = sum + z;"),
        *("else sum = sum - z;", 'printf("sum = %d\\n", sum);', "assert(sum == 4);"),
    ]
    bad = list(good)
    bad[0], bad[4], bad[9] = "bool sorted = false;", "if (x < y)", "sum = sum - z;"
    bad[11] = 'printf("%d\\n", sum);'
    spans = _split("\n".join(good), "\n".join(bad), Language.C)
    assert spans == [((line, 1), (line, 1)) for line in (1, 5, 10, 12)]


_C_LINES = st.sampled_from(
    [
        *("int f(void)", "{", "}", "  a = 1;", "  a = 2;", "  if (a)", "", "#if A", "#else"),
        *("#endif", "/*", "*/", '  s = "x;', "  b(a,", "    c);", "  case 1:", "\\"),
    ]
)
_PYTHON_LINES = st.sampled_from(
    [
        "def f():",
        "    a = 1",
        "    a = 2",
        "class A:",
        "",
        "x = (",
        ")",
        '"""',
        "if a:",
        "@d",
        "# c",
    ]
)


@settings(max_examples=150)
@given(st.data(), st.sampled_from([Language.C, Language.PYTHON, Language.SCRIPT, Language.OTHER]))
def test_parts_tile_their_hunk_and_undo_the_difference(
    data: st.DataObject, language: Language
) -> None:
    lines = _PYTHON_LINES if language is Language.PYTHON else _C_LINES
    good, bad = ("\n".join(data.draw(st.lists(lines, max_size=20))) for _ in range(2))
    one, other = SourceText(good.encode(), language), SourceText(bad.encode(), language)
    parts: list[Hunk] = []
    for hunk in difference(one.content, other.content):
        found = smallest_hunks(hunk, one, other)
        assert found[0].old.start == hunk.old.start
        assert found[0].new.start == hunk.new.start
        assert sum(part.old.count for part in found) == hunk.old.count
        assert sum(part.new.count for part in found) == hunk.new.count
        parts += found
    assert b"".join(undone_lines(one.lines, other.lines, parts)) == one.content
    assert undone_lines(one.lines, other.lines, []) == other.lines


def _statement(draw: st.DrawFn, depth: int) -> list[str]:
    pad = "    " * depth
    kind = draw(st.sampled_from(["assign", "assign", "call", "if", "string"]))
    name, number = draw(st.sampled_from("abc")), draw(st.integers(0, 3))
    if kind == "if" and depth < 3:
        inner = [
            line for _ in range(draw(st.integers(1, 2))) for line in _statement(draw, depth + 1)
        ]
        return [f"{pad}if {name} > {number}:", *inner]
    if kind == "call":
        return [f"{pad}{name}(", f"{pad}    {number},", f"{pad})"]
    if kind == "string":
        return [f'{pad}{name} = """{number}', "", 'x"""']
    return [f"{pad}{name} = {number}"]


@st.composite
def _programs(draw: st.DrawFn) -> tuple[str, str]:
    """A Python program and one with other numbers in it: the same lines, some replaced."""
    lines = [line for _ in range(draw(st.integers(1, 6))) for line in _statement(draw, 0)]
    edited = [
        line.translate(str.maketrans("0123", "4567")) if draw(st.booleans()) else line
        for line in lines
    ]
    return "\n".join(lines) + "\n", "\n".join(edited) + "\n"


@settings(max_examples=60)
@given(_programs())
def test_every_subset_of_split_replacements_still_parses(pair: tuple[str, str]) -> None:
    """Cuts lie between complete statements: no mixture of the two versions is a syntax error."""
    one, other = (SourceText(text.encode(), Language.PYTHON) for text in pair)
    parts = [
        part
        for hunk in difference(one.content, other.content)
        for part in smallest_hunks(hunk, one, other)
    ]
    for number in range(min(1 << len(parts), 32)):
        subset = [part for place, part in enumerate(parts) if number >> place & 1]
        ast.parse(b"".join(undone_lines(one.lines, other.lines, subset)))


_METHODS = "class A:\n    def f(self):\n        return {}\n{}\n    def z(self):\n        pass\n"
_MORE = "\n    def g(self):\n        return 3\n"


@pytest.mark.parametrize(
    ("good", "bad", "spans"),
    [
        (_METHODS.format(1, ""), _METHODS.format(2, _MORE), [(1, 1), (0, 2)]),
        (_METHODS.format(1, _MORE), _METHODS.format(2, ""), [(1, 1), (2, 0)]),
        # the rest of f() stands behind what was inserted
        (
            "def f():\n    a = 1\n    b = 2\n",
            "def f():\n    a = 2\n\ndef g():\n    b = 2\n",
            [(1, 2)],
        ),
    ],
)
def test_a_definition_behind_a_replaced_statement_is_a_change_of_its_own(
    good: str, bad: str, spans: list[tuple[int, int]]
) -> None:
    """transitions: the last line of a method was altered, and a method was added after it."""
    one, other = (SourceText(text.encode(), Language.PYTHON) for text in (good, bad))
    parts = [
        part
        for hunk in difference(one.content, other.content)
        for part in smallest_hunks(hunk, one, other)
    ]
    lines = [
        (
            sum(1 for line in good.splitlines()[p.old.start - 1 :][: p.old.count] if line.strip()),
            sum(1 for line in bad.splitlines()[p.new.start - 1 :][: p.new.count] if line.strip()),
        )
        for p in parts
    ]
    assert lines == spans
    for number in range(1 << len(parts)):
        subset = [part for place, part in enumerate(parts) if number >> place & 1]
        ast.parse(b"".join(undone_lines(one.lines, other.lines, subset)))


@pytest.mark.parametrize(
    "name", ["a.c", "a.H", "a.cpp", "x/y.py", "a.go", "a.rs", "a.java", "a.sh", "a"]
)
@given(content=st.binary(max_size=300))
@settings(max_examples=15)
def test_no_text_is_too_strange_for_a_layout(name: str, content: bytes) -> None:
    lines = split_lines(content)
    found = layout(lines, language_of(name))
    if found is not None:
        assert len(found.complete) == len(found.depth) == len(lines) + 1


_LINES = st.lists(st.sampled_from([b"\n", b"}\n", b"a\n", b"b\n", b"c\n", b"d\n"]), max_size=30)


@given(_LINES, _LINES)
@example([b"a\n", b"b\n", b"c\n", b"\n", *[b"%d\n" % n for n in range(5)]], [b"\n"] * 5)
def test_no_line_that_did_not_change_is_in_a_hunk(good: list[bytes], bad: list[bytes]) -> None:
    """click: a re-indented function was one hunk, in which an empty line was as it was."""
    hunks = difference(b"".join(good), b"".join(bad))
    for hunk in hunks:
        old = good[hunk.old.start - 1 : hunk.old.end - 1] if hunk.old.count else []
        new = bad[hunk.new.start - 1 : hunk.new.end - 1] if hunk.new.count else []
        assert not set(old) & set(new)
    assert undone_lines(good, bad, hunks) == good


def test_a_last_line_without_newline_gets_one_where_it_is_not_last() -> None:
    hunk = Hunk(LineSpan(1, 1), LineSpan(1, 1))
    assert undone_lines([b"a"], [b"A\n", b"b\n"], [hunk]) == [b"a\n", b"b\n"]
    assert undone_lines([b"a"], [b"A\n"], [hunk]) == [b"a"]


def test_deep_nesting_and_long_lines_are_no_trouble() -> None:
    deep = "int a = " + "(" * 10_000 + "1" + ")" * 10_000 + ";\n"
    long = "int b = 0" + " + 1" * 25_000 + ";\n"
    good, bad = deep + long, deep.replace("1", "2") + long.replace("0", "1")
    for language in (Language.C, Language.PYTHON, Language.OTHER):
        assert _split(good, bad, language) == [((1, 2), (1, 2))]


def test_a_function_around_which_lines_went_elsewhere_stays() -> None:
    """Of black: patience keeps the lines that are unique, and took the function's head for moved."""
    kept = b"def kept(x):\n    x += 1\n    x += 1\n    x += 1\n    return x\n"
    other = b"def other(x):\n    x += 1\n    return x\n"
    constants = b"FIRST = 1\nSECOND = 2\n"
    hunks = difference(kept + constants + other, constants + kept + other)
    assert hunks == [Hunk(LineSpan(0, 0), LineSpan(1, 2)), Hunk(LineSpan(6, 2), LineSpan(7, 0))]


DEFINITIONS = st.lists(
    st.sampled_from(
        [b"def f(x):\n", b"def g(x):\n", b"    x += 1\n", b"    return x\n", b"A = 1\n"]
    )
)


def test_a_function_in_braces_around_which_lines_went_elsewhere_stays() -> None:
    """Of Lyra: the lines that two methods shared made one change of the end of the one and the head of the other."""
    shared = "\t\tstd::ostringstream oss;\n\t\tif (!hint.empty())\n"
    head = "\tvirtual help_text get_help_text() const override\n\t{\n"
    usage = "\tvirtual std::string get_usage_text() const override\n\t{\n"
    end = "\t}\n"
    good = f"{usage}\t\treturn hint;\n{end}\n{head}{shared}\t\t\toss << hint;\n\t\treturn text(oss);\n{end}"
    bad = f"{usage}{shared}\t\t\toss << minimum;\n\t\treturn oss.str();\n{end}\n{head}\t\treturn usage();\n{end}"
    hunks = difference(good.encode(), bad.encode())
    heads = [n for n, line in enumerate(good.splitlines(), 1) if "get_help_text" in line]
    assert not any(hunk.old.covers(heads[0]) for hunk in hunks)


@given(good=DEFINITIONS, bad=DEFINITIONS)
def test_whichever_difference_is_taken_leads_from_one_text_to_the_other(
    good: list[bytes], bad: list[bytes]
) -> None:
    hunks = difference(b"".join(good), b"".join(bad))
    assert undone_lines(good, bad, hunks) == good
