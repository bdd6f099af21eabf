"""Tests of the bad version that the good one cannot build or import: which are kept, and what is said."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from made_changes import change
from pipeline_runs import afterd, checks_of_a_new_name, repository

from afterd.execution.recipe import Recipe
from afterd.model.outcome import Outcome, Verdict
from afterd.pipeline.older_tests import OwnTest, _new_test_sentence, choices, own_test, telling_line
from afterd.workspace import FailingTest

OPS = "def add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a - b\n"
NEW = OPS.replace("a + b", "a + b + 1") + "\n\ndef mul(a, b):\n    return a * b\n"
TEST = "from ops import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"
WITH_NEW = (
    TEST.replace("add\n", "add, mul\n", 1) + "\n\ndef test_mul():\n    assert mul(2, 2) == 4\n"
)
NODE_TEST = """\
import test from 'node:test';
import assert from 'node:assert';
import { one } from '../ops.mjs';

test('is the one', () => {
  assert.strictEqual(one(), VALUE);
});
"""
PYTEST = {"pyproject.toml": "[tool.pytest.ini_options]\n"}


def explained(
    path: Path, good: Mapping[str, str], bad: Mapping[str, str]
) -> tuple[int, dict[str, Any]]:
    for folder in ("tests", "test"):
        (path / folder).mkdir(parents=True)
    python = {} if "package.json" in good else PYTEST
    repository(path, {**python, **good}, bad)
    done = afterd("explain", "--format", "json", cwd=path)
    return done.status, json.loads(done.out)["explanations"][0]


def test_a_file_that_the_command_names_is_a_test_though_its_package_imports_it(
    tmp_path: Path,
) -> None:
    """Rope's ``ropetest/__init__.py`` imports all tests: a new one was "not found" at the good version."""
    (tmp_path / "checks").mkdir()
    imports = {"checks/__init__.py": "import checks.sum_test\n", "checks/sum_test.py": TEST}
    new = TEST + "\n\ndef test_more():\n    assert add(2, 2) == 4\n"
    repository(tmp_path, {"ops.py": OPS, **imports}, {"ops.py": NEW, "checks/sum_test.py": new})
    command = (sys.executable, "-m", "pytest", "-q", "checks/sum_test.py::test_more")
    done = afterd("explain", "--format", "json", "--", *command, cwd=tmp_path)
    assert done.status == 0, done.err
    [found] = json.loads(done.out)["explanations"]
    assert {change["file"] for change in found["root"]} == {"ops.py"}


def test_a_file_that_is_called_as_a_test_is_one_whatever_its_name(tmp_path: Path) -> None:
    """Meson's ``unittests/optiontests.py`` was of the program: its new test was not found at the good version."""
    new = TEST + "\n\ndef test_more():\n    assert add(2, 2) == 4\n"
    good = {"ops.py": OPS, "unittests/opstests.py": TEST}
    repository(tmp_path, good, {"ops.py": NEW, "unittests/opstests.py": new})
    command = (sys.executable, "-m", "pytest", "-q", "unittests/opstests.py::test_more")
    done = afterd("explain", "--format", "json", "--", *command, cwd=tmp_path)
    assert done.status == 0, done.err
    [found] = json.loads(done.out)["explanations"]
    assert {change["file"] for change in found["root"]} == {"ops.py"}


def test_a_test_file_that_the_good_version_cannot_import(tmp_path: Path) -> None:
    """Beside the failing test a new one imports what the good version lacks."""
    good = {"ops.py": OPS, "tests/test_ops.py": TEST}
    status, found = explained(tmp_path / "r", good, {"ops.py": NEW, "tests/test_ops.py": WITH_NEW})
    assert status == 0, found
    assert [change["file"] for change in found["root"]] == ["ops.py"]
    assert any("tests/test_ops.py" in note and "good version" in note for note in found["notes"])


def test_helpers_of_the_tests_that_neither_version_can_have_from_the_other(tmp_path: Path) -> None:
    """With the good version's helpers the bad one fails to import them: that is another failure, whose
    cause is not what broke the test (pint: 155 runs, and a change that had no part in it).
    """
    test = "import helpers\nfrom shown import shown\n\n\ndef test_shown():\n    assert shown(1) == '<1>'\n"

    def version(name: str, brackets: str) -> dict[str, str]:
        return {
            "compat.py": f"{name} = 1\n",
            "shown.py": f"def shown(n):\n    return '{brackets[0]}%d{brackets[1]}' % n\n",
            "tests/helpers.py": f"from compat import {name}\n",
            "tests/test_shown.py": test,
        }

    status, found = explained(tmp_path / "r", version("OLD", "<>"), version("NEW", "[]"))
    assert status == 0, found
    assert [change["file"] for change in found["root"]] == ["shown.py"]
    assert found["runs"]["tests"] <= 5


def test_what_the_latest_commits_share_with_older_ones_is_no_part_of_the_test() -> None:
    """All of it undone was called a part, so that nobody tried all of it."""
    changes = [
        replace(change(number, "tests/helpers.py"), commits=("older", "newer")) for number in (1, 2)
    ]
    found = choices(changes, OwnTest(frozenset(), frozenset()), ["newer", "older"], most=3)
    assert [(choice.undone, choice.partly) for choice in found] == [
        (frozenset({"c1", "c2"}), False)
    ]


def test_a_good_version_that_cannot_be_run_here(tmp_path: Path) -> None:
    """It imports what this Python has no more; the commit that mended it is left in every version."""
    old = "from collections import Iterable\n" + OPS
    mended = old.replace("collections", "collections.abc")
    guilty = mended.replace("a + b", "a + b + 1")
    (tmp_path / "r" / "tests").mkdir(parents=True)
    versions = ({"ops.py": text, "tests/test_ops.py": TEST} for text in (old, mended, guilty))
    path = repository(tmp_path / "r", PYTEST, *versions)
    done = afterd("explain", "HEAD~2..HEAD", "--format", "json", cwd=path)
    found = json.loads(done.out)["explanations"][0]
    assert [change["new"][0] for change in found["root"]] == [3], found
    assert "another way (ImportError: cannot import name 'Iterable'" in found["notes"][0]


def test_a_new_test_is_no_regression(tmp_path: Path) -> None:
    """There is no green to compare with, and the answer says so."""
    broken = WITH_NEW.replace("== 4", "== 5")
    bad = {"ops.py": NEW.replace(" + 1", ""), "tests/test_ops.py": broken}
    status, found = explained(tmp_path / "r", {"ops.py": OPS, "tests/test_ops.py": TEST}, bad)
    assert status != 0
    assert "new: there is no green to compare with" in found["reason"]


def test_a_test_that_moved_with_its_module_is_not_called_new(tmp_path: Path) -> None:
    """service_identity: tests/test_common.py of _common.py became tests/test_hazmat.py of hazmat.py."""
    repository(tmp_path, {**PYTEST, "ops.py": OPS, "tests/test_ops.py": TEST})
    (tmp_path / "ops.py").rename(tmp_path / "arithmetic.py")
    (tmp_path / "tests" / "test_ops.py").unlink()
    wrong = {"arithmetic.py": OPS.replace("a + b", "a - b")}
    wrong["tests/test_arithmetic.py"] = TEST.replace("ops", "arithmetic")
    for name, text in wrong.items():
        (tmp_path / name).write_text(text)
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@b")
    more = ("commit", "-qm", "More", "--allow-empty")
    for words in (("add", "-A"), ("commit", "-qm", "Moved"), more):
        subprocess.run([*git, *words], cwd=tmp_path, check=True)
    done = afterd("explain", "HEAD~2..HEAD", "--format", "json", cwd=tmp_path)
    reason = json.loads(done.out)["explanations"][0]["reason"]
    assert "it stood in tests/test_ops.py, so by its present name there is no green" in reason
    assert "let the range begin with the commit that moved it" in reason


def test_a_test_that_changed_is_no_regression(tmp_path: Path) -> None:
    """Its old form passes at the bad version too."""
    bad = {"ops.py": OPS + "\n\nX = 1\n", "tests/test_ops.py": TEST.replace("== 3", "== 4")}
    status, found = explained(tmp_path / "r", {"ops.py": OPS, "tests/test_ops.py": TEST}, bad)
    assert status != 0
    assert "the text changed, and only the new one fails" in found["reason"]
    assert found["reason"].endswith("So there is no green to compare with.")


def test_a_test_whose_old_form_fails_otherwise_was_not_already_red(tmp_path: Path) -> None:
    """What the good version shows with the bad one's text says nothing of what broke the old one."""
    good = "def total(xs):\n    return sum(xs)\n"
    bad = (
        "def total(xs):\n    return sum(xs) + 1\n\n\ndef mean(xs):\n    return sum(xs) - len(xs)\n"
    )
    test = "import ops\n\n\ndef test_ops():\n    {}\n"
    status, found = explained(
        tmp_path / "r",
        {"ops.py": good, "tests/test_ops.py": test.format("assert ops.total([1, 2]) == 3")},
        {"ops.py": bad, "tests/test_ops.py": test.format("assert ops.mean([1, 3]) == 5")},
    )
    assert (status, found["status"]) == (12, "already-red"), found
    assert found["reason"].startswith(
        "The test changed: in its old form the good version passes it, and the bad one fails it"
        " otherwise than in its new form (AssertionError: assert 4 == 3)"
    )
    assert "there is no green to compare with" in found["reason"]
    assert "older commits" not in found["reason"]


def test_a_test_whose_old_form_is_not_built_is_not_said_to_fail(tmp_path: Path) -> None:
    """P11-kit's build lists the test files that came since."""
    test = "import ops\n\n\ndef test_ops():\n    assert ops.{}\n"
    good = {
        "Makefile": "all:\n\ttrue\n",
        "ops.py": OPS,
        "test_ops.py": test.format("add(1, 2) == 3"),
    }
    bad = {
        "Makefile": "all:\n\ttest -f test_more.py\n",
        "ops.py": "def mean(a, b):\n    return a + b\n",
        "test_more.py": "def test_more():\n    pass\n",
        "test_ops.py": test.format("mean(1, 3) == 2"),
    }
    path = repository(tmp_path / "r", good, bad)
    command = ("--build", "make", "--", sys.executable, "-m", "pytest", "-q")
    done = afterd("explain", "HEAD~1..HEAD", "--format", "json", *command, cwd=path)
    [found] = json.loads(done.out)["explanations"]
    assert "the good version passes it, and the bad one does not build with that" in found["reason"]


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
@pytest.mark.parametrize(
    ("good", "bad", "says"),
    [
        ({}, {"test/b.test.mjs": "5"}, "This test is new: there is no green to compare with."),
        (
            {"test/b.test.mjs": "1"},
            {"test/b.test.mjs": "5", "test/aa.mjs": "1"},
            "The test changed: its old form passes still at the bad version, and the good version does not pass the"
            " new one, so there is no green to compare with (see test/b.test.mjs).",
        ),
    ],
)
def test_a_runner_that_names_files(
    tmp_path: Path, good: Mapping[str, str], bad: Mapping[str, str], says: str
) -> None:
    """The confirmation of one test tells the same of runners without a report of each test."""
    package = {"package.json": '{"scripts": {"test": "node --test test/"}}'}
    ops = {"ops.mjs": "export const one = () => 1;\n"}
    here, there = (
        {path: NODE_TEST.replace("VALUE", value) for path, value in files.items()}
        for files in (good, bad)
    )
    other = {"test/a.test.mjs": NODE_TEST.replace("VALUE", "1")}
    start = {**package, **ops, **other, **here}
    status, found = explained(
        tmp_path / "r",
        start,
        {"ops.mjs": ops["ops.mjs"] + "\n// x\nexport const two = 2;\n", **there},
    )
    assert (status, found["status"]) == (12, "already-red"), found
    assert found["reason"].startswith(says)


@pytest.mark.parametrize(
    ("test_id", "own"),
    [
        ("tests/ops.js > sums > are the one", {"c2"}),
        ("tests/ops.js", {"c1", "c2"}),  # a runner that names files: the whole file is the test
        ("tests/ops.py::test_one", {"c2"}),
    ],
)
def test_a_test_with_a_title_is_not_its_whole_file(test_id: str, own: set[str]) -> None:
    """The import that another test of the file needs is none of its own: the good version could not load it."""
    file = test_id.split(" ", maxsplit=1)[0].split(":", maxsplit=1)[0]
    kept = [
        change(1, file, patch="+import { two } from '../more'\n"),
        change(2, file, patch="+test('are the one', test_one)\n"),
    ]
    failing = FailingTest(Recipe(test=("run",), test_id=test_id), "npm")
    found = own_test(failing, Outcome(Verdict.FAIL), kept)
    assert {each.id for each in kept if found.has(each)} == own


def test_the_test_of_meson_is_its_program() -> None:
    """Behind the name of its project: what the last commit declared for it stands in the same file."""
    kept = [
        change(1, "tests/parser.c", patch="+static int n_more = 2;\n"),
        change(2, "tests/parser.c", patch="+  check (n_more);\n"),
        change(3, "tests/node.c", patch="+static int x;\n"),
    ]
    failing = FailingTest(Recipe(test=("run",), test_id="json-glib:parser"), "Meson")
    found = own_test(failing, Outcome(Verdict.FAIL), kept)
    assert {each.id for each in kept if found.has(each)} == {"c1", "c2"}


def test_what_the_failing_test_imports_goes_along() -> None:
    """Its import is of no function; another one's import stays as the good version has it."""
    file = "a_test.go"
    kept = [
        change(1, file, patch='+\t"strings"\n'),
        change(2, file, patch='+\t"os"\n'),
        change(3, file, patch="+func TestA(t *testing.T) { strings.ToUpper() }\n", symbol="TestA"),
        change(4, file, patch="+func TestB(t *testing.T) { os.Exit(1) }\n", symbol="TestB"),
    ]
    own = OwnTest(frozenset({file}), frozenset({"TestA"}))
    undone = [each.undone for each in choices(kept, own)]
    assert frozenset({"c2", "c4"}) in undone


LISTS = """\
cmake_minimum_required(VERSION 3.10)
project(x C)
enable_testing()
add_library(ops ops.c)
add_subdirectory(tests)
"""
TESTS = "include_directories(..)\nadd_executable(t_add t_add.c)\ntarget_link_libraries(t_add ops)\n"
TESTS += "add_test(NAME t_add COMMAND t_add)\n"
C_OPS = '#include "ops.h"\nint add(int a, int b) { return a + b; }\n'
T_ADD = '#include "ops.h"\n#include <stdio.h>\nint main(void) {\n'
T_ADD += '  printf("%d\\n", add(1, 2));\n  return add(1, 2) != 3;\n}\n'
T_MUL = '#include "ops.h"\nint main(void) { return mul(2, 2) != 4; }\n'


@pytest.mark.skipif(shutil.which("cmake") is None, reason="needs CMake")
def test_a_c_library_whose_new_tests_call_what_the_old_release_lacks(tmp_path: Path) -> None:
    """In a compiled language one new test spoils the build of all; its target is left out."""
    header, flags = (
        "int add(int a, int b);\n",
        "set(CMAKE_C_FLAGS -Werror=implicit-function-declaration)\n",
    )
    good = {
        "CMakeLists.txt": LISTS + flags,
        "ops.c": C_OPS,
        "ops.h": header,
        "tests/CMakeLists.txt": flags + TESTS,
        "tests/t_add.c": T_ADD,
    }
    bad = {
        "ops.c": C_OPS.replace("a + b", "a - b") + "\nint mul(int a, int b) { return a * b; }\n",
        "ops.h": header + "int mul(int a, int b);\n",
        "tests/CMakeLists.txt": flags + TESTS + TESTS.replace("t_add", "t_mul"),
        "tests/t_mul.c": T_MUL,
    }
    status, found = explained(tmp_path / "r", good, bad)
    assert status == 0, found
    assert found["test"] == "t_add"
    assert [change["file"] for change in found["root"]] == ["ops.c"]
    assert any("tests/t_mul.c" in note for note in found["notes"])


@pytest.mark.skipif(shutil.which("cmake") is None, reason="needs CMake")
def test_a_line_for_the_regression_beside_those_of_a_feature(tmp_path: Path) -> None:
    """One program tests both; the good version has not the feature, and undoing that is no answer."""
    header = "int add(int a, int b);\n"
    good = {
        "CMakeLists.txt": LISTS,
        "ops.c": C_OPS,
        "ops.h": header,
        "tests/CMakeLists.txt": TESTS,
        "tests/t_add.c": T_ADD,
    }
    call, more = "  printf(", "  if (mul(2, 2) != 4) return 2;\n  printf("
    feature = {
        "ops.c": C_OPS.replace("a + b", "a < 0 ? b - a : a + b")
        + "\nint mul(int a, int b) { return a * b; }\n",
        "ops.h": header + "int mul(int a, int b);\n",
        "tests/t_add.c": T_ADD.replace(call, more),
    }
    noticed = feature["tests/t_add.c"].replace("!= 3;", "!= 3 || add(-2, 3) != 1;")
    (tmp_path / "r" / "tests").mkdir(parents=True)
    repository(tmp_path / "r", good, feature, {"tests/t_add.c": noticed})
    done = afterd("explain", "HEAD~2..HEAD", "--format", "json", cwd=tmp_path / "r")
    found = json.loads(done.out)["explanations"][0]
    assert done.status == 0, found
    assert ["b - a" in change["patch"] for change in found["root"]] == [True]
    assert any("the last commit did to the failing one" in note for note in found["notes"])


LIB = "mod ops;\npub fn sum(a: i32, b: i32) -> i32 { ops::add(a, b) }\n"
OWN = "#[test]\nfn adds() { assert_eq!(sum(1, 2), 3); }\n"
ADD = "pub fn add(a: i32, b: i32) -> i32 { a + b + 1 }\n#[test]\nfn adds_too() { assert_eq!(add(1, 2), 3); }\n"


@pytest.mark.skipif(shutil.which("cargo") is None, reason="no cargo")
def test_a_case_for_the_regression_behind_one_of_a_feature(tmp_path: Path) -> None:
    """Both were appended to a table of cases, so they are one block of it (goldmark's ``linkify.txt``)."""
    (tmp_path / "tests").mkdir()
    test = (
        "from pathlib import Path\nimport ops\n\n\ndef test_cases():\n"
        "    for line in Path(__file__).with_name('cases.txt').read_text().splitlines():\n"
        "        name, a, b, expected = line.split()\n"
        "        assert getattr(ops, name)(int(a), int(b)) == int(expected)\n"
    )
    old = {**PYTEST, "ops.py": OPS, "tests/test_ops.py": test, "tests/cases.txt": "sub 3 1 2\n"}
    feature = {"ops.py": NEW, "tests/cases.txt": "sub 3 1 2\nmul 2 2 4\n"}
    told = {"tests/cases.txt": "sub 3 1 2\nmul 2 2 4\nadd 1 2 3\n"}
    path = repository(tmp_path, old, feature, told)
    done = afterd("explain", "HEAD~2..HEAD", "--format", "json", cwd=path)
    [found] = json.loads(done.out)["explanations"]
    assert [(change["file"], change["new"][0]) for change in found["root"]] == [("ops.py", 2)], (
        found
    )


def test_a_call_of_the_failing_test_is_no_culprit(tmp_path: Path) -> None:
    """Neither version passes the other's checks, so they take part: that the failing one is not called is no
    repair (serd's ``test_writer.c``).
    """
    (tmp_path / "tests").mkdir()
    repository(tmp_path, *checks_of_a_new_name("tests/check.py"))
    command = ("env", "PYTHONPATH=.", sys.executable, "tests/check.py")
    done = afterd("explain", "--format", "json", "--", *command, cwd=tmp_path)
    [found] = json.loads(done.out)["explanations"]
    assert (found["status"], found["root"]) == ("already-red", []), found


def test_a_test_of_a_new_source_file_is_new_and_the_other_is_explained(tmp_path: Path) -> None:
    """shlex: what was `split` in lib.rs is in a new bytes.rs, with tests of its own; all ended in an error."""
    path = tmp_path / "r"
    crate = '[package]\nname = "ops"\nversion = "0.1.0"\nedition = "2021"\n'
    good = {
        "Cargo.toml": crate,
        "src/lib.rs": f"pub fn sum(a: i32, b: i32) -> i32 {{ a + b }}\n{OWN}",
    }
    (path / "src").mkdir(parents=True)
    repository(path, good, {"src/lib.rs": LIB + OWN, "src/ops.rs": ADD})
    done = afterd("explain", "--format", "json", cwd=path)
    found = {each["test"]: each for each in json.loads(done.out)["explanations"]}
    assert found["adds"]["status"] == "explained", found
    assert {change["file"] for change in found["adds"]["root"]} <= {"src/lib.rs", "src/ops.rs"}
    if "ops::adds_too" in found:
        assert found["ops::adds_too"]["reason"].startswith("This test is new")


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("warning: old\n_ _ _ _ _ _\nops.mjs: no such export\n", "ops.mjs: no such export"),
        (
            "=== FAILURES ===\n_ _ _ _\nE       dulwich.errors.RefFormatError: b'refs'\ndulwich/refs.py:399\n",
            "dulwich.errors.RefFormatError: b'refs'",
        ),
        (
            "INTERNALERROR>     return (yield)\n"
            "INTERNALERROR> pytest.PytestConfigWarning: Unknown config option: looponfailroots\n",
            "pytest.PytestConfigWarning: Unknown config option: looponfailroots",
        ),
        (
            "Internal ctest changing into directory: /s/0/b\nTest project /s/0/b\nthree: no\n",
            "three: no",
        ),
        ("----\n\n____\n", ""),
    ],
)
def test_what_a_new_test_says_at_the_good_version_is_told_by_the_line_that_names_an_error(
    said: str, line: str
) -> None:
    assert telling_line(said) == line


def test_a_new_test_is_told_with_its_own_failure_and_not_with_a_count() -> None:
    """Mocha's first line says how many pass: "With the test put there it says: 0 passing (584ms)" (validator.js)."""
    said = 'Error: isURL("a:1") failed but should have passed'
    detail = f"  0 passing (584ms)\n  1 failing\n\n  1) isURL\n     {said}\n      at test (test/a.js:41:15)\n"
    told = _new_test_sentence(None, Outcome(Verdict.FAIL, detail=detail))
    assert told.endswith(f"it says: {said}")
    assert _new_test_sentence(None, None) == "This test is new: there is no green to compare with."
