"""A failed run of a whole suite, read test by test: which tests failed, and how.

A command that was given is read in whatever form its output, or a file that it wrote, names tests. What
cannot be told apart that way stays one test.

JUnit's XML, which runners of many languages write: the tests that a run's files say failed.
"""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

from afterd.execution.failures.pytest_reports import Report, read_reports, under_way
from afterd.execution.failures.suites import passed_tests
from afterd.execution.process import Ending, ProcessResult
from afterd.execution.recipe import Recipe, Scope
from afterd.execution.runners import GIVEN, runner_named
from afterd.execution.runners.unittest import Unittest, test_under_way
from afterd.execution.signature import of_report, one_name
from afterd.execution.verdict import hang, judge
from afterd.model.outcome import FailureKind, FailureSignature, Outcome, Unresolved, Verdict

_CLOCK = 2.0  # seconds by which a file's date may lie before the run that wrote it


@dataclass(frozen=True, slots=True)
class Told:
    """The names of the tests that failed, and of those that were seen to pass.

    ``passed`` is None where the runner names only those that failed. ``hung`` is the one of those that
    failed during which the run was ended.
    """

    failed: tuple[str, ...] = ()
    passed: Collection[str] | None = None
    reports: Sequence[Report] = ()
    hung: str = ""

    def failure(self, test: str, roots: Collection[str]) -> FailureSignature:
        """How a test failed; of most runners it is known only that it did."""
        for report in self.reports:
            if report.test == test and report.failed:
                return dataclasses.replace(of_report(report, roots), test=test)
        if test == self.hung:
            return hang(test)
        return FailureSignature(FailureKind.ASSERTION, test=test)


def test_outcome(result: ProcessResult, recipe: Recipe, slot: Path) -> tuple[Outcome, Told]:
    """How the recipe's test ended in a run of its command, and what that said of the others."""
    roots = (str(slot), str(result.directory))
    outcome = judge(result, recipe.test_id, roots)
    if outcome.verdict is not Verdict.FAIL or not recipe.told_by:
        return outcome, Told()
    by_test = told(result, recipe, slot)
    return of_one_test(by_test, recipe, outcome, roots), by_test


def told(result: ProcessResult, recipe: Recipe, slot: Path) -> Told:
    """What a failed run says of its tests."""
    failed = runner_named(recipe.told_by).failing_tests(result)
    if not failed and recipe.told_by == GIVEN:
        failed = failed_in_files(slot / recipe.folder, time.time() - result.seconds - _CLOCK)
    if reports := read_reports(result.directory):
        passed = {report.test for report in reports if report.outcome in {"passed", "skipped"}}
        hung = under_way(reports) if result.ending is Ending.TIMEOUT else ""
        failed += (hung,) * bool(hung)
        return Told(failed, passed - set(failed), reports, hung)
    if result.ending is Ending.TIMEOUT and recipe.told_by == Unittest().name:
        hung = test_under_way(result.stderr.text())
        failed += (hung,) * bool(hung)
        return Told(failed, None, (), hung)
    named = passed_tests(f"{result.stdout.text()}\n{result.stderr.text()}")
    return Told(failed, named or None)


def of_one_test(found: Told, recipe: Recipe, outcome: Outcome, roots: Collection[str]) -> Outcome:
    """The outcome of the recipe's test in a failed run of it and others, which failed as ``outcome``.

    Where others failed it passed, if the runner does not name it with those that passed for another
    reason: that it was not run.
    """
    if recipe.scope is Scope.WHOLE or not found.failed:
        return outcome
    if recipe.test_id in found.failed:
        if recipe.scope is Scope.ALONE and len(found.failed) == 1:
            return outcome
        failure = found.failure(recipe.test_id, roots)
        compared = dataclasses.replace(failure, test=one_name(recipe.test_id))
        return dataclasses.replace(outcome, signature=compared)
    alone = recipe.scope is Scope.ALONE
    if recipe.test_id in (found.passed or ()) or (found.passed is None and not alone):
        return Outcome(Verdict.PASS, test_seconds=outcome.test_seconds)
    if alone and found.passed is None:  # what failed is its own, under another name
        return outcome
    return dataclasses.replace(
        outcome, verdict=Verdict.UNRESOLVED, reason=Unresolved.DIFFERENT_FAILURE, signature=None
    )


_LARGEST = 64 << 20  # bytes of a file
_MOST = 20_000  # folders that are looked into
_PASSED_OVER = frozenset({"node_modules", "venv"})


def failed_in_files(folder: Path, since: float) -> tuple[str, ...]:
    """The failed tests, as class and name, of reports below ``folder`` written ``since`` (a time)."""
    names: dict[str, None] = {}
    for path in sorted(_written(folder, since)):
        for case in _cases(path):
            if case.find("failure") is not None or case.find("error") is not None:
                named = (case.get("classname", ""), case.get("name", ""))
                names.setdefault(".".join(filter(None, named)))
    return tuple(filter(None, names))


def _written(folder: Path, since: float) -> Iterator[str]:
    folders = [str(folder)]
    for _ in range(_MOST):
        if not folders:
            return
        with suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if not entry.name.startswith(".") and entry.name not in _PASSED_OVER:
                        folders.append(entry.path)
                elif entry.name.endswith(".xml") and entry.is_file(follow_symlinks=False):
                    status = entry.stat()
                    if status.st_mtime >= since and status.st_size <= _LARGEST:
                        yield entry.path


def _cases(path: str) -> list[ET.Element]:
    """The test cases of a report; none of other XML, nor where it declares entities (a bomb)."""
    with suppress(OSError, ET.ParseError):
        content = Path(path).read_bytes()
        if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
            return []
        root = ET.fromstring(content)  # noqa: S314 - without a document type there are no entities
        if root.tag in {"testsuite", "testsuites"}:
            return list(root.iter("testcase"))
    return []
