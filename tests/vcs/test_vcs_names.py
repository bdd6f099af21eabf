"""What names tell: kinds of files, languages, paths that must not be written, enclosing symbols."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterd.model.change import FileKind
from afterd.vcs.enclosing import enclosing_symbol, symbols
from afterd.vcs.kinds import FileRules, kind_of
from afterd.vcs.paths import path_bytes, path_text, refusal
from afterd.vcs.tokens import Language, language_of


@pytest.mark.parametrize(
    ("kind", "paths"),
    [
        (
            FileKind.TEST,
            ["tests/x.c", "a/test/Makefile", "test_x.py", "a/x_test.go", "conftest.py", "tox.ini"],
        ),
        (
            FileKind.TEST,
            ["a/_test/cases.txt", "unit_tests/x.cc", "a/test-cases/x.txt", "test_data/x.bin"],
        ),
        (
            FileKind.TEST,
            ["fixtures/plain.env", "src/__fixtures__/a.js", "src/__snapshots__/a.snap"],
        ),
        (
            FileKind.TEST,
            ["src/__tests__/x.js", "x.spec.ts", "t/t0001-x.sh", "FooTest.java", "test.c"],
        ),
        (
            FileKind.TEST,
            [
                "a/tests.py",
                "a/test.py",
                "src/a/tests.rs",
                "lib/foo_unittest.cc",
                "spec/x_spec.rb",
                "run_tests.sh",
            ],
        ),
        (
            FileKind.SOURCE,
            [
                "src/test.c",
                "latest/x.c",
                "contest.py",
                "src/t/x.c",
                "testing/x.py",
                "app/fixtures/x.c",
            ],
        ),
        (FileKind.SOURCE, ["main.c", "a/b.rs", "a\nb.py", "x.html", "attest.go", "latest_/x.c"]),
        (
            FileKind.BUILD,
            ["Makefile", "src/Makefile.am", "CMakeLists.txt", "configure.ac", "x.cmake"],
        ),
        (
            FileKind.BUILD,
            ["setup.py", "pyproject.toml", "meson.build", "requirements-dev.txt", "a.mk"],
        ),
        (FileKind.SOURCE, [".github/build.sh"]),
        (FileKind.BUILD, ["package.json", "Cargo.lock", "go.mod"]),
        (FileKind.DOCS, [".github/workflows/ci.yml", ".travis.yml", ".circleci/config.yml"]),
        (FileKind.DOCS, ["README", "docs/x.c", "a/CHANGELOG.txt", "LICENSE", "x.md", "tool.1"]),
        (FileKind.DATA, ["x.json", "data/words.txt", "logo.png", ".gitignore", "VERSION"]),
    ],
)
def test_kinds(kind: FileKind, paths: list[str]) -> None:
    assert {path: kind_of(path, FileRules()) for path in paths} == dict.fromkeys(paths, kind)


def test_patterns_of_ones_own() -> None:
    rules = FileRules(tests=("checks/", "/root.c", "a/*.x", "*.chk"), docs=())
    expected = {
        "b/checks/x": FileKind.TEST, "root.c": FileKind.TEST, "b/root.c": FileKind.SOURCE,
        "a/b/c.x": FileKind.TEST, "d/a/c.x": FileKind.SOURCE, "b/c.chk": FileKind.TEST,
        "tests/x.c": FileKind.SOURCE, "README": FileKind.SOURCE,
    }  # fmt: skip
    assert {path: kind_of(path, rules) for path in expected} == expected


@pytest.mark.parametrize(
    ("name", "language"),
    [
        *(("a.c", Language.C), ("a.HPP", Language.C), ("a.py", Language.PYTHON)),
        *(("a.rs", Language.RUST), ("a.go", Language.SCRIPT), ("A.java", Language.JAVA)),
        *(("a", Language.OTHER), ("a.c/b", Language.OTHER)),
    ],
)
def test_languages(name: str, language: Language) -> None:
    assert language_of(name) is language


@pytest.mark.parametrize(
    "path",
    [
        *(
            b"a",
            b"a/b.c",
            b".gitignore",
            b".github/x",
            b"a..b",
            b"...",
            b".gitx",
            b"git~12",
            b"a b",
        ),
        *(b"\xff", b"caf\xc3\xa9", b"-rf", b"a\nb", b"$(x)", b".git-x/y", b"x.git"),
    ],
)
def test_ordinary_paths_are_written(path: bytes) -> None:
    assert refusal(path) == ""


@given(st.binary(max_size=20))
def test_paths_come_back_from_text(path: bytes) -> None:
    assert path_bytes(path_text(path)) == path


_C = """\
#include <x.h>
#define M(a) do { \\
  a; } while (0)
static const struct T table[] = {
  { 1, f(2) },
};
struct S { int a; };
__attribute__((noinline)) static int
f(int a, char (*g)(int))
{
  if (a) { return 1; }
  LIST_FOREACH(x, y) { z(); }
  struct P p = { 1 };
  /* } */ s = "}";
}
#ifdef X
int g(void) {
#else
int g(int a) {
#endif
  return 1;
}
namespace N {
class C : public D<int> {
  C() : a(1), b(2) { }
  int m() const { return 1; }
};
}
int N::C::n(int x) { return 2; }
static int after(struct S *function,
                 const int *fn) {
  return 1;
}
int* TY_(named)( int a ) {
  return 0;
}
TEST(Suite, Name) {
  f(1);
}
int (plain)(int a) { return a; }
"""
_PYTHON = """\
class A:
    @decorated
    def f(self):
        def g(): pass
        return 1

x = 1
async def h():
    pass
"""
_GO = "func (r *T) Name(a int) error {\n  go func() { x() }()\n}\n"
_JS = "const f = (a) => {\n  return 1\n}\nclass A extends B {\n  m(x) {\n    y()\n  }\n}\n"
_NO_SEMICOLONS = """\
import a from 'a'
import { b } from 'b'

test('x', () => {
  a()
})
const f =
  function () {
}
const n = 1
async
function g() {
}
class A
  extends B {
}
@D({ a: 1 })
class K {
}
"""
_RUST = "impl<'a> Foo<'a> {\n  pub fn bar<'b>(&self) -> u8 {\n    if c == '{' { 1 }\n  }\n}\n"


@pytest.mark.parametrize(
    ("language", "source", "names"),
    [
        (Language.C, _C, {
            1: "", 3: "M", 5: "table", 7: "S", 9: "f", 11: "f", 12: "f", 13: "f", 14: "f", 15: "f",
            16: "", 19: "g", 21: "g", 24: "N::C", 25: "N::C::C", 26: "N::C::m", 29: "N::C::n",
            32: "after", 35: "TY_(named)", 38: "TEST", 40: "int(plain)",
        }),
        (Language.PYTHON, _PYTHON, {1: "A", 2: "A.f", 4: "A.f.g", 5: "A.f", 7: "", 9: "h"}),
        (Language.SCRIPT, _GO, {1: "Name", 2: "Name"}),
        (Language.SCRIPT, _JS, {2: "f", 4: "A", 6: "A.m"}),
        (Language.SCRIPT, _NO_SEMICOLONS, {
            1: "", 2: "", 4: "test", 5: "test", 7: "f", 9: "f", 10: "", 11: "g", 12: "g", 14: "A",
            15: "A", 18: "K",
        }),
        (Language.RUST, _RUST, {1: "Foo", 3: "Foo::bar"}),
        (Language.OTHER, "f() {\n}\n", {1: ""}),
        (Language.PYTHON, "def f(:\n  x\n", {1: ""}),
    ],
)  # fmt: skip
def test_enclosing_symbols(language: Language, source: str, names: dict[int, str]) -> None:
    found = symbols(source.encode(), language)
    assert {line: enclosing_symbol(found, line) for line in names} == names


@given(st.binary(max_size=200), st.sampled_from(list(Language)))
def test_symbols_of_anything(content: bytes, language: Language) -> None:
    lines = content.count(b"\n") + 1
    for symbol in symbols(content, language):
        assert 1 <= symbol.start <= symbol.end <= lines


@pytest.mark.parametrize(
    "text", ["{" * 50_000, "(" * 50_000, "/*" * 50_000, "a(b " * 20_000, '"' * 50_000]
)
def test_nothing_takes_quadratic_time(text: str) -> None:
    started = time.monotonic()
    for language in (Language.C, Language.PYTHON, Language.SCRIPT):
        symbols(text.encode(), language)
    assert time.monotonic() - started < 10
