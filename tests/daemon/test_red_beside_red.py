"""A test that is red hides no other: verdicts are by test, and by failure where tests are not told apart."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from daemon_repositories import commit, git, made, once, opened, settings, verdicts

from afterd.model.change import NOTHING
from afterd.pipeline import replay
from afterd.store.explanations import load

PYTEST = """\
from pathlib import Path

import pytest


def test_one():
    assert Path("one").read_text() == "good\\n"


@pytest.mark.parametrize("name", ["two"])
def test_read(name):
    assert Path(name).read_text() == "good\\n"
"""
UNITTEST = """\
import unittest
from pathlib import Path


class Test(unittest.TestCase):
    def test_one(self):
        self.assertEqual(Path("one").read_text(), "good\\n")

    def test_two(self):
        self.assertEqual(Path("two").read_text(), "good\\n")
"""
GO = """\
package p

import (
    "os"
    "testing"
)

func check(t *testing.T, name string) {
    text, _ := os.ReadFile(name)
    if string(text) != "good\\n" {
        t.Errorf("%s is %q", name, text)
    }
}

func TestOne(t *testing.T) { check(t, "one") }
func TestTwo(t *testing.T) { check(t, "two") }
"""
RUST = """\
#[test]
fn one() { assert_eq!(std::fs::read_to_string("one").unwrap(), "good\\n"); }
#[test]
fn two() { assert_eq!(std::fs::read_to_string("two").unwrap(), "good\\n"); }
"""
CARGO = '[package]\nname = "p"\nversion = "0.1.0"\nedition = "2021"\n[lib]\npath = "lib.rs"\n'
CTEST = "".join(f'add_test({name} "grep" "good" "../{name}")\n' for name in ("one", "two"))
TAP = """\
echo 1..2
for n in one two; do
    if grep -q good $n; then echo "ok - $n"; else echo "not ok - $n"; bad=1; fi
done
exit ${bad:-0}
"""
AUTOMAKE = TAP.replace("ok -", "PASS:").replace("not PASS:", "FAIL:").replace("echo 1..2\n", "")
JUNIT = """\
for n in one two; do
    grep -q good $n && continue
    echo "[ERROR] org.example.FilesTest.$n -- Time elapsed: 0.00$(date +%1N) s <<< FAILURE!"
    bad=1
done
exit ${bad:-0}
"""
JUNIT_FILE = """\
mkdir -p reports
{
    echo '<?xml version="1.0"?><testsuites><testsuite name="files">'
    for n in one two; do
        echo "<testcase classname='files' name='$n' time='0.1'>"
        grep -q good $n || { echo '<failure message="not good">x</failure>'; bad=1; }
        echo '</testcase>'
    done
    echo '</testsuite></testsuites>'
} >reports/junit.xml
exit ${bad:-0}
"""


PERL = """\
use Test::More tests => 2;
ok(1, "it begins");
open(my $file, "%s");
is(<$file>, "good\\n", "what it reads is good");
"""
PERL_FILES = {"one.t": PERL % "one", "two.t": PERL % "two"}


@dataclass(frozen=True)
class Runner:
    """A configured test command, and what it calls the two tests."""

    files: Mapping[str, str]
    test: tuple[str, ...]
    names: tuple[str, str]
    needs: str = "sh"
    build: tuple[str, ...] = ()


RUNNERS = {
    "pytest": Runner(
        {"test_it.py": PYTEST}, (sys.executable, "-m", "pytest", "-q"),
        ("test_it.py::test_one", "test_it.py::test_read[two]"),
    ),
    "pytest in a shell": Runner(
        {"test_it.py": PYTEST, ".gitignore": "__pycache__\n"},
        ("sh", "-c", f"cd . && {sys.executable} -m pytest -q --maxfail 9 test_it.py"),
        ("test_it.py::test_one", "test_it.py::test_read[two]"),
    ),
    "unittest": Runner(
        {"test_it.py": UNITTEST}, (sys.executable, "-m", "unittest"),
        ("test_it.Test.test_one", "test_it.Test.test_two"),
    ),
    "unittest in a makefile": Runner(
        {"test_it.py": UNITTEST, "makefile": f"check:\n\t{sys.executable} -m unittest\n"},
        ("make", "check"),
        ("test_it.Test.test_one", "test_it.Test.test_two"), "make",
    ),
    "CTest": Runner(
        {"CTestTestfile.cmake": "subdirs(t)\n", "t": CTEST},
        ("sh", "-c", "mkdir -p build/t && cp CTestTestfile.cmake build &&"
         " sed 's,\"\\.\\./,\"../../,' t >build/t/CTestTestfile.cmake && ctest --test-dir build"),
        ("one", "two"), "ctest",
    ),
    "TAP": Runner({"t.sh": TAP}, ("sh", "t.sh"), ("one", "two")),
    "prove": Runner(PERL_FILES, ("prove", "one.t", "two.t"), ("one.t", "two.t"), "prove"),
    "automake": Runner({"t.sh": AUTOMAKE}, ("sh", "t.sh"), ("one", "two")),
    "JUnit": Runner(
        {"t.sh": JUNIT}, ("sh", "t.sh"),
        ("org.example.FilesTest.one", "org.example.FilesTest.two"),
    ),
    "JUnit's file": Runner(
        {"t.sh": JUNIT_FILE}, ("sh", "t.sh"), ("files.one", "files.two"),
    ),
    "Go": Runner(
        {"go.mod": "module p\n\ngo 1.18\n", "p_test.go": GO}, ("go", "test", "./..."),
        ("p TestOne", "p TestTwo"), "go",
    ),
    "Cargo": Runner({"Cargo.toml": CARGO, "lib.rs": RUST}, ("cargo", "test", "-q", "--offline"),
                    ("one", "two"), "cargo"),
}  # fmt: skip


@pytest.mark.parametrize("runner", RUNNERS.values(), ids=list(RUNNERS))
def test_a_second_test_that_breaks_while_the_first_is_red_is_explained(
    tmp_path: Path, runner: Runner
) -> None:
    if shutil.which(runner.needs) is None:
        pytest.skip(f"{runner.needs} is not installed")
    good = {"one": "good\n", "two": "good\n", "other": "a\n"}
    where = made(tmp_path / "r", {**runner.files, **good})
    once(where, test=runner.test)
    first = commit(where, {"one": "bad\n", "other": "b\n"})
    once(where, test=runner.test)
    second = commit(where, {"two": "bad\n", "other": "c\n"})
    once(where, test=runner.test)
    mended = commit(where, {"one": "good\n"})
    once(where, test=runner.test)
    one, two = runner.names
    assert [(v.test, v.kind) for v in verdicts(where, first)] == [(one, "caused")]
    assert [(v.test, v.kind, v.base) for v in verdicts(where, second)] == [
        (one, "already-red", first),
        (two, "caused", first),
    ]
    assert [(v.test, v.kind, v.base) for v in verdicts(where, mended)] == [
        (two, "already-red", second)
    ]
    for of, guilty in ((first, "one"), (second, "two")):
        with opened(where) as reader:
            found = load(reader, verdicts(where, of)[-1].explanation_id or 0)
        assert [change.file for change in found.root] == [guilty], found.reason
        assert found.minimal
    again = replay(settings(where, test=runner.test), found.id)
    assert again.outcome.passed, again
    assert not replay(settings(where, test=runner.test), found.id, NOTHING).outcome.passed


CARGO_FILES = {
    "Cargo.toml": CARGO + "".join(f'[[test]]\nname = "{n}"\npath = "{n}.rs"\n' for n in ("one", "two")),
    "lib.rs": "",
    "one.rs": RUST.partition("#[test]\nfn two")[0],
    "two.rs": "#[test]\nfn two" + RUST.partition("#[test]\nfn two")[2],
    ".gitignore": "target\nCargo.lock\n",
}  # fmt: skip
MAKEFILE = "check: check-one check-two\ncheck-%:\n\t@grep -q good $* && echo PASS: $* || { echo FAIL: $*; exit 1; }\n"
STOPPING = {
    "pytest": replace(RUNNERS["pytest"], test=(sys.executable, "-m", "pytest", "-xq")),
    "pytest by its configuration": replace(
        RUNNERS["pytest"],
        files={"test_it.py": PYTEST, "pytest.ini": "[pytest]\naddopts = --maxfail=1\n"},
    ),
    "unittest": replace(RUNNERS["unittest"], test=(sys.executable, "-m", "unittest", "-vf")),
    "CTest": replace(
        RUNNERS["CTest"],
        files={"CTestTestfile.cmake": CTEST.replace("../", "../../"), ".gitignore": "b\n"},
        build=("sh", "-c", "mkdir -p b/t && cp CTestTestfile.cmake b/t"),
        test=("ctest", "--test-dir", "b/t", "--stop-on-failure"),
    ),
    "Go": replace(RUNNERS["Go"], test=("go", "test", "-failfast", "./...")),
    "Cargo": replace(RUNNERS["Cargo"], files=CARGO_FILES),
    "make": Runner({"makefile": MAKEFILE}, ("make", "check"), ("one", "two"), "make"),
}


@pytest.mark.parametrize("runner", STOPPING.values(), ids=list(STOPPING))
def test_a_runner_that_is_to_stop_at_the_first_red_test_hides_no_other(
    tmp_path: Path, runner: Runner
) -> None:
    """What would have been run after it is neither red nor green as long as nobody runs it."""
    if shutil.which(runner.needs) is None:
        pytest.skip(f"{runner.needs} is not installed")
    how = {"test": runner.test, "build": runner.build}
    where = made(tmp_path / "r", {**runner.files, "one": "good\n", "two": "good\n"})
    once(where, **how)
    first = commit(where, {"one": "bad\n"})
    once(where, **how)
    second = commit(where, {"two": "bad\n"})
    once(where, **how)
    one, two = runner.names
    assert [(v.test, v.kind) for v in verdicts(where, first)] == [(one, "caused")]
    assert [(v.test, v.kind, v.base) for v in verdicts(where, second)] == [
        (one, "already-red", first),
        (two, "caused", first),
    ]


def test_what_was_not_run_behind_a_red_test_is_not_the_doing_of_who_mends_that(
    tmp_path: Path,
) -> None:
    """A script that stops at its first red test: the other one is seen to fail only when that is mended."""
    where = made(
        tmp_path / "r", {"t.sh": TAP.replace("bad=1", "exit 1"), "one": "good\n", "two": "good\n"}
    )
    once(where, test=("sh", "t.sh"))
    commit(where, {"one": "bad\n"})
    once(where, test=("sh", "t.sh"))
    second = commit(where, {"two": "bad\n"})
    once(where, test=("sh", "t.sh"))
    mended = commit(where, {"one": "good\n"})
    once(where, test=("sh", "t.sh"))
    [seen] = verdicts(where, mended)
    assert (seen.test, seen.kind, seen.base) == ("two", "already-red", second)
    with opened(where) as reader:
        found = load(reader, seen.explanation_id or 0)
    assert [change.file for change in found.root] == ["two"], found.reason


def test_what_init_writes_hides_no_red_behind_another(tmp_path: Path) -> None:
    """As a new user does it: the settings are those of ``afterd init``."""
    where = made(tmp_path / "r", {"test_it.py": UNITTEST, "one": "good\n", "two": "good\n"})
    for files in ({}, {"one": "bad\n"}, {"two": "bad\n"}):
        of = commit(where, files)
        for arguments in (("init", "--force"), ("daemon", "run", "--once", "--quiet")):
            command = [sys.executable, "-m", "afterd", *arguments]
            done = subprocess.run(command, cwd=where, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
    one, two = RUNNERS["unittest"].names
    assert [(v.test, v.kind) for v in verdicts(where, of)] == [
        (one, "already-red"),
        (two, "caused"),
    ]


def test_what_fails_in_a_file_that_is_red_is_explained(tmp_path: Path) -> None:
    """Of prove it is the file that failed; which of a file's tests failed is said by these."""
    both = "use Test::More;\n" + "".join(
        f'open(F, "{name}");\nis(<F>, "good\\n", "{name} is good");\n' for name in ("one", "two")
    )
    files = {"both.t": both + "done_testing;\n", "one": "good\n", "two": "good\n", "other": "a\n"}
    where = made(tmp_path / "r", files)
    once(where, test=("prove", "both.t"))
    first = commit(where, {"one": "bad\n"})
    once(where, test=("prove", "both.t"))
    still = commit(where, {"other": "b\n"})
    once(where, test=("prove", "both.t"))
    second = commit(where, {"two": "bad\n"})
    once(where, test=("prove", "both.t"))
    assert [(v.test, v.kind) for v in verdicts(where, first)] == [("both.t", "caused")]
    assert [(v.kind, v.base) for v in verdicts(where, still)] == [("already-red", first)]
    assert [(v.test, v.kind) for v in verdicts(where, second)] == [("both.t", "caused")]


UNTOLD = "for n in one two; do grep -q good $n || { echo $n is not good >&2; exit 1; }; done"


def test_where_tests_are_not_told_apart_another_failure_is_another(tmp_path: Path) -> None:
    where = made(tmp_path / "r", {"one": "good\n", "two": "good\n", "other": "a\n"})
    test = ("sh", "-c", UNTOLD)
    green = git("rev-parse", "HEAD", cwd=where)
    once(where, test=test)
    second = commit(where, {"two": "bad\n"})
    once(where, test=test)
    first = commit(where, {"one": "bad\n"})
    once(where, test=test)
    still = commit(where, {"other": "b\n"})
    once(where, test=test)
    back = commit(where, {"one": "good\n"})
    once(where, test=test)
    [seen] = verdicts(where, second)
    assert (seen.kind, seen.base) == ("caused", green)
    [seen] = verdicts(where, first)
    assert (seen.kind, seen.base) == ("caused", green)
    with opened(where) as reader:
        found = load(reader, seen.explanation_id or 0)
    assert [change.file for change in found.root] == ["one", "two"]
    assert [(v.kind, v.base) for v in verdicts(where, still)] == [("already-red", first)]
    assert [(v.kind, v.base) for v in verdicts(where, back)] == [("already-red", second)]


SUMMED_UP = (
    "for n in one two; do grep -q good $n || { echo $n is not good; bad=1; }; done;"
    ' [ -z "$bad" ] || { echo some are not good; exit 1; }'
)


def test_a_last_line_that_is_always_the_same_hides_no_failure(tmp_path: Path) -> None:
    """Nobody names tests, and the script sums up: what stands above that is another failure."""
    where = made(tmp_path / "r", {"one": "good\n", "two": "good\n"})
    test = ("sh", "-c", SUMMED_UP)
    green = git("rev-parse", "HEAD", cwd=where)
    once(where, test=test)
    first = commit(where, {"one": "bad\n"})
    once(where, test=test)
    second = commit(where, {"two": "bad\n"})
    once(where, test=test)
    mended = commit(where, {"one": "good\n"})
    once(where, test=test)
    assert [(v.kind, v.base) for v in verdicts(where, first)] == [("caused", green)]
    [seen] = verdicts(where, second)
    assert (seen.kind, seen.base) == ("caused", green)
    with opened(where) as reader:
        found = load(reader, seen.explanation_id or 0)
    assert [change.file for change in found.root] == ["one", "two"]
    assert [(v.kind, v.base) for v in verdicts(where, mended)] == [("already-red", second)]


COMPILED = """\
int one(void) { return ONE; }
int more(void) { return 3; }
int even_more(void) { return 4; }
int two(void) { return TWO; }
int main(void) { return one() + two() != 3; }
"""


@pytest.mark.parametrize("builds", [True, False], ids=["by a command", "in the test"])
def test_another_error_of_the_compiler_is_another_failure(tmp_path: Path, builds: bool) -> None:
    """Make ends in the same words whatever the compiler refused."""

    def version(one: str, two: str) -> dict[str, str]:
        return {"p.c": COMPILED.replace("ONE", one).replace("TWO", two)}

    files = {"Makefile": "p: p.c\n\tcc -o p p.c\n", ".gitignore": "/p\n", "other": "a\n"}
    where = made(tmp_path / "r", {**files, **version("1", "2")})
    build = ("make",) if builds else ()
    test = ("./p",) if builds else ("sh", "-c", "make && ./p")
    once(where, test=test, build=build)
    first = commit(where, version("missing_one", "2"))
    once(where, test=test, build=build)
    still = commit(where, {"other": "b\n"})
    once(where, test=test, build=build)
    second = commit(where, version("1", "missing_two"))
    once(where, test=test, build=build)
    assert [each.kind for each in verdicts(where, first)] == ["caused"]
    assert [(v.kind, v.base) for v in verdicts(where, still)] == [("already-red", first)]
    [seen] = verdicts(where, second)
    assert seen.kind == "caused", seen.reason
    with opened(where) as reader:
        found = load(reader, seen.explanation_id or 0)
    assert [change.lines("+") for change in found.root] == [
        ["int two(void) { return missing_two; }"]
    ]


def test_a_run_that_says_nothing_of_its_tests_hides_none_of_them(tmp_path: Path) -> None:
    """A test is red, then none is run at all, then they are again and another one is red."""
    files = {"test_it.py": PYTEST, "one": "good\n", "two": "good\n", "prepare.sh": "exit 0\n"}
    where = made(tmp_path / "r", files)
    test = ("sh", "-c", f"sh prepare.sh && {sys.executable} -m pytest -q")
    once(where, test=test)
    first = commit(where, {"one": "bad\n"})
    once(where, test=test)
    crash = commit(where, {"prepare.sh": "exit 3\n"})
    once(where, test=test)
    assert [v.kind for v in verdicts(where, crash)] == ["caused"]
    second = commit(where, {"two": "bad\n", "prepare.sh": "exit 0\n"})
    once(where, test=test)
    assert [(v.test, v.kind, v.base) for v in verdicts(where, second)] == [
        ("test_it.py::test_one", "already-red", first),
        ("test_it.py::test_read[two]", "caused", first),
    ]


def test_words_that_change_make_no_failure_of_another_commit(tmp_path: Path) -> None:
    """Another last line looks like another failure; that it has the old cause is seen by reverting."""
    where = made(tmp_path / "r", {"one": "good\n", "two": "good\n", "said": "quite"})
    test = ("sh", "-c", "grep -q good one || { echo $(cat said) broken >&2; exit 1; }")
    once(where, test=test)
    first = commit(where, {"one": "bad\n"})
    once(where, test=test)
    worded = commit(where, {"said": "very"})
    once(where, test=test)
    assert [(v.kind, v.base) for v in verdicts(where, worded)] == [("already-red", first)]
    assert first[:12] in verdicts(where, worded)[0].reason


FUNCTIONS = "from lib import one\n\n\ndef test_one():\n    assert one() == 1\n"
METHODS = """\
import unittest

from lib import one


class Test(unittest.TestCase):
    def test_one(self):
        self.assertEqual(one(), 1)

    def test_two(self):
        self.assertEqual(one(), 1)
"""


@pytest.mark.parametrize(
    ("runner", "check", "tests"), [("pytest", FUNCTIONS, 1), ("unittest", METHODS, 2)]
)
def test_the_same_test_that_fails_in_another_way_is_explained_again(
    runner: str, check: str, tests: int, tmp_path: Path
) -> None:
    """Also beside another red one, where the runner's report has what each of them raised."""
    test = (sys.executable, "-m", runner, "-q")
    where = made(
        tmp_path / "r", {"lib.py": "def one():\n    return 1\n", "test_one.py": check, "n": "1\n"}
    )
    once(where, test=test)
    first = commit(where, {"lib.py": "def one():\n    return 2\n"})
    once(where, test=test)
    again = commit(where, {"lib.py": "def one():\n    return 3\n"})
    once(where, test=test)
    raised = commit(where, {"lib.py": "def one():\n    return 1 // 0\n"})
    once(where, test=test)
    assert [v.kind for v in verdicts(where, first)] == ["caused"] * tests
    assert [(v.kind, v.base) for v in verdicts(where, again)] == [("already-red", first)] * tests
    assert [v.kind for v in verdicts(where, raised)] == ["caused"] * tests


SUM = (
    "BASE = 0\n\n\ndef one():\n    total = 1\n    return total + BASE\n"
    "\n\ndef two():\n    total = 2\n    return total\n"
)


def test_what_fails_when_the_old_cause_is_undone_has_another(tmp_path: Path) -> None:
    """One commit puts the old text back and breaks the same assertion by another line: it is red since that one. What
    the old cause had put in stands in another function as well.
    """
    test = (sys.executable, "-m", "pytest", "-q")
    where = made(tmp_path / "r", {"lib.py": SUM, "test_one.py": FUNCTIONS, "n": "1\n"})
    once(where, test=test)
    first = commit(where, {"lib.py": SUM.replace("total = 1", "total = 2")})
    once(where, test=test)
    second = commit(where, {"lib.py": SUM.replace("BASE = 0", "BASE = 20")})
    once(where, test=test)
    third = commit(where, {"n": "2\n"})
    once(where, test=test)
    assert [v.kind for v in verdicts(where, first)] == ["caused"]
    assert [v.kind for v in verdicts(where, second)] == ["caused"]
    assert [(v.kind, v.base) for v in verdicts(where, third)] == [("already-red", second)]


@pytest.mark.parametrize("ways", [("crash", "wrong"), ("wrong", "crash")], ids=" then ".join)
def test_a_crash_is_not_an_assertion_that_failed_before(
    tmp_path: Path, ways: tuple[str, str]
) -> None:
    """Of two red tests TAP says no more than that; whose assertion failed the program says by name."""
    ended = """case $(cat {name}) in
good) echo "ok - {name}" ;;
crash) echo "Segmentation fault" >&2; echo "not ok - {name}"; red=1 ;;
*) echo "check: c.c:3: {name}: Assertion \\`{name} == 1' failed." >&2; echo "not ok - {name}"; red=1 ;;
esac
"""
    check = "".join(ended.format(name=name) for name in ("one", "two")) + "exit ${red:-0}\n"
    where = made(tmp_path / "r", {"check.sh": check, "one": "good\n", "two": "good\n"})
    seen = []
    for files in ({}, {"one": ways[0], "two": "wrong"}, {"one": ways[1]}, {"note": "a"}):
        of = commit(where, files)
        once(where, test=("sh", "check.sh"))
        seen.append([(v.test, v.kind) for v in verdicts(where, of)])
    red = [("one", "already-red"), ("two", "already-red")]
    assert seen == [[], [("one", "caused"), ("two", "caused")], [("one", "caused"), red[1]], red]


def test_a_test_that_fails_only_beside_the_others_is_explained_with_them(tmp_path: Path) -> None:
    """Alone it passes: what the first test leaves behind breaks it."""
    check = (
        "import lib\n\n\ndef test_first():\n    lib.leave()\n\n\n"
        "def test_second():\n    assert lib.left == []\n"
    )
    lib = "left = []\n\n\ndef leave():\n    pass\n"
    where = made(tmp_path / "r", {"lib.py": lib, "test_it.py": check})
    test = (sys.executable, "-m", "pytest", "-q")
    once(where, test=test)
    red = commit(where, {"lib.py": lib.replace("pass", "left.append(1)")})
    once(where, test=test)
    [verdict] = verdicts(where, red)
    assert (verdict.test, verdict.kind) == ("test_it.py::test_second", "caused"), verdict.reason


@pytest.mark.skipif(shutil.which("ctest") is None, reason="ctest is not installed")
def test_a_test_of_ctests_that_fails_in_another_way_is_explained_again(tmp_path: Path) -> None:
    """Its report says how each test failed, whatever else is red beside it."""
    failed = 'echo "a.c:1: int f(void): Assertion \\`$(cat $1)\' failed."; exit 1'
    tests = (f'add_test({name} "sh" "../check.sh" "../{name}")\n' for name in ("one", "two"))
    files = {
        "CTestTestfile.cmake": "".join(tests),
        "check.sh": f"grep -q good $1 || {{ {failed}; }}\n",
    }
    where = made(tmp_path / "r", {**files, "one": "good\n", "two": "good\n"})
    given = {
        "test": ("ctest", "--test-dir", "b", "--output-junit", "t.xml"),
        "build": ("sh", "-c", "mkdir -p b && cp CTestTestfile.cmake b"),
    }
    once(where, **given)
    first = commit(where, {"one": "x\n", "two": "y\n"})
    once(where, **given)
    other = commit(where, {"one": "z\n"})
    once(where, **given)
    assert [(v.test, v.kind) for v in verdicts(where, first)] == [
        ("one", "caused"),
        ("two", "caused"),
    ]
    assert [(v.test, v.kind) for v in verdicts(where, other)] == [
        ("one", "caused"),
        ("two", "already-red"),
    ]
