"""The bad version does not build and the good one does: what broke the build is found like what breaks a test."""

from __future__ import annotations

import json
import shutil
import venv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pipeline_runs import afterd, repository

MAKEFILE = """\
prog: main.c limits.h range.h
\tcc -std=c11 -o prog main.c
check: prog
\t./prog
"""
MAIN = """\
#include "range.h"

int main(void) { return in_range(4) ? 0 : 1; }
"""
LIMITS = "#define LEAST 1\n#define MOST 9\n"
RANGE = """\
#include "limits.h"

_Static_assert(LEAST < MOST, "an empty range");

static int in_range(int n) { return n >= LEAST && n <= MOST; }
"""
FILES = {
    ".gitignore": "prog\n",
    "Makefile": MAKEFILE,
    "main.c": MAIN,
    "limits.h": LIMITS,
    "range.h": RANGE,
}


def explained(path: Path, bad: Mapping[str, str], *more: str) -> tuple[list[dict[str, Any]], str]:
    where = repository(path / "r", FILES, bad)
    done = afterd("explain", "HEAD~1..HEAD", "--format", "json", *more, cwd=where)
    assert done.status == 0, done.err + done.out
    return json.loads(done.out)["explanations"], done.err


@pytest.mark.parametrize("given", [(), ("--build", "make prog", "--test", "./prog")])
def test_the_change_that_broke_the_build_is_named(tmp_path: Path, given: tuple[str, ...]) -> None:
    """magic_enum between 0.7.2 and 0.7.3: that it "does not build" was all of the answer."""
    bad = {"limits.h": LIMITS.replace("1", "12"), "main.c": MAIN.replace("4", "5")}
    [found], _ = explained(tmp_path, bad, *given)
    assert (found["test"], found["status"]) == ("the build", "explained")
    assert [change["file"] for change in found["root"]] == ["limits.h"]
    assert found["minimal"]
    assert found["runs"]["confirmation"] == 2
    assert not found["ranking"]
    assert not [
        each for each in found["remarks"] if "afterd-cc" in each or "processes of its own" in each
    ]
    assert any("no test was run" in remark for remark in found["remarks"])
    assert "an empty range" in found["failure"]["message"]
    assert (found["failure"]["file"], found["failure"]["line"]) == ("range.h", 3)


def test_a_build_that_fails_at_both_ends_is_said(tmp_path: Path) -> None:
    where = repository(
        tmp_path / "r", {**FILES, "main.c": MAIN.replace("0 : 1", "")}, {"limits.h": LIMITS * 2}
    )
    done = afterd("explain", "HEAD~1..HEAD", cwd=where)
    done.refused(13, "The bad version does not build", "#build")


def test_what_the_tests_lack_is_what_broke_the_build(tmp_path: Path) -> None:
    """A test that was added without its file (libyaml, whose .gitignore has `test-*`): it was said that the build
    passes, at an older version whose tests are older.
    """
    files = {**FILES, "tests/t.c": "int main_of_tests(void) { return 0; }\n"}
    bad = {"tests/t.c": '#include "lost.h"\n' + files["tests/t.c"], "range.h": RANGE + "\n"}
    where = repository(tmp_path / "r", files, {"notes": "1\n"}, {"notes": "2\n"}, bad)
    given = ("--build", "cc -o prog main.c tests/t.c", "--test", "./prog")
    done = afterd("explain", "HEAD~1..HEAD", "--format", "json", *given, cwd=where)
    [found] = json.loads(done.out)["explanations"]
    assert (found["test"], found["status"], done.status) == ("the build", "explained", 0)
    assert [change["file"] for change in found["root"]] == ["tests/t.c"]
    assert "lost.h" in found["failure"]["message"]


_SUM = """\
package calc

const Least = 1

func Sum(a, b int) int { return a + b }

func Twice(a int) int { return Sum(a, a) }
"""
_GO_TEST = """\
package calc

import "testing"

func TestSum(t *testing.T) {
\tif Sum(1, 2) != 3 {
\t\tt.Errorf("Sum(1, 2) = %d", Sum(1, 2))
\t}
}
"""
GO = {
    "go.mod": "module example.org/m\n\ngo 1.19\n",
    "calc/calc.go": _SUM,
    "calc/calc_test.go": _GO_TEST,
    "more/more.go": 'package more\n\nimport "example.org/m/calc"\n\nfunc More() int { return calc.Twice(2) }\n',
    "more/more_test.go": 'package more\n\nimport "testing"\n\nfunc TestMore(t *testing.T) { More() }\n',
    "one/one.go": "package one\n\nfunc One() int { return 1 }\n",
    "one/one_test.go": 'package one\n\nimport "testing"\n\n'
    'func TestOne(t *testing.T) {\n\tif One() != 1 {\n\t\tt.Error("not one")\n\t}\n}\n',
}


@pytest.mark.skipif(shutil.which("go") is None, reason="no Go")
def test_a_go_package_that_does_not_compile_is_explained_by_its_build(tmp_path: Path) -> None:
    """That it "does not build" was all of the answer: Go has no build but each package's own."""
    bad = {
        "calc/calc.go": _SUM.replace("Least = 1", "Least = 2").replace("Sum(a, a)", "Add(a, a)"),
        "one/one.go": "package one\n\nfunc One() int { return 2 }\n",
    }
    where = repository(tmp_path / "r", GO, bad)
    done = afterd("explain", "HEAD~1..HEAD", "--format", "json", cwd=where)
    found = {each["test"]: each for each in json.loads(done.out)["explanations"]}
    assert found.keys() == {"the build", "example.org/m/one TestOne"}, done.err
    build, test = found["the build"], found["example.org/m/one TestOne"]
    assert "Add(a, a)" in build["root"][0]["patch"]
    assert ["Least" in each["patch"] for each in build["root"]] == [False]
    failure = build["failure"]
    assert (failure["message"], failure["file"], failure["line"]) == (
        "undefined: Add",
        "calc/calc.go",
        7,
    )
    assert build["also"] == ["example.org/m/more"]
    assert test["root"][0]["file"] == "one/one.go"


@pytest.mark.skipif(shutil.which("go") is None, reason="no Go")
def test_a_renamed_function_is_behind_a_go_test_that_does_not_compile(tmp_path: Path) -> None:
    renamed = _SUM.replace("Sum(", "Total(")
    where = repository(tmp_path / "r", GO, {"calc/calc.go": renamed})
    done = afterd("explain", "HEAD~1..HEAD", "--format", "json", cwd=where)
    [found] = json.loads(done.out)["explanations"]
    assert (found["test"], found["status"]) == ("the build", "explained"), done.err
    assert any("Total(a, b" in change["patch"] for change in found["root"])


@pytest.mark.skipif(shutil.which("go") is None, reason="no Go")
def test_a_good_version_that_does_not_build_is_found_so_once(tmp_path: Path) -> None:
    """Seven red tests of go-cmp's were confirmed one by one, each for the same build that fails."""
    red = "".join(
        f'\nfunc TestSum{n}(t *testing.T) {{\n\tif Sum({n}, 1) != {n + 1} {{\n\t\tt.Error("no")\n\t}}\n}}\n'
        for n in range(3)
    )
    files = {"go.mod": GO["go.mod"], "calc/calc_test.go": _GO_TEST + red}
    good, bad = _SUM.replace("Sum(a, a)", "Add(a, a)"), _SUM.replace("a + b", "a - b")
    where = repository(tmp_path / "r", {**files, "calc/calc.go": good}, {"calc/calc.go": bad})
    done = afterd("explain", "HEAD~1..HEAD", cwd=where)
    done.refused(13, "The good version does not build", "#build")
    assert done.err.count("confirming the bad version") == 1


def test_a_build_that_wants_for_a_module_is_no_regression(tmp_path: Path) -> None:
    """Environments of uv have no setuptools: that a release got a setup.py was what "broke the build" (tomli)."""
    venv.create(tmp_path / "venv", with_pip=False)
    python = tmp_path / "venv" / "bin" / "python"
    setup = "from setuptoolz import setup\n\nsetup(name='a', py_modules=['a'], ext_modules=[])\n"
    test = (
        "import unittest\nfrom a import f\n\n\nclass T(unittest.TestCase):\n    def test_f(self):\n"
    )
    test += "        self.assertEqual(f(1), 2)\n"
    good = {"a.py": "def f(x):\n    return x + 1\n", "test_a.py": test}
    bad = {"a.py": "def f(x):\n    return x + 2\n", "setup.py": setup}
    where = repository(tmp_path / "r", good, bad)
    done = afterd("explain", "HEAD~1..HEAD", "--python", str(python), cwd=where)
    done.refused(13, "The bad version does not build.", "lacks the module setuptoolz")
