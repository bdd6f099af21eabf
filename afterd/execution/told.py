"""A failed run of a whole suite, read test by test: which tests failed, and how.

A command that was given is read in whatever form its output, or a file that it wrote, names tests. What
cannot be told apart that way stays one test.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from afterd.execution.failures.junit import failed_in_files
from afterd.execution.failures.pytest_reports import Report, read_reports
from afterd.execution.failures.suites import passed_tests
from afterd.execution.process import ProcessResult
from afterd.execution.recipe import Recipe, Scope
from afterd.execution.runners import GIVEN, runner_named
from afterd.execution.signature import of_report, one_name
from afterd.model.outcome import FailureKind, FailureSignature, Outcome, Unresolved, Verdict

_CLOCK = 2.0  # seconds by which a file's date may lie before the run that wrote it


@dataclass(frozen=True, slots=True)
class Told:
    """The names of the tests that failed, and of those that were seen to pass.

    ``passed`` is None where the runner names only those that failed.
    """

    failed: tuple[str, ...] = ()
    passed: Collection[str] | None = None
    reports: Sequence[Report] = ()

    def failure(self, test: str, roots: Collection[str]) -> FailureSignature:
        """How a test failed; of most runners it is known only that it did."""
        for report in self.reports:
            if report.test == test and report.failed:
                return dataclasses.replace(of_report(report, roots), test=test)
        return FailureSignature(FailureKind.ASSERTION, test=test)


def told(result: ProcessResult, recipe: Recipe, slot: Path) -> Told:
    """What a failed run says of its tests."""
    failed = runner_named(recipe.told_by).failing_tests(result)
    if not failed and recipe.told_by == GIVEN:
        failed = failed_in_files(slot / recipe.folder, time.time() - result.seconds - _CLOCK)
    if reports := read_reports(result.directory):
        passed = {report.test for report in reports if report.outcome in {"passed", "skipped"}}
        return Told(failed, passed - set(failed), reports)
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
