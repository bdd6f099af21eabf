"""What makes two failures the same, read from how a test ended and what it printed.

A signature must survive what other reverted changes do (lines move, numbers and addresses differ,
the slot has another path) and still tell one failure from another. So it keeps kind, place by file
and function, and the failed *statement*, and drops values.

A test that compares outputs is the exception: there the signature is kind and test only. What was
printed instead of the expected text is itself made by the changes under search, so two reverted
sets with the same bug differ in it; and that the same comparison of the same test fails is all
that "the output is still wrong" says.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from afterd.execution.failures import native, python
from afterd.execution.failures.pytest_reports import Report
from afterd.execution.failures.python import Frame
from afterd.execution.failures.suites import failed_tests, shows_difference
from afterd.execution.failures.text import normalised, relative
from afterd.model.outcome import FailureKind, FailureSignature

_BETWEEN = "; "
_MOST_NAMES = 200


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a failed run left: exit status or signal, output, the paths that vary by run, and what
    our pytest plugin wrote, if it was there.
    """

    status: int
    signal: int
    stdout: str
    stderr: str
    roots: Collection[str] = ()
    reports: Sequence[Report] = ()

    @property
    def text(self) -> str:
        """All output; paths below the roots are relative. What comes last decided."""
        return relative(f"{self.stdout}\n{self.stderr}", self.roots)


def signature(evidence: Evidence, test_id: str) -> FailureSignature:
    """The signature of a failed run of ``test_id``; its ``test`` is what the run reports as failed.

    Where several tests failed, which they are is all that is kept.
    """
    text = evidence.text
    reported = {report.test: report for report in evidence.reports if report.failed}
    tests = tuple(reported) or failed_tests(text)
    test = _BETWEEN.join(normalised(name) for name in sorted(tests)[:_MOST_NAMES]) or test_id
    if len(tests) > 1:
        return FailureSignature(FailureKind.ASSERTION, test=test)
    found = _specific(text, evidence.signal)
    if reported:
        found = _of_report(reported[tests[0]], evidence.roots)
    if found is None and tests:
        found = FailureSignature(FailureKind.ASSERTION)
    return dataclasses.replace(found or _general(text, evidence.status), test=test)


def same_failure(reference: FailureSignature, seen: FailureSignature) -> bool:
    """Whether ``seen`` is the failure under explanation.

    Of a suite, any part of what failed is the same failure: putting back one of two guilty changes
    brings back one of two failed tests. A place is compared only where both know it.
    """
    expected, failed = reference.test.split(_BETWEEN), seen.test.split(_BETWEEN)
    if not set(failed) <= set(expected):
        return False
    if len(expected) > 1:
        return True
    if (reference.kind, reference.message) != (seen.kind, seen.message):
        return False
    places = (
        (reference.file, seen.file),
        (reference.symbol, seen.symbol),
        (reference.process, seen.process),
    )
    return all(not (one and other) or one == other for one, other in places)


def _of_report(report: Report, roots: Collection[str]) -> FailureSignature:
    """What our plugin says of a failed test does not depend on how the user has pytest print."""
    frames = [Frame(relative(path, roots), "", source) for path, _, source in report.frames]
    inside = [frame for frame in frames if frame.in_tree]
    return python.raised(report.kind, report.reason, inside[-1] if inside else None)


def _specific(text: str, signal: int) -> FailureSignature | None:
    """What a program or framework said of its own failure, the most telling report first."""
    readers = (
        native.sanitizer,
        native.assertion,
        native.undefined,
        native.uncaught,
        python.pytest_report,
        python.traceback,
    )
    for read in readers:
        if found := read(text):
            return found
    return native.crash(text, signal)


def _general(text: str, status: int) -> FailureSignature:
    """What is known where nothing was said: an output that differs, or an exit status."""
    if shows_difference(text):
        return FailureSignature(FailureKind.OUTPUT)
    return FailureSignature(FailureKind.EXIT, message=f"exit status {status}")
