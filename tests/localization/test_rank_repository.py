"""``afterd rank`` on repositories: real builds with counters, real suites of several kinds."""

from __future__ import annotations

import json
import shutil
import sqlite3
import sys
from pathlib import Path
from typing import Any

import pytest
from pipeline_runs import Done, afterd, repository

GOOD = """\
#include <stdio.h>
#include <stdlib.h>

static int grade(int points) {
    if (points < 0 || points > 100)
        return -1;
    if (points >= 50)
        return 1;
    return 0;
}

static void check(int *result, int points) {
    *result = grade(points);
}

int main(int argc, char **argv) {
    int result;
    int points = argc > 1 ? atoi(argv[1]) : 0;
    check(&result, points);
    printf("%d\\n", result);
    return 0;
}
"""
WRONG = GOOD.replace("points > 100", "points > 60")
CRASHING = GOOD.replace(
    "*result = grade", "if (points > 90)\n        result = NULL;\n    *result = grade"
)
CASES = "7 0|49 0|50 1|60 1|75 1|95 1|101 -1|-3 -1"
TAP = f"""\
n=0
echo '{CASES}' | tr '|' '\\n' | while read points expected; do
    n=$((n + 1))
    if [ "$(./grade "$points")" = "$expected" ]
    then echo "ok $n - grade $points"
    else echo "not ok $n - grade $points"; fi
done
"""
PASS_LINES = TAP.replace('"ok $n - grade $points"', '"PASS: grade-$points"').replace(
    '"not ok $n - grade $points"', '"FAIL: grade-$points"'
)
ONLY_FAILURES = TAP.replace('echo "ok $n - grade $points"', ":")
MAKEFILE = "grade: grade.c\n\t$(CC) -o $@ grade.c\ncheck: grade\n\tsh suite.sh\n"


def ranked(path: Path, *arguments: str) -> Any:  # noqa: ANN401 # a JSON document
    done = afterd("rank", "--format", "json", *arguments, cwd=path)
    assert done.status == 0, done.err
    return json.loads(done.out)


def c_project(path: Path, suite: str, program: str = WRONG) -> Path:
    path.mkdir()
    files = {"grade.c": GOOD, "suite.sh": suite, "Makefile": MAKEFILE}
    return repository(path, files, {"grade.c": program})


@pytest.mark.parametrize("suite", [TAP, PASS_LINES, ONLY_FAILURES], ids=["TAP", "PASS", "FAIL"])
def test_a_suite_that_is_run_as_a_whole(tmp_path: Path, suite: str) -> None:
    path = c_project(tmp_path / "r", suite)
    answer = ranked(path, "--technique", "ochiai", "--technique", "cbi")
    assert (answer["tests"], answer["failed"]) == (8, 2)
    first = answer["rankings"][0]["ranking"][0]
    assert first["rank"] <= 2
    assert (first["file"], first["function"]) == ("grade.c", "grade")
    assert {place["line"] for place in answer["rankings"][0]["ranking"] if place["rank"] <= 2} <= {
        5,
        6,
    }
    assert answer["rankings"][1]["ranking"][0]["line"] == 5


def test_changed_lines_come_first(tmp_path: Path) -> None:
    path = c_project(tmp_path / "r", TAP)
    answer = ranked(path, "HEAD~1..HEAD", "--technique", "tarantula")
    places = answer["rankings"][0]["ranking"]
    assert (places[0]["line"], places[0]["change"], places[0]["rank"]) == (5, "c1", 1)
    assert places[0]["text"] == "if (points < 0 || points > 60)"
    assert [place["change"] for place in places[1:]] == [None] * (len(places) - 1)


def test_every_technique_and_what_is_kept(tmp_path: Path) -> None:
    path = c_project(tmp_path / "r", TAP)
    answer = ranked(path, "--technique", "all", "--export", str(tmp_path / "m.tcm"))
    formulas = {"bugassist", "bugassist-cw", "ofc", "ofc-cw", "conbas", "sat-tar"}
    # Nothing says what to print, and nobody asked the loop.
    assert set(answer["lacking"]) == {*formulas, "loop"}
    assert len(answer["rankings"]) >= 14
    again = afterd("rank", "--import", str(tmp_path / "m.tcm"), "--format", "json", cwd=tmp_path)
    assert json.loads(again.out)["failed"] == 2
    with sqlite3.connect(path / ".git" / "afterd" / "afterd.db") as database:
        [(suite, tests, failed)] = database.execute(
            "SELECT suite, tests, failed FROM suite_ranking"
        )
        lines = database.execute(
            "SELECT line FROM suite_ranking_line WHERE technique = 'ochiai' ORDER BY position"
        ).fetchall()
    ochiai = next(r for r in answer["rankings"] if r["technique"] == "ochiai")["ranking"]
    assert (suite, tests, failed) == ("make check", 8, 2)
    assert [line for (line,) in lines] == [place["line"] for place in ochiai]


def test_where_a_test_crashed(tmp_path: Path) -> None:
    path = c_project(tmp_path / "r", TAP, CRASHING)
    answer = ranked(path)
    crash = {"test": "grade 95", "file": "grade.c", "line": 15}
    assert [c for c in answer["crashes"] if c["test"] == "grade 95"] == [crash]


DRIVEN = f"""\
import subprocess
import pytest
CASES = [tuple(case.split()) for case in "{CASES}".split("|")]


@pytest.fixture(scope="module", autouse=True)
def usage():
    subprocess.run(["./grade"], check=True)


@pytest.mark.parametrize("points, expected", CASES)
def test_grade(points, expected):
    done = subprocess.run(["./grade", points], stdout=subprocess.PIPE, text=True)
    assert done.stdout.strip() == expected


def test_skipped():
    subprocess.run(["./grade", "1"])
    pytest.skip("of no interest")
"""


@pytest.mark.parametrize("found", [True, False], ids=["make", "pytest"])
def test_c_that_pytest_drives(tmp_path: Path, found: bool) -> None:
    """Each of pytest's tests is one, whoever starts pytest."""
    path = tmp_path / "r"
    path.mkdir()
    run = f"{sys.executable} -m pytest -q -p no:cacheprovider"
    makefile = (
        f"grade: grade.c\n\t$(CC) -o $@ grade.c\n{'check' if found else 'c'}: grade\n\t{run}\n"
    )
    files = {"grade.c": GOOD, "test_grade.py": DRIVEN, "Makefile": makefile}
    repository(path, files, {"grade.c": WRONG})
    given = [] if found else ["--build", "make", "--test", run]
    answer = ranked(path, "--technique", "ochiai", *given)
    assert (answer["tests"], answer["failed"]) == (8, 2)
    first = answer["rankings"][0]["ranking"][0]
    assert (first["file"], first["function"]) == ("grade.c", "grade")


def test_a_script_a_test(tmp_path: Path) -> None:
    path = tmp_path / "r"
    path.mkdir()
    scripts = {
        f"t{points}.sh": f'[ "$(./grade {points})" = {expected} ]\n'
        for points, expected in (case.split() for case in CASES.split("|"))
    }
    repository(path, {"grade.c": WRONG, **scripts})
    build = "cc -o grade grade.c"
    given = ("--build", build, "--each", "t*.sh", "--counter-bits", "8", "--", "sh")
    answer = ranked(path, *given)
    assert (answer["tests"], answer["failed"]) == (8, 2)
    assert answer["rankings"][0]["ranking"][0]["line"] in {5, 6}
    none = afterd("rank", "--build", build, "--each", "*.none", "--", "sh", cwd=path)
    none.refused(2, "No file", "*.none")


@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")
def test_ctest(tmp_path: Path) -> None:
    path = tmp_path / "r"
    path.mkdir()
    tests = "".join(
        f"add_test(NAME grade.{p} COMMAND grade {p})\n"
        f'set_tests_properties(grade.{p} PROPERTIES PASS_REGULAR_EXPRESSION "^{e}\\n")\n'
        for p, e in (case.split() for case in CASES.split("|"))
    )
    lists = (
        "cmake_minimum_required(VERSION 3.10)\nproject(grade C)\nadd_executable(grade grade.c)\n"
        f"enable_testing()\n{tests}"
    )
    repository(path, {"grade.c": WRONG, "CMakeLists.txt": lists})
    answer = ranked(path, "--jobs", "2")
    assert (answer["tests"], answer["failed"]) == (8, 2)
    assert answer["rankings"][0]["ranking"][0]["line"] in {5, 6}


LIBRARY = """\
def grade(points):
    if points < 0 or points > 60:
        return -1
    if points >= 50:
        return 1
    return 0
"""
PYTEST = """\
import pytest

from library import grade


@pytest.mark.parametrize(("points", "expected"), [(7, 0), (49, 0), (50, 1), (75, 1), (95, 1), (-3, -1)])
def test_grade(points, expected):
    assert grade(points) == expected
"""
UNITTEST = """\
import unittest

from library import grade


class Test(unittest.TestCase):
    def test_low(self):
        self.assertEqual(grade(7), 0)

    def test_middle(self):
        self.assertEqual(grade(50), 1)

    def test_high(self):
        self.assertEqual(grade(95), 1)
"""


@pytest.mark.parametrize(
    ("test", "tests", "failed"), [(PYTEST, 6, 2), (UNITTEST, 3, 1)], ids=["pytest", "unittest"]
)
def test_python(tmp_path: Path, test: str, tests: int, failed: int) -> None:
    path = tmp_path / "r"
    path.mkdir()
    repository(
        path, {"library.py": LIBRARY, "test_library.py": test, "pyproject.toml": "[project]\n"}
    )
    answer = ranked(path, "--technique", "ochiai", "--technique", "blockrank")
    assert (answer["tests"], answer["failed"]) == (tests, failed)
    for ranking in answer["rankings"]:
        files = {place["file"] for place in ranking["ranking"]}
        assert files == {"library.py"}
        assert ranking["ranking"][0]["line"] in {2, 3}


def test_where_python_raised(tmp_path: Path) -> None:
    path = tmp_path / "r"
    path.mkdir()
    library = LIBRARY.replace("return -1", "return points.nothing")
    files = {"library.py": library, "test_library.py": UNITTEST, "pyproject.toml": "[project]\n"}
    answer = ranked(repository(path, files))
    [crash] = answer["crashes"]
    assert (crash["file"], crash["line"]) == ("library.py", 3)
    assert "test_high" in crash["test"]


def said(path: Path, *arguments: str) -> Done:
    return afterd("rank", *arguments, cwd=path)


def test_nothing_to_rank(tmp_path: Path) -> None:
    path = c_project(tmp_path / "r", TAP, GOOD.replace("int result;", "int result = 0;"))
    done = said(path)
    assert done.status == 0
    assert "No test failed: there is nothing to rank." in done.out


def test_what_cannot_be_ranked(tmp_path: Path) -> None:
    path = c_project(tmp_path / "r", TAP)
    build = ("--build", "cc -o grade grade.c")
    said(path, *build, "--", "./grade", "95").refused(13, "Only one test", "--each")
    said(path, "--", "true").refused(13, "afterd-cc")
    said(path, "--build", "false", "--", "true").refused(13, "build with counters")
    said(path, *build, "--", "sh", "-c", "./grade 1; exit 125").refused(10, "125")
    said(path, "--import", str(path / "x"), "--each", "t*").refused(2, "--import", "each")
    slow = afterd(
        "rank", *build, "--", "sh", "-c", "./grade 1; sleep 60", cwd=path, AFTERD_TEST_TIMEOUT="1s"
    )
    slow.refused(13, "time limit")
    (tmp_path / "go").mkdir()
    said(repository(tmp_path / "go", {"go.mod": "module x"})).refused(13, "Go's", "Python")
    (tmp_path / "e").mkdir()
    said(repository(tmp_path / "e", {"notes": ""})).refused(13, "No tests were found")


def test_an_explanation_of_a_found_suite_has_a_ranking(tmp_path: Path) -> None:
    path = tmp_path / "r"
    path.mkdir()
    good = LIBRARY.replace("> 60", "> 100")
    rest = {"test_library.py": UNITTEST, "pyproject.toml": "[project]\n"}
    repository(path, {"library.py": good, **rest}, {"library.py": LIBRARY})
    done = afterd("explain", "--format", "json", cwd=path)
    [explanation] = json.loads(done.out)["explanations"]
    first = explanation["ranking"][0]
    assert (first["file"], first["line"]) == ("library.py", 2)
    assert set(first["votes"]) == {"ochiai", "tarantula", "blockrank"}
    assert first["score"] == first["votes"]["ochiai"]


def test_an_explanation_says_why_it_has_no_ranking(tmp_path: Path) -> None:
    path = c_project(tmp_path / "r", "sh -c '[ \"$(./grade 75)\" = 1 ]'\n")
    done = afterd("explain", "--format", "json", cwd=path)
    [explanation] = json.loads(done.out)["explanations"]
    assert explanation["ranking"] == []
    assert any(note.startswith("No ranking of lines: Only one") for note in explanation["notes"])
