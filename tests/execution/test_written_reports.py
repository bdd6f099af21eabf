"""What runners write into files of their tests: JUnit's XML, CTest's, and Meson's log; read from real runs too."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from afterd.execution.failures.written_reports import (
    TestReport,
    ctest_reports,
    meson_reports,
    reports_below,
)
from afterd.execution.recipe import Recipe
from afterd.execution.runners.reading import option
from afterd.execution.sandbox import run
from afterd.execution.told import Told, told_by_run
from afterd.limits import ProcessLimits
from afterd.model.outcome import FailureKind

LIMITS = ProcessLimits(timeout=60.0)
CTEST = """\
<testsuite name="x" tests="6" failures="2" disabled="1" skipped="2">
  <testcase name="adds" classname="adds" time="0.1" status="run"><system-out>fine</system-out></testcase>
  <testcase name="says" classname="says" time="0.1" status="fail">
    <failure message=""/><system-out>t.c:3:f:FAIL: Expected 5 Was 3
    </system-out></testcase>
  <testcase name="dies" classname="dies" time="0.1" status="fail">
    <failure message="SEGFAULT"/><system-out>begun</system-out></testcase>
  <testcase name="gone" classname="gone" time="0" status="notrun">
    <skipped message="Unable to find executable"/><system-out/></testcase>
  <testcase name="left out" classname="left out" time="0" status="notrun">
    <skipped message="SKIP_RETURN_CODE=77"/><system-out/></testcase>
  <testcase name="off" classname="off" time="0" status="disabled">
    <skipped message="Disabled"/><system-out/></testcase>
</testsuite>
"""
MESON = [
    {"name": "adds", "result": "OK", "stdout": "fine"},
    {"name": "project:suite / says", "result": "FAIL", "stdout": "begun", "stderr": "x"},
    {"name": "slow", "result": "TIMEOUT", "stdout": None},
    {"name": "known", "result": "EXPECTEDFAIL"},
    {"name": "cannot", "result": "SKIP"},
    {"name": "under way", "result": "RUNNING"},
]


def red(reports: tuple[TestReport, ...]) -> list[str]:
    return [report.test for report in reports if report.failed]


def test_what_ctest_writes(tmp_path: Path) -> None:
    path = tmp_path / "tests.xml"
    path.write_text(CTEST)
    found = ctest_reports(path, 0.0)
    assert red(found) == ["says", "dies", "gone"]
    assert [report.said for report in found[:3]] == [
        "fine",
        "t.c:3:f:FAIL: Expected 5 Was 3",
        "begun\nSEGFAULT",
    ]
    assert ctest_reports(path, time.time() + 60) == (), "it is of an earlier run"
    assert ctest_reports(tmp_path / "none.xml", 0.0) == ()


def test_what_meson_writes(tmp_path: Path) -> None:
    path = tmp_path / "testlog.json"
    lines = [json.dumps(line) for line in MESON]
    path.write_text("\n".join([*lines, '{"name": "cut o', "[]", "null", '{"name": 1}']))
    found = meson_reports(path, 0.0)
    assert [report.test for report in found] == ["adds", "says", "slow", "known", "cannot"]
    assert red(found) == ["says", "slow"]
    assert found[1].said == "begun\nx"
    assert meson_reports(path, time.time() + 60) == ()


@pytest.mark.parametrize(
    ("content", "failing"),
    [
        ('<testsuites><testsuite><testcase classname="C" name="m"><error>x</error></testcase>'
         '<testcase name="n"/></testsuite></testsuites>', ["C.m"]),
        ('<testsuite><testcase name="m"><failure/></testcase></testsuite>', ["m"]),
        ('<testsuite><testcase name="m"><failure/></testcase>', []),
        ('<!DOCTYPE x [<!ENTITY a "b">]><testsuite><testcase name="m"><failure/></testcase></testsuite>', []),
        ("<html><testcase name='m'><failure/></testcase></html>", []),
        ("", []),
    ],
)  # fmt: skip
def test_reports_in_junits_xml(tmp_path: Path, content: str, failing: list[str]) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "TEST-a.xml").write_text(content)
    assert red(reports_below(tmp_path, 0.0)) == failing
    os.utime(tmp_path / "deep" / "TEST-a.xml", (1, 1))
    assert reports_below(tmp_path, 2.0) == ()


@pytest.mark.parametrize(
    ("command", "value"),
    [
        (("ctest", "--test-dir", "b"), "b"),
        (("ctest", "--test-dir=b", "-V"), "b"),
        (("sh", "-c", "ctest --test-dir 'b c'"), "b c"),
        (("sh", "-c", "ctest --test-dir 'b"), ""),
        (("ctest", "--test-dir"), ""),
        (("ctest",), ""),
    ],
)
def test_the_value_of_an_option(command: tuple[str, ...], value: str) -> None:
    assert option(command, "--test-dir") == value


def suite_told(root: Path, files: Mapping[str, str], recipe: Recipe) -> Told:
    """What a run of a suite that its runner really made tells of its tests."""
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)
    if recipe.build:
        assert run(recipe.build_in(root), LIMITS, scratch=root.parent).succeeded
    result = run(recipe.test_in(root), LIMITS, scratch=root.parent)
    return told_by_run(result, recipe, root)


SAID = "echo 'a.c:3: int f(void): Assertion `x == 5'\"'\"' failed.'"


@pytest.mark.skipif(shutil.which("ctest") is None, reason="no CTest")
def test_each_of_ctests_failing_tests_says_how_it_failed(tmp_path: Path) -> None:
    """Of two that fail in one run: the list at the end has their names alone."""
    scripts = {"x.sh": f"{SAID}; exit 1\n", "y.sh": "kill -SEGV $$\n", "ok.sh": "exit 0\n"}
    tests = "".join(f'add_test({name[:-3]} "sh" "../{name}")\n' for name in scripts)
    tests += 'add_test(absent "no-such-program")\n'
    command = ("ctest", "--test-dir", "b", "--output-junit", "t.xml")
    recipe = Recipe(command, told_by="CTest")
    found = suite_told(tmp_path / "r", {**scripts, "b/CTestTestfile.cmake": tests}, recipe)
    assert set(found.failed) == {"x", "y", "absent"}
    assert set(found.passed or ()) == {"ok"}
    asserted, died = found.failure("x", ()), found.failure("y", ())
    assert (asserted.kind, asserted.message, asserted.file) == (
        FailureKind.ASSERTION,
        "x == 5",
        "a.c",
    )
    assert (died.kind, died.message) == (FailureKind.CRASH, "SIGSEGV")
    assert asserted.test == "x"


@pytest.mark.skipif(shutil.which("meson") is None, reason="no Meson")
def test_each_of_mesons_failing_tests_says_how_it_failed(tmp_path: Path) -> None:
    """A test in TAP that ends badly after its last part went well is red, too."""
    lists = "project('p')\nsh = find_program('sh')\n"
    scripts = {
        "x.sh": f"{SAID}; exit 1\n",
        "tap.sh": "echo 1..1; echo ok 1 - a; exit 3\n",
        "ok.sh": "exit 0\n",
    }
    for name in scripts:
        protocol = ", protocol: 'tap'" if name == "tap.sh" else ""
        lists += f"test('{name[:-3]}', sh, args: files('{name}'){protocol})\n"
    recipe = Recipe(
        ("meson", "test", "-C", "b", "--no-rebuild"), ("meson", "setup", "b"), told_by="Meson"
    )
    found = suite_told(tmp_path / "r", {**scripts, "meson.build": lists}, recipe)
    assert set(found.failed) == {"x", "tap"}
    assert set(found.passed or ()) == {"ok"}
    assert found.failure("x", ()).message == "x == 5"
