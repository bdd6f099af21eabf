"""Tests that are named where a command is taken, explained as tests of the project's own suite."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from npm_packages import NoNpmError, npm
from pipeline_runs import afterd, repository

CODE = "def f(x):\n    return x + 1\n\n\ndef g(x):\n    return x\n"
BAD = CODE.replace("x + 1", "x + 2").replace("return x\n", "return 1 * x\n")
PYTEST = """\
import pytest
from calc import f, g


class TestF:
    @pytest.mark.parametrize("x", [1, "a b"])
    def test_f(self, x):
        assert x == "a b" or f(x) == 2


def test_also():
    assert f(2) == 3


def test_g():
    assert g(1) == 1
"""
UNITTEST = """\
import unittest
from calc import f, g


class T(unittest.TestCase):
    def test_f(self):
        self.assertEqual(f(1), 2)

    def test_also(self):
        self.assertEqual(f(2), 3)

    def test_g(self):
        self.assertEqual(g(1), 1)
"""


def of_pytest(path: Path) -> Path:
    """A project whose tests lie in a folder and are pytest's."""
    files = {
        "calc.py": CODE,
        "tests/test_calc.py": PYTEST,
        "pytest.ini": "[pytest]\npythonpath=.\n",
    }
    return repository(path, files, {"calc.py": BAD})


def of_unittest(path: Path) -> Path:
    """One whose tests are unittest's, in a folder that is no package."""
    return repository(path, {"calc.py": CODE, "tests/test_calc.py": UNITTEST}, {"calc.py": BAD})


def explained(path: Path, *typed: str) -> dict[str, tuple[str, ...]]:
    """The tests that were explained, each with its root, and the ones it stands for."""
    done = afterd("explain", "--format", "json", *typed, cwd=path)
    assert done.status == 0, done.err
    return {
        found["test"]: tuple(change["id"] for change in found["root"])
        for found in json.loads(done.out)["explanations"]
    }


@pytest.mark.parametrize(
    "typed",
    [
        ("--test", "tests/test_calc.py::TestF::test_f[1]"),
        ("--test", "tests/test_calc.py::TestF::test_f"),
        ("--test", "tests/test_calc.py::TestF"),
        ("--", "tests/test_calc.py::TestF::test_f[1]"),
    ],
)
def test_an_id_of_pytest_is_a_test_of_the_suite(tmp_path: Path, typed: tuple[str, ...]) -> None:
    path = of_pytest(tmp_path / "r")
    assert explained(path, *typed) == {"tests/test_calc.py::TestF::test_f[1]": ("c1",)}
    assert afterd("replay", "1", cwd=path).out.startswith("The test passes")
    assert afterd("replay", "1", "--revert", "c2", cwd=path).out.startswith("The test fails as")


def test_a_file_stands_for_its_tests(tmp_path: Path) -> None:
    """From the folder it is in, too; those that the same root repairs are one answer."""
    path = of_pytest(tmp_path / "r")
    done = afterd("explain", "--test", "test_calc.py", cwd=path / "tests")
    assert done.status == 0, done.err
    assert "tests/test_calc.py::test_also" in done.out
    assert "test_f[1]" in done.out


@pytest.mark.parametrize(
    "typed", ["tests.test_calc.T.test_f", "test_calc.T.test_f", "tests/test_calc.py::T::test_f"]
)
def test_a_dotted_name_is_a_test_of_unittest(tmp_path: Path, typed: str) -> None:
    path = of_unittest(tmp_path / "r")
    assert explained(path, "--test", typed) == {"test_calc.T.test_f": ("c1",)}


def test_in_a_setting(tmp_path: Path) -> None:
    """As in place of the command, and in the list of tests that are explained."""
    path = of_pytest(tmp_path / "r")
    wanted = {"tests/test_calc.py::TestF::test_f[1]": ("c1",)}
    (path / "afterd.toml").write_text('test = "tests/test_calc.py::TestF"\n')
    assert explained(path) == wanted
    assert afterd("replay", "1", "--revert", "c2", cwd=path).out.startswith("The test fails as")
    (path / "afterd.toml").write_text('tests = ["tests/test_calc.py::TestF"]\n')
    assert explained(path) == wanted


def test_beside_a_makefile_of_another_suite(tmp_path: Path) -> None:
    """The named test says which suite is meant, and pytest runs what no configuration asks for."""
    files = {
        "Makefile": "check:\n\tfalse\n",
        "calc.py": CODE,
        "checks/calc_checked.py": "import sys\nsys.path.insert(0, '.')\n" + PYTEST,
    }
    path = repository(tmp_path / "r", files, {"calc.py": BAD})
    found = explained(path, "--test", "checks/calc_checked.py::test_also")
    assert found == {"checks/calc_checked.py::test_also": ("c1",)}


@pytest.mark.parametrize(
    ("make", "typed", "said"),
    [
        (of_pytest, "tests/test_calc.py::test_als", "no such test. Is test_also meant?"),
        (of_pytest, "tests/test_calc.py::TestF::test_f[2]", "no such test"),
        (of_unittest, "tests.test_calc.T.test_als", "no such test"),
        (of_pytest, "test_calc.py::test_also", "(there is tests/test_calc.py)"),
    ],
)
def test_a_name_that_nothing_has(tmp_path: Path, make: object, typed: str, said: str) -> None:
    assert callable(make)
    done = afterd("explain", "--test", typed, cwd=make(tmp_path / "r"))
    done.refused(13, said)


@pytest.mark.parametrize("make", [of_pytest, of_unittest])
def test_a_named_test_that_passes(tmp_path: Path, make: object) -> None:
    assert callable(make)
    name = "tests/test_calc.py::test_g" if make is of_pytest else "tests.test_calc.T.test_g"
    done = afterd("explain", "--test", name, cwd=make(tmp_path / "r"))
    assert done.status == 0, done.err
    assert "test_g passes at the bad version." in " ".join(done.out.split())


GO = {
    "go.mod": "module example.org/m\n\ngo 1.18\n",
    "calc/calc.go": "package calc\n\nfunc F(x int) int {\n\treturn x + 1\n}\n\nfunc G(x int) int {\n\treturn x\n}\n",
    "calc/calc_test.go": (
        'package calc\n\nimport "testing"\n\n'
        'func TestF(t *testing.T) {\n\tt.Run("one", func(t *testing.T) {\n\t\tif F(1) != 2 {\n\t\t\tt.Fatal(F(1))\n'
        "\t\t}\n\t})\n}\n\nfunc TestG(t *testing.T) {\n\tif G(1) != 1 {\n\t\tt.Fatal(G(1))\n\t}\n}\n"
    ),
    "other/other_test.go": 'package other\n\nimport "testing"\n\nfunc TestG(t *testing.T) {}\n',
}


@pytest.mark.skipif(shutil.which("go") is None, reason="no Go")
@pytest.mark.parametrize(
    ("typed", "test", "change"),
    [
        ("example.org/m/calc TestF/one", "example.org/m/calc TestF/one", "c1"),
        ("TestF", "example.org/m/calc TestF/one", "c1"),
        ("TestG", "example.org/m/calc TestG", "c2"),
    ],
)
def test_as_go_names_it(tmp_path: Path, typed: str, test: str, change: str) -> None:
    """With its package or without: a command was all that was taken, and none is called so."""
    bad = GO["calc/calc.go"].replace("x + 1", "x + 2").replace("return x\n}\n", "return -x\n}\n")
    path = repository(tmp_path / "r", GO, {"calc/calc.go": bad})
    assert explained(path, "--test", typed) == {test: (change,)}


SHELL = {
    "CMakeLists.txt": (
        "cmake_minimum_required(VERSION 3.13)\nproject(p NONE)\nenable_testing()\n"
        "add_test(NAME sums.one COMMAND grep -q 2 amount WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})\n"
        "add_test(NAME sums.two COMMAND grep -q 4 other WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})\n"
    ),
    "amount": "2\n",
    "other": "4\n",
}


@pytest.mark.skipif(
    None in (shutil.which("cmake"), shutil.which("ctest")), reason="no CMake with CTest"
)
@pytest.mark.parametrize("typed", [("--test", "sums.two"), ("--", "sums.two")])
def test_as_ctest_names_it(tmp_path: Path, typed: tuple[str, ...]) -> None:
    path = repository(tmp_path / "r", SHELL, {"amount": "3\n", "other": "5\n"})
    assert explained(path, *typed) == {"sums.two": ("c2",)}
    done = afterd("explain", "--test", "sums.three", cwd=path)
    done.refused(13, "sums.three", "no such test")


@pytest.mark.skipif(shutil.which("node") is None, reason="no node")
def test_as_npm_names_it(tmp_path: Path) -> None:
    """A file and its titles."""
    test = 'const test = require("node:test");\nconst assert = require("node:assert");\n'
    test += 'const { f, g } = require("./calc.js");\n'
    test += 'test("it adds", () => assert.strictEqual(f(1), 2));\n'
    test += 'test("it keeps", () => assert.strictEqual(g(1), 1));\n'
    code = "exports.f = (x) => {\n  return x + 1;\n};\n\nexports.g = (x) => {\n  return x;\n};\n"
    bad = code.replace("x + 1", "x + 2").replace("return x;", "return -x;")
    files = {"package.json": '{"scripts": {"test": "node --test"}}', "calc.js": code}
    path = repository(tmp_path / "r", {**files, "calc.test.js": test}, {"calc.js": bad})
    found = explained(path, "--test", "calc.test.js > it keeps")
    assert found == {"calc.test.js > it keeps": ("c2",)}


PHP = """<?php
class SumTest extends \\PHPUnit\\Framework\\TestCase {
    public function testF() { $this->assertSame(2, (int) file_get_contents("amount")); }
    public function testG() { $this->assertSame(4, (int) file_get_contents("other")); }
}
"""
RUST = """\
pub fn f(x: i32) -> i32 {
    x + 1
}

pub fn g(x: i32) -> i32 {
    x
}

#[cfg(test)]
mod tests {
    #[test]
    fn adds() {
        assert_eq!(super::f(1), 2);
    }

    #[test]
    fn keeps() {
        assert_eq!(super::g(1), 1);
    }
}
"""
AMOUNTS = {"amount": "2\n", "other": "4\n"}
WRONG = {"amount": "3\n", "other": "5\n"}


@pytest.mark.skipif(shutil.which("phpunit") is None, reason="no phpunit")
def test_as_phpunit_names_it(tmp_path: Path) -> None:
    suite = '<testsuite name="a"><directory>tests</directory></testsuite>'
    settings = f"<phpunit><testsuites>{suite}</testsuites></phpunit>"
    files = {"phpunit.xml": settings, "tests/SumTest.php": PHP, **AMOUNTS}
    path = repository(tmp_path / "r", files, WRONG)
    assert explained(path, "--test", "SumTest::testG") == {"SumTest::testG": ("c2",)}


@pytest.mark.skipif(shutil.which("cargo") is None, reason="no Cargo")
def test_as_cargo_names_it(tmp_path: Path) -> None:
    manifest = '[package]\nname = "sums"\nversion = "0.1.0"\nedition = "2021"\n'
    files = {"Cargo.toml": manifest, "src/lib.rs": RUST, ".gitignore": "target\n"}
    bad = RUST.replace("x + 1", "x + 2").replace("    x\n", "    -x\n")
    path = repository(tmp_path / "r", files, {"src/lib.rs": bad})
    assert explained(path, "--test", "tests::keeps") == {"tests::keeps": ("c2",)}


@pytest.mark.skipif(
    None in (shutil.which("meson"), shutil.which("ninja")), reason="no Meson with Ninja"
)
def test_as_meson_names_it(tmp_path: Path) -> None:
    build = "project('p')\ngrep = find_program('grep')\n"
    build += "test('sums one', grep, args: ['-q', '2', meson.source_root() / 'amount'])\n"
    build += "test('sums two', grep, args: ['-q', '4', meson.source_root() / 'other'])\n"
    path = repository(tmp_path / "r", {"meson.build": build, **AMOUNTS}, WRONG)
    assert explained(path, "--test", "sums two") == {"sums two": ("c2",)}


def test_what_mocha_runs_alone_has_its_name(tmp_path: Path) -> None:
    """It was "the test suite": of one test it makes no report (deep-eql)."""
    code = "exports.f = (x) => {\n  return x + 1;\n};\n"
    test = 'const assert = require("assert");\nconst { f } = require("../calc.js");\n'
    test += 'describe("f", () => { it("adds", () => assert.strictEqual(f(1), 2)); });\n'
    files = {"package.json": '{"scripts": {"test": "mocha"}}', ".gitignore": "node_modules\n"}
    files |= {"calc.js": code, "test/calc.js": test}
    path = repository(tmp_path / "r", files, {"calc.js": code.replace("+ 1", "+ 2")})
    try:
        npm(path, "install", "--no-save", "mocha@10")
    except NoNpmError as error:
        pytest.skip(str(error))
    name = "test/calc.js > f adds"
    assert explained(path, "--test", name) == {name: ("c1",)}


def test_a_command_that_is_not_there_is_called_one(tmp_path: Path) -> None:
    """Where the project's runner names its tests otherwise, or none is found."""
    for make in (of_pytest, lambda path: repository(path, {"a": "1\n"}, {"a": "2\n"})):
        done = afterd("explain", "--test", "absent-program now", cwd=make(tmp_path / make.__name__))
        done.refused(13, "absent-program")
