"""From how a test command ended to PASS, FAIL or UNRESOLVED: the contract of `git bisect run`.

0 passes, 1 to 124 and 126 to 127 fail, 125 means "cannot be tested", 128 and more abort. Death of
the program under test by a signal is a failure, whether we see the signal or a shell reports it as
128 + n; but only for signals that a program brings on itself, because the others come from outside.
A run that does not end within its limit fails as well: a hang is a failure like another.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Sequence
from signal import Signals

from afterd.execution.failures.pytest_reports import read_reports, under_way
from afterd.execution.failures.suites import counts_tests, no_test_ran
from afterd.execution.failures.text import with_relative_paths
from afterd.execution.failures.values import frames_shown, telling_text, told_failure
from afterd.execution.losses import killed_from_outside
from afterd.execution.process import Ending, ProcessResult
from afterd.execution.signature import Evidence, one_name, signature
from afterd.model.explanation import THE_BUILD
from afterd.model.outcome import (
    PRINTED_NOTHING,
    FailureKind,
    FailureSignature,
    Outcome,
    Unresolved,
    Verdict,
)

_OWN_FAULT = frozenset(
    {
        Signals.SIGABRT,
        Signals.SIGBUS,
        Signals.SIGFPE,
        Signals.SIGILL,
        Signals.SIGSEGV,
        Signals.SIGSYS,
        Signals.SIGTRAP,
    }
)
_FROM_OUTSIDE = frozenset(
    {Signals.SIGKILL, Signals.SIGTERM, Signals.SIGINT, Signals.SIGHUP, Signals.SIGQUIT}
)
_BUDGETS = {
    Ending.SILENCE: Unresolved.TIMEOUT,
    Ending.OUTPUT: Unresolved.OUTPUT,
    Ending.MEMORY: Unresolved.KILLED,
    Ending.PROCESSES: Unresolved.KILLED,
    Ending.FILE_SIZE: Unresolved.KILLED,
    Ending.LOST: Unresolved.LOST,
    Ending.CANCELLED: Unresolved.NOT_RUN,
    Ending.NOT_STARTED: Unresolved.ABORTED,
}
_UNTESTABLE = 125
_ABORT = 128
_CANNOT_RUN = (126, 127)
_SHOWN_LINES = 20
_SAYS_NOT_FOUND = (
    "not found",
    "no such file",
    "permission denied",
    "cannot execute",
    "exec format",
)


def judge(result: ProcessResult, test_id: str, roots: Collection[str]) -> Outcome:
    """The outcome of a test run; a failure carries its signature."""
    seconds = result.seconds
    if result.ending in _BUDGETS:
        detail = f"the test {result.describe()}"
        return Outcome(Verdict.UNRESOLVED, _BUDGETS[result.ending], detail, test_seconds=seconds)
    if result.ending is Ending.TIMEOUT:
        detail, name = f"the test {result.describe()}", under_way(read_reports(result.directory))
        return Outcome(
            Verdict.FAIL, None, detail, hang(one_name(name or test_id)), test_seconds=seconds
        )
    status, number = result.status or 0, _signal(result)
    lost = killed_from_outside(result)
    if lost or number in _FROM_OUTSIDE:
        detail = f"the test {result.describe()}"
        reason = Unresolved.LOST if lost else Unresolved.KILLED
        return Outcome(Verdict.UNRESOLVED, reason, detail, test_seconds=seconds)
    is_a_build = test_id == THE_BUILD  # Go's runs no test
    if (
        not number
        and not is_a_build
        and no_test_ran(result.stdout.text() + "\n" + result.stderr.text())
    ):
        none = Unresolved.UNTESTABLE
        return Outcome(Verdict.UNRESOLVED, none, last_lines(result), test_seconds=seconds)
    if not number and status == 0:
        spoke = result.stdout.text().strip() or counts_tests(result.stderr.text())
        said = "" if spoke else PRINTED_NOTHING
        return Outcome(Verdict.PASS, detail=said, test_seconds=seconds)
    if not number and (status == _UNTESTABLE or status >= _ABORT):
        reason = Unresolved.UNTESTABLE if status == _UNTESTABLE else Unresolved.ABORTED
        return Outcome(Verdict.UNRESOLVED, reason, last_lines(result), test_seconds=seconds)
    reports = read_reports(result.directory)
    evidence = Evidence(status, number, result.stdout.text(), result.stderr.text(), roots, reports)
    found = signature(evidence, test_id)
    return Outcome(Verdict.FAIL, None, _telling_end(evidence, result), found, test_seconds=seconds)


def hang(test: str) -> FailureSignature:
    """The failure of a test that does not end. Where it is when it is ended differs from run to run."""
    return FailureSignature(FailureKind.HANG, "it does not end", test=test)


def unrunnable_reason(result: ProcessResult, argv: Sequence[str]) -> str:
    """Why the test command itself cannot be run, as a sentence; empty where it can.

    Status 126 and 127 are failures of a variant like any other, but at the bad version they mean
    that there is no test.
    """
    if result.ending is Ending.NOT_STARTED:
        return f"The test command cannot be started: {result.detail}."
    said = last_lines(result)
    missing = any(phrase in said.lower() for phrase in _SAYS_NOT_FOUND) or not said.strip()
    if result.status not in _CANNOT_RUN or not missing:
        return ""
    first = next(iter(result.stderr.text().strip().splitlines()), "it printed nothing").strip()
    return (
        f"The test command `{shlex.join(argv)}` cannot be run: it exited with status"
        f" {result.status} ({first}); check the command and what it needs to be installed."
    )


def _telling_end(evidence: Evidence, result: ProcessResult) -> str:
    """The end of what the test wrote, and before it what that says of the failure, where it is not in
    there: below it there may be hundreds of lines of the runner's own, and each frame that an exception came through
    has a dozen of its own.
    """
    last, text = last_lines(result), telling_text(evidence.text)
    said = told_failure(text)
    told = []
    if said is not None and told_failure(with_relative_paths(last, evidence.roots)) != said:
        begin = text.rfind("\n", 0, said.begins) + 1
        told = text[begin:].splitlines()[:_SHOWN_LINES]
    known = {*told, *with_relative_paths(last, evidence.roots).splitlines()}
    frames = [frame for frame in frames_shown(text) if frame not in known]
    return "\n".join([*frames[-_SHOWN_LINES:], *told, last])


def last_lines(result: ProcessResult) -> str:
    """The end of what the test wrote, standard error last: what a person looks at first."""
    lines = [*result.stdout.text().splitlines(), *result.stderr.text().splitlines()]
    return "\n".join(lines[-_SHOWN_LINES:])


def _signal(result: ProcessResult) -> int:
    """The signal the program under test died of, seen or as a shell reports it; 0: none."""
    if result.signal:
        return result.signal
    status = result.status or 0
    return status - _ABORT if status - _ABORT in _OWN_FAULT else 0
