"""What makes two failures the same, read from how a test ended and what it printed.

A signature must survive what other reverted changes do (lines move, numbers and addresses differ,
the slot has another path) and still tell one failure from another. So it keeps kind, place by file
and function, and the failed *statement*, and drops values.

A test that compares outputs is the exception: there the signature is kind and test, and the lines
that differ. What was printed instead of the expected text is itself made by the changes under search,
so two reverted sets with the same bug differ in it; but the text that was expected is the same. As
with the tests of a suite, part of the wrong lines is the same failure, and others are not: of the
reverted sets of cmark-gfm many could not parse emphasis any more, which was no word on the bug.

A test command that builds first (make check) ends alike whether a program failed or was never made, so
that a compiler refused something is part of what is known of an exit status.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from afterd.execution.failures import native, python
from afterd.execution.failures.pytest_reports import Report
from afterd.execution.failures.python import Frame
from afterd.execution.failures.suites import differing_lines, failed_tests, shows_difference
from afterd.execution.failures.text import normalised, with_relative_paths, without_values
from afterd.model.outcome import FailureKind, FailureSignature, Outcome

_BETWEEN = "; "
_MOST_NAMES = 200
_NOT_COMPILED = ", with a compiler's error"


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
        return with_relative_paths(f"{self.stdout}\n{self.stderr}", self.roots)


def signature(evidence: Evidence, test_id: str) -> FailureSignature:
    """The signature of a failed run of ``test_id``; its ``test`` is what the run reports as failed.

    Where several tests failed, which they are is all that is kept.
    """
    text = evidence.text
    reported = {report.test: report for report in evidence.reports if report.failed}
    tests = tuple(reported) or failed_tests(text)
    names = [one_name(normalised(name)) for name in sorted(tests)[:_MOST_NAMES]]
    test = _BETWEEN.join(names) or one_name(test_id)
    if len(tests) > 1:
        return FailureSignature(FailureKind.ASSERTION, test=test)
    found = _specific_signature(text, evidence.signal)
    if reported:
        found = of_report(reported[tests[0]], evidence.roots)
    if found is not None:
        return dataclasses.replace(found, test=test)
    lines = _digests(differing_lines(text)) if (differs := shows_difference(text)) else ""
    found = _general_signature(evidence.status, failed=bool(tests), differs=differs)
    if found.kind is FailureKind.EXIT and native.not_compiled(text):
        found = dataclasses.replace(found, message=found.message + _NOT_COMPILED)
    return dataclasses.replace(found, test=test, differing=lines)


def one_name(test: str) -> str:
    """A test's name, or a command line, as it does not look like several names."""
    return test.replace(_BETWEEN, ";")


def telling_signature(outcome: Outcome, test_id: str) -> FailureSignature:
    """A failure as it is compared with those of other commits, where nothing else tells them apart.

    Of a plain exit status the last line that was printed is part, or what a compiler refused, and the lines above
    it: a script may sum up alike whatever fails. Reverted sets are not told apart so, because they may make it
    themselves.
    """
    found = dataclasses.replace(
        outcome.signature or _general_signature(1, failed=False, differs=False), test=test_id
    )
    if found.kind is not FailureKind.EXIT:
        return found
    last = next((line for line in reversed(outcome.detail.splitlines()) if line.strip()), "")
    said = normalised(native.refused(outcome.detail)) or without_values(last)
    if not said:
        return found
    lines = dict.fromkeys(map(without_values, filter(_tells, outcome.detail.splitlines())))
    both = _digests([f"{sign}{line}" for line in lines for sign in "-+"])
    return dataclasses.replace(found, message=f"{found.message}: {said}", differing=both)


def refused_build(detail: str, test_id: str) -> FailureSignature:
    """A build that failed, by its diagnostics, as it is compared with those of other commits."""
    said = native.refused(detail) or detail.partition("\n")[0]
    return FailureSignature(FailureKind.EXIT, normalised(said), test=test_id)


def tells_nothing(failure: FailureSignature) -> bool:
    """Whether all that is known of a failure is that its test failed."""
    return failure == FailureSignature(FailureKind.ASSERTION, test=failure.test)


def looks_like_others(failure: FailureSignature | None) -> bool:
    """Whether another fault may look the same: a crash or a status, of no known place."""
    if failure is None or failure.file or failure.symbol:
        return False
    return failure.kind in {FailureKind.CRASH, FailureKind.EXIT}


def is_not_compiled(failure: FailureSignature | None) -> bool:
    """Whether all that is known is a status, and that a compiler refused something."""
    return failure is not None and failure.message.endswith(_NOT_COMPILED)


def names_its_test(failure: FailureSignature) -> bool:
    """Whether the program said it in the test's own name, among whatever else was printed."""
    return failure.test in (failure.symbol, failure.process)


def said_of_test(evidence: Evidence, test: str) -> FailureSignature | None:
    """How one of several failed tests failed, where the output says it by name: a failed assertion within a
    function, or of a program, that is called like the test.
    """
    found = (dataclasses.replace(each, test=test) for each in native.assertions(evidence.text))
    return next(filter(names_its_test, found), None)


def same_failure(reference: FailureSignature, seen: FailureSignature) -> bool:
    """Whether ``seen`` is the failure under explanation.

    Of a suite, any part of what failed is the same failure: putting back one of two guilty changes
    brings back one of two failed tests. So is any part of the lines in which an output was wrong. These, and
    a place, are compared only where both know them.
    """
    expected, failed = reference.test.split(_BETWEEN), seen.test.split(_BETWEEN)
    if not set(failed) <= set(expected):
        return False
    if len(expected) > 1:
        return True
    if (reference.kind, reference.message) != (seen.kind, seen.message):
        return False
    if not _same_lines(reference.differing.split(), seen.differing.split()):
        return False
    places = (
        (reference.file, seen.file),
        (reference.symbol, seen.symbol),
        (reference.process, seen.process),
    )
    return all(not (one and other) or one == other for one, other in places)


def runs_are_alike(one: Outcome, other: Outcome) -> bool:
    """Whether two runs of one tree show the same: no part of a failure, as another tree's may be, but all of it."""
    if (one.verdict, one.reason) != (other.verdict, other.reason):
        return False
    if one.signature is None or other.signature is None:
        return one.signature is other.signature
    both = one.signature, other.signature
    return same_failure(*both) and same_failure(*reversed(both))


def of_report(report: Report, roots: Collection[str]) -> FailureSignature:
    """What our plugin says of a failed test does not depend on how the user has pytest print."""
    frames = [
        Frame(with_relative_paths(path, roots), "", source) for path, _, source in report.frames
    ]
    return python.raised_signature(report.kind, report.reason, frames)


def _specific_signature(text: str, signal: int) -> FailureSignature | None:
    """What a program or framework said of its own failure, the most telling report first."""
    readers = (
        native.sanitizer,
        native.assertion,
        native.undefined_behaviour,
        native.uncaught_exception,
        python.pytest_report,
        python.traceback,
    )
    for read in readers:
        if found := read(text):
            return found
    return native.crash(text, signal)


def _general_signature(status: int, *, failed: bool, differs: bool) -> FailureSignature:
    """What is known where nothing was said: a failed test, an output that differs, or an exit status."""
    if failed:
        return FailureSignature(FailureKind.ASSERTION)
    if differs:
        return FailureSignature(FailureKind.OUTPUT)
    return FailureSignature(FailureKind.EXIT, message=f"exit status {status}")


def _same_lines(reference: Sequence[str], seen: Sequence[str]) -> bool:
    """Whether an output is wrong in lines in which that of the reference is, and in no others.

    Which side of a comparison is the expected text is not known: it is enough for one of them.
    """
    if not reference or not seen:
        return True
    for side in "-+":
        known, lines = ({line for line in all_ if line[0] == side} for all_ in (reference, seen))
        if lines <= known and bool(lines) == bool(known):
            return True
    return False


def _tells(line: str) -> bool:
    """Whether a line has words."""
    return any(map(str.isalnum, line))


def _digests(lines: Sequence[str]) -> str:
    """Digests of lines, each after the sign of its side."""
    return " ".join(
        line[0] + hashlib.blake2b(line[1:].encode(errors="replace"), digest_size=6).hexdigest()
        for line in lines
    )
