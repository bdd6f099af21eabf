"""Pruning: what cannot matter goes, with the reason; whatever might matter stays."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_repositories import Made, read_listing, texts

from afterd.model.change import ChangeList
from afterd.vcs.diff import changes_between
from afterd.vcs.kinds import FileRules
from afterd.vcs.pruning import COMMENTS, DOCUMENTATION, OF_SERVICE, WHITE_SPACE, prune, with_pruned
from afterd.vcs.same_tree import LOCAL_ANNOTATIONS, SAME_TREE
from afterd.vcs.variants import Variants


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return Made(tmp_path_factory.mktemp("pruning"))


def _pruned(
    made: Made, name: str, good: str, bad: str, rules: FileRules | None = None
) -> ChangeList:
    one, other = made.tree(texts(**{name: good})), made.tree(texts(**{name: bad}))
    changes = changes_between(made.repository, one, other)
    return prune(changes, lambda _: good.encode(), lambda _: bad.encode(), rules or FileRules())


@pytest.mark.parametrize(
    ("good", "bad", "reasons"),
    [
        ("int a;\n", "int  a ;\n", [WHITE_SPACE]),
        ("int a;\n", "int a; // new\n", [COMMENTS]),
        ("int a; /* x */\n", "int a; /* y */\n", [COMMENTS]),
        ("/* one\n two\n three */\nint a;\n", "/* one\n 2\n three */\nint a;\n", [COMMENTS]),
        ("/* one\n*/\nint a;\n", "/* one\n two\n*/\nint a;\n", [COMMENTS]),
        ("int a;\nint b;\n", "int a;\n\n\nint b;\n", [WHITE_SPACE]),
        ("int a;\nint b;\n", "int a;\n// c\nint b;\n", [COMMENTS]),
        ("int a;int b;\n", "int a;\nint b;\n", [WHITE_SPACE]),
        ("int a;\r\n", "int a;\n", [WHITE_SPACE]),
        ("f(a, b);\n", "f(a,  b);\n", [WHITE_SPACE]),
        ("f(a, b);\n", "f(a,\n  b);\n", [WHITE_SPACE]),
        ("f(a, b);\n", "f(a,b);\n", [""]),  # f may be a macro that makes a string of it
        ("#define A 1\n", "#define  A\t1  // one\n", [COMMENTS]),
        ("#define F(x) 1\n", "#define F (x) 1\n", [""]),
        ("#define F (x) 1\n", "#define F/**/(x) 1\n", [COMMENTS]),
        ("#define A 1\nint b;\n", "#define A 1 int b;\n", ["", ""]),
        ('s = "a";\n', 's = "a ";\n', [""]),
        ('s = "//a";\n', 's = "//b";\n', [""]),
        ("c = '\"'; // x\n", "c = '\"'; // y\n", [COMMENTS]),
        ("int a;\n", "// int a;\n", [""]),
        ("int a;\n// b\nint c;\n", "int a;\n// b \\\nint c;\n", [""]),  # the splice eats a line
        ("a = b /* */ c;\n", "a = b c;\n", [COMMENTS]),
        ("a = b/**/c;\n", "a = bc;\n", [""]),
        ("a = b + +c;\n", "a = b ++c;\n", [""]),
        ("/*\nint a;\n*/\n", "\nint a;\n\n", ["", ""]),
        ("/* x\nint a; */\nint b;\n", "/* y */\nint a;\nint b;\n", [""]),
        ('r = R"(a\n b)";\n', 'r = R"(a\n  b)";\n', [""]),
        ("assert(x);\nint a;\n", "assert(x);\nint a; // c\n", [COMMENTS]),
        ("int a;\nassert(x);\n", "\nint a;\nassert(x);\n", [""]),  # its line is in its message
        ("int a = __LINE__;\n", "// c\nint a = __LINE__;\n", [""]),
        ("int don't;\nint b;\n", "int don't;\nint  b;\n", [""]),  # an open quote: hands off
        ("x \\\n;\n", "x  \\\n;\n", [""]),
    ],
)
def test_c(made: Made, good: str, bad: str, reasons: list[str]) -> None:
    assert [change.pruned for change in _pruned(made, "a__c", good, bad).changes] == reasons


@pytest.mark.parametrize(
    ("good", "bad", "reasons"),
    [
        ("a = 1\n", "a = 1  # one\n", [SAME_TREE]),
        ("a = f(1, 2)\n", "a = f(\n    1,\n    2\n)\n", [SAME_TREE]),
        ("a = (1)\n", "a = 1\n", [SAME_TREE]),
        ("if a:\n  b\n", "if a:\n    b\n", [SAME_TREE]),
        ("if a:\n  b\n  c\n", "if a:\n  b\nc\n", [""]),
        ("s = 'x'\n", "s = 'y'\n", [""]),
        ("s = '# a'\n", "s = '# b'\n", [""]),
        ('def f():\n    """Old."""\n', 'def f():\n    """New."""\n', [""]),
        ("a = 1\nb = 2\n", "a = 1\n\n\nb = 2\n", [SAME_TREE]),
        ("a = 1\nb = 2\n", "a = 1\nc = 3\nb = 2\n", [""]),
        ("x = '''\na\n'''\n", "x = '''\n a\n'''\n", [""]),
        ("print 'old'\n", "print 'old' # c\n", [""]),  # does not parse: hands off
        ("a\nf.f_lineno\n", "# c\na\nf.f_lineno\n", [""]),
        ('s = """\n\n# a\n\n"""\n', "x = 1\n\n# b\n\ny = 2\n", ["", "", ""]),  # once a string
        ("# a\nx = 1\ny = 2\n# b\n", "# c\nx = 1\ny = 3\n# d\n", [SAME_TREE, "", SAME_TREE]),
    ],
)
def test_python(made: Made, good: str, bad: str, reasons: list[str]) -> None:
    assert [change.pruned for change in _pruned(made, "a__py", good, bad).changes] == reasons


@pytest.mark.parametrize(
    ("good", "bad", "reason"),
    [
        ("def f():\n    a: int = 1\n", "def f():\n    a: float = 1\n", LOCAL_ANNOTATIONS),
        ("def f():\n    a = []\n", "def f():\n    a: list[int] = []\n", LOCAL_ANNOTATIONS),
        ("def f():\n    a: int\n", "def f():\n    a: float\n", LOCAL_ANNOTATIONS),
        (
            "async def f(o):\n    o.a: A = 1\n",
            "async def f(o):\n    o.a: B = 1\n",
            LOCAL_ANNOTATIONS,
        ),
        (
            "class C:\n  def f(self):\n    if 1:\n      a: A = 1\n",
            "class C:\n  def f(self):\n    if 1:\n      a: B = 1\n",
            LOCAL_ANNOTATIONS,
        ),
        ("def f():\n    a: int = 1\n", "def f():\n    a: float = 2\n", ""),
        ("def f():\n    g(a)\n", "def f():\n    a: int\n    g(a)\n", ""),  # a local name now
        ("def f():\n    a: A = 1; a\n", "def f():\n    a: A\n    a\n", ""),
        ("a: int = 1\n", "a: float = 1\n", ""),
        ("class C:\n    a: int = 1\n", "class C:\n    a: float = 1\n", ""),
        (
            "def f():\n  class C:\n    a: int = 1\n",
            "def f():\n  class C:\n    a: float = 1\n",
            "",
        ),
        ("def f(a: int):\n    pass\n", "def f(a: float):\n    pass\n", ""),
        (
            "def f():\n    global a\n    a = 1\n",
            "def f():\n    global a\n    a: int = 1\n",  # this is refused
            "",
        ),
        (
            "import cython\ndef f():\n    a: cython.int = 1\n",
            "import cython\ndef f():\n    a: cython.long = 1\n",
            "",
        ),
    ],
)
def test_annotations_within_functions_are_never_evaluated(
    made: Made, good: str, bad: str, reason: str
) -> None:
    changes = _pruned(made, "a.py", good, bad).changes
    assert {change.pruned for change in changes} == {reason}


def test_docstrings_are_comments_when_configured(made: Made) -> None:
    good = '"""Old."""\n\n\ndef f():\n    """Old."""\n    return "x"\n'
    bad = good.replace("Old", "New")
    rules = FileRules(docstrings_are_comments=True)
    assert not _pruned(made, "a__py", good, bad, rules).live
    assert _pruned(made, "a__py", good, bad.replace('"x"', '"y"'), rules).live[0].new.start == 6


@pytest.mark.parametrize(
    ("name", "good", "bad", "reason"),
    [
        ("README__md", "a\n", "b\n", DOCUMENTATION),
        ("__travis__yml", "a\n", "b\n", OF_SERVICE),
        ("a__sh", "a # b\n", "a # c\n", ""),
        ("Makefile", "a:\n\tb\n", "a:\n\t b\n", ""),
        ("a__js", "a // b\n", "a // c\n", ""),
        ("a__txt", "a\n", "a \n", ""),
        ("A__java", "int a; // x\n", "int a; // y\n", COMMENTS),
        ("A__java", 's = """\n  x\n""";\n', 's = """\n x\n""";\n', ""),
    ],
)
def test_other_files(made: Made, name: str, good: str, bad: str, reason: str) -> None:
    assert [change.pruned for change in _pruned(made, name, good, bad).changes] == [reason]


def test_documents_that_come_and_go_may_be_named_by_the_build(made: Made) -> None:
    one, other = made.tree(texts(README__rst="x\n")), made.tree(texts(README__md="y\n"))
    changes = changes_between(made.repository, one, other)
    assert prune(changes, lambda _: b"", lambda _: b"").live == changes.changes


def test_a_services_settings_never_matter(made: Made) -> None:
    """Parsedown: ``.travis.yml`` stood first among 69 changes, as a build's file."""
    one, other = made.tree({}), made.tree(texts(__travis__yml="y\n"))
    changes = changes_between(made.repository, one, other)
    pruned = prune(changes, lambda _: b"", lambda _: b"").changes
    assert [change.pruned for change in pruned] == [OF_SERVICE]


def test_reasons_are_added_and_never_replaced(made: Made) -> None:
    changes = _pruned(made, "a__c", "int a;\nint b;\nint c;\n", "int  a;\nint b;\nint d;\n")
    more = with_pruned(changes, {"c1": "other", "c2": "equal IR"})
    assert [change.pruned for change in more.changes] == [WHITE_SPACE, "equal IR"]


# Lines with ways to write them: some mean the same, some only look like it.
_C_FAMILIES = [
    ["int a = 1;", "int  a = 1 ;", "int a = 1; // x", "int a = 1; /* x */", "int a = 2;"],
    ["// x", "// y", "", "  ", "/* x */"],
    ["F(a, b);", "F(a,b);", "F(a,  b);", "F( a, b);", "F(a, /**/ b);"],
    ["#define F(x, y) #x", "#define F(x,  y) #x", "#define F(x, y)  #x // c", "#define F (x, y)"],
    ['s = "//";', 's = "/*";', 's  = "//";', 's = "/ /";'],
    ["a = b/**/c;", "a = b c;", "a = bc;", "a = b /* x */ c;"],
    ["a+ +b;", "a ++b;", "a +/**/+ b;"],
    ["int b;int c;", "int b; int c;"],
    ["/* x", "/*", "/* y"],
    ["x */", "*/", "y */"],
    ["#if 0", "#if  0 // c", "#if 1"],
    ["#endif"],
    ["x \\", "x"],
]
_C_LINES = st.sampled_from(_C_FAMILIES).flatmap(
    lambda family: st.tuples(st.sampled_from(family), st.sampled_from(family))
)


def _with_pruned_undone(made: Made, name: str, good: str, bad: str) -> bytes | None:
    """The bad file with everything pruned undone; None where nothing was."""
    changes = _pruned(made, name, good, bad)
    pruned = frozenset(change.id for change in changes.changes if change.pruned)
    if not pruned:
        return None
    one, other = (made.tree(texts(**{name: text})) for text in (good, bad))
    variants = Variants(made.repository, one, other, changes)
    listing = read_listing(variants.store, variants.tree(pruned))
    return listing[name.replace("__", ".").encode()][1]


_COMPILER = next(filter(None, map(shutil.which, ("clang-16", "clang", "gcc"))), None)


@pytest.mark.skipif(_COMPILER is None, reason="no C compiler to compare with")
def test_the_preprocessor_agrees(made: Made, tmp_path: Path) -> None:
    """Random pairs: with everything pruned undone, the compiler still sees the same tokens."""
    pairs: list[tuple[bytes, bytes]] = []

    @settings(max_examples=120, database=None)
    @given(st.lists(_C_LINES, max_size=10))
    def collect(lines: list[tuple[str, str]]) -> None:
        good, bad = (
            ("\n".join([*side, ""]) for side in zip(*lines, strict=True)) if lines else ("", "")
        )
        variant = _with_pruned_undone(made, "a__c", good, bad)
        if variant is not None:
            pairs.append((bad.encode(), variant))

    collect()
    assert len(pairs) > 20
    for bad, variant in list(dict.fromkeys(pairs))[-25:]:
        assert _preprocessed(tmp_path, bad) == _preprocessed(tmp_path, variant), (bad, variant)


def _preprocessed(place: Path, source: bytes) -> list[bytes]:
    """The tokens that the compiler's preprocessor leaves of a source."""
    assert _COMPILER is not None
    (place / "a.c").write_bytes(source)
    command = [_COMPILER, "-E", "-P", "-w", "a.c"]
    done = subprocess.run(command, cwd=place, check=False, capture_output=True)
    return re.findall(rb'"(?:\\.|[^"\\])*"|\w+|\+\+|[^\s\w]', done.stdout)


_PYTHON = st.sampled_from(
    [
        "a = 1",
        "a = 1  # c",
        "# c",
        "",
        "if a:",
        "    b = 2",
        "        b = 2",
        "x = (1,",
        "  2)",
        "x = (1, 2)",
    ]
)


@settings(max_examples=150)
@given(st.lists(_PYTHON, max_size=8), st.lists(_PYTHON, max_size=8))
def test_pruned_python_never_changes_the_tree(made: Made, one: list[str], other: list[str]) -> None:
    good, bad = ("\n".join([*lines, ""]) for lines in (one, other))
    variant = _with_pruned_undone(made, "a__py", good, bad)
    if variant is not None:
        assert ast.dump(ast.parse(variant)) == ast.dump(ast.parse(bad))


def test_a_large_file_laid_out_anew_is_pruned_fast(made: Made) -> None:
    good = "".join(f"def f{n}(a,b):\n    return [a,{n}]\n\n\n" for n in range(800))
    bad = good.replace("(a,b)", "(a, b)").replace("[a,", "[a, ")
    started = time.monotonic()
    assert not _pruned(made, "a__py", good, bad).live
    assert time.monotonic() - started < 10
