"""A failed run of a whole suite, read test by test: which tests failed, and how.

A command that was given is read in whatever form its output, or a file that it wrote, names tests. What
cannot be told apart that way stays one test.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from afterd.execution.failures.prove import said_of_files
from afterd.execution.failures.pytest_reports import Report, read_reports, under_way
from afterd.execution.failures.suites import names_those_that_pass, passed_tests
from afterd.execution.failures.written_reports import TestReport, begin_of_run, reports_below
from afterd.execution.process import Ending, ProcessResult
from afterd.execution.recipe import Recipe, Scope
from afterd.execution.runners import GIVEN, WritesReport, runner_named
from afterd.execution.runners.unittest import REPORTING, reported_failures, test_under_way
from afterd.execution.signature import Evidence, of_report, one_name, said_of_test, signature
from afterd.execution.verdict import hang, judge
from afterd.model.outcome import (
    BESIDE_ENDLESS,
    FailureKind,
    FailureSignature,
    Outcome,
    Unresolved,
    Verdict,
)

THE_END = "the end of the tests"
"""The test that a suite comes to its end, where its runner names a test only when that has ended."""


@dataclass(frozen=True, slots=True)
class Told:
    """The names of the tests that failed, and of those that were seen to pass.

    ``passed`` is None where the runner names only those that failed. ``hung`` is the one of those that
    failed during which the run was ended. ``written`` are the runner's own reports, by test; ``output`` is what
    all printed, where there are none, and ``reported`` what is said there below the name of each.
    """

    failed: tuple[str, ...] = ()
    passed: Collection[str] | None = None
    reports: Sequence[Report] = ()
    hung: str = ""
    written: Mapping[str, TestReport] = field(default_factory=dict)
    output: str = ""
    reported: Mapping[str, str] = field(default_factory=dict)

    def failure(self, test: str, roots: Collection[str]) -> FailureSignature:
        """How a test failed; of some runners it is known only that it did."""
        for report in self.reports:
            if report.test == test and report.failed:
                return dataclasses.replace(of_report(report, roots), test=test)
        if test == self.hung:
            return hang(test)
        if said := self.said(test) or self.reported.get(test, ""):
            found = signature(Evidence(1, 0, said, "", roots), test)
            if found.kind is not FailureKind.EXIT:
                return dataclasses.replace(found, test=test)
        by_name = said_of_test(Evidence(1, 0, self.output, "", roots), test)
        return by_name or FailureSignature(FailureKind.ASSERTION, test=test)

    def said(self, test: str) -> str:
        """What a test wrote, and its runner of it; empty where that is not told test by test."""
        return self.written[test].said if test in self.written else ""


def test_outcome(result: ProcessResult, recipe: Recipe, slot: Path) -> tuple[Outcome, Told]:
    """How the recipe's test ended in a run of its command, and what that said of the others."""
    roots = (str(slot), str(result.directory))
    outcome = judge(result, recipe.test_id, roots)
    if outcome.verdict is not Verdict.FAIL or not recipe.told_by:
        return outcome, Told()
    by_test = told_by_run(result, recipe, slot)
    return of_one_test(by_test, recipe, outcome, roots), by_test


def told_by_run(result: ProcessResult, recipe: Recipe, slot: Path) -> Told:
    """What a run says of its tests."""
    if reports := read_reports(result.directory):
        return _by_plugin(result, recipe, reports)
    if result.ending is Ending.TIMEOUT and recipe.told_by in REPORTING:
        hung = test_under_way(result.stderr.text())
        failed = runner_named(recipe.told_by).failing_tests(result)
        return Told(failed + (hung,) * bool(hung), None, (), hung)
    # Of several tests of one name the one that failed is meant.
    ordered = sorted(_written_reports(result, recipe, slot), key=lambda report: report.failed)
    if written := {report.test: report for report in ordered}:
        red = tuple(name for name, report in written.items() if report.failed)
        return Told(red, written.keys() - set(red), written=written)
    output = f"{result.stdout.text()}\n{result.stderr.text()}"
    named = passed_tests(output)
    failed = runner_named(recipe.told_by).failing_tests(result)
    hung = THE_END if result.ending is Ending.TIMEOUT and (failed or named) else ""
    return Told(
        (*failed, *filter(None, [hung])),
        named if names_those_that_pass(output) else None,
        hung=hung,
        output=output,
        reported=reported_failures(output) | said_of_files(output),
    )


def _by_plugin(result: ProcessResult, recipe: Recipe, reports: Sequence[Report]) -> Told:
    """By what our plugin for pytest wrote."""
    failed = runner_named(recipe.told_by).failing_tests(result)
    passed = {report.test for report in reports if report.outcome in {"passed", "skipped"}}
    hung = under_way(reports) if result.ending is Ending.TIMEOUT else ""
    failed += (hung,) * bool(hung)
    return Told(failed, passed - set(failed), reports, hung)


def _written_reports(result: ProcessResult, recipe: Recipe, slot: Path) -> Sequence[TestReport]:
    """What the runner wrote into files; of a given command only where its output names no test."""
    runner, folder = runner_named(recipe.told_by), slot / recipe.folder
    if isinstance(runner, WritesReport):
        return runner.written_reports(result, recipe.test, folder)
    if recipe.told_by == GIVEN and not runner.failing_tests(result):
        return reports_below(folder, begin_of_run(result))
    return ()


def of_one_test(found: Told, recipe: Recipe, outcome: Outcome, roots: Collection[str]) -> Outcome:
    """The outcome of the recipe's test in a failed run of it and others, which failed as ``outcome``.

    Where others failed it passed, if the runner does not name it with those that passed for another
    reason: that it was not run.
    """
    if recipe.scope is Scope.WHOLE or not found.failed:
        return outcome
    detail = BESIDE_ENDLESS if found.hung else ""
    passed = Outcome(Verdict.PASS, detail=detail, test_seconds=outcome.test_seconds)
    if recipe.test_id in found.failed:
        if recipe.scope is Scope.ALONE and len(found.failed) == 1:
            return outcome
        failure = found.failure(recipe.test_id, roots)
        compared = dataclasses.replace(failure, test=one_name(recipe.test_id))
        detail = detail if recipe.test_id != found.hung else ""
        return dataclasses.replace(outcome, signature=compared, detail=detail or outcome.detail)
    if recipe.test_id == THE_END:
        return passed
    alone = recipe.scope is Scope.ALONE
    if recipe.test_id in (found.passed or ()) or (found.passed is None and not alone):
        return passed
    if alone and found.passed is None:  # what failed is its own, under another name
        return outcome
    reason = Unresolved.TIMEOUT if found.hung else Unresolved.DIFFERENT_FAILURE
    return dataclasses.replace(outcome, verdict=Verdict.UNRESOLVED, reason=reason, signature=None)
