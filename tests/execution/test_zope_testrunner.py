"""zope.testrunner, with which the projects of Zope's test themselves; its own package is needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from afterd.errors import TestError
from afterd.execution.failures.written_reports import TestReport
from afterd.execution.process import Ending, ProcessResult
from afterd.execution.recipe import Recipe
from afterd.execution.runners import detect, runner_named
from afterd.execution.runners.zope import read_report
from afterd.execution.sandbox import run
from afterd.limits import ProcessLimits

LIMITS = ProcessLimits(timeout=60.0)

REPORT = """\
Test-module import failures:

Module: pkg.tests.test_b

Traceback (most recent call last):
ModuleNotFoundError: No module named 'absent'


Running tests at level 1
Running zope.testrunner.layer.UnitTests tests:
  Set up zope.testrunner.layer.UnitTests in 0.000 seconds.
  Running:
 test_ok (pkg.tests.test_a.TestA.test_ok)
 Price (pkg.prices)

Failure in test Price (pkg.prices)
Failed doctest test for pkg.prices.Price
  File "/s/src/pkg/prices.py", line 3, in Price

Expected:
    2
Got:
    1


 test_bad (pkg.tests.test_a.TestA)

Error in test test_bad (pkg.tests.test_a.TestA)
Traceback (most recent call last):
  File "/s/src/pkg/tests/test_a.py", line 5, in test_bad
ZeroDivisionError: division by zero


 test_no (pkg.tests.test_a.TestA.test_no) (skipped)

  Ran 4 tests with 1 failures, 2 errors and 1 skipped in 0.001 seconds.
Tearing down left over layers:

Test-modules with import problems:
  pkg.tests.test_b
"""


def test_what_it_prints_is_read_test_by_test() -> None:
    """A heading tells how a test failed; before Python 3.11 the place is the class."""
    read = {each.test: each for each in read_report(REPORT)}
    assert read["pkg.tests.test_a.TestA.test_ok"] == TestReport(
        "pkg.tests.test_a.TestA.test_ok", failed=False
    )
    assert not read["pkg.tests.test_a.TestA.test_no"].failed
    assert {name for name, each in read.items() if each.failed} == {
        "pkg.tests.test_b (import)",
        "pkg.prices.Price",
        "pkg.tests.test_a.TestA.test_bad",
    }
    assert "No module named 'absent'" in read["pkg.tests.test_b (import)"].said
    assert read["pkg.prices.Price"].said.endswith("Got:\n    1")
    assert read["pkg.tests.test_a.TestA.test_bad"].said.endswith(
        "ZeroDivisionError: division by zero"
    )


BESIDE = "pkg.tests.test_a.TestA.test_ok"
TOX = "[testenv]\nusedevelop = true\ncommands =\n    zope-testrunner --test-path=src {posargs}\n"


@pytest.mark.parametrize("arguments", ["{posargs:-vc}", "[]", "[ -v ]", "{posargs}"])
def test_one_by_one(tmp_path: Path, arguments: str) -> None:
    """``[]`` is what tox called its arguments once: it was handed on, as a pattern that is none (zope.schema)."""
    test = "import unittest\nfrom pkg import value\nclass TestA(unittest.TestCase):\n"
    test += "    def test_ok(self): pass\n    def test_bad(self): self.assertEqual(value, 2)\n"
    files = {"src/pkg/__init__.py": "value = 1\n", "src/pkg/tests/__init__.py": "", "setup.py": ""}
    files |= {
        "src/pkg/tests/test_a.py": test,
        "src/pkg/tests/test_b.py": "def test_suite(): absent\n",
    }
    files |= {"tox.ini": TOX.replace("{posargs}", arguments)}
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    pytest.importorskip("zope.testrunner")
    found = detect(tmp_path)
    runner = runner_named(found.runner)

    def ran(test: tuple[str, ...]) -> ProcessResult:
        done = run(Recipe(test, extra=found.extra).test_in(tmp_path), LIMITS, scratch=tmp_path)
        assert done.ending is Ending.EXITED, done.describe()
        return done

    bad, unread = "pkg.tests.test_a.TestA.test_bad", "pkg.tests.test_b (import)"
    assert runner.name == "zope.testrunner"
    assert set(runner.failing_tests(ran(found.test))) == {bad, unread}
    alone = [ran(runner.one_test(found, test)).stdout.text() for test in (bad, BESIDE)]
    assert [{each.test for each in read_report(said) if each.failed} for said in alone] == [
        {bad, unread},
        {unread},
    ]
    assert ran(runner.one_test(found, unread)).status == 1


def test_a_runner_that_is_not_installed_is_named(tmp_path: Path) -> None:
    """That no tests were found said nothing of it."""
    (tmp_path / "setup.py").write_text("")
    (tmp_path / "tox.ini").write_text("[testenv]\ncommands = absent-testrunner --all {posargs}\n")
    with pytest.raises(
        TestError, match=r"absent-testrunner --all`, and .* has no absent-testrunner"
    ):
        detect(tmp_path)
