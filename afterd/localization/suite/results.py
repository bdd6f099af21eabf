"""Which test a process belongs to, from what a whole suite printed around it.

A script that runs one test after the other says how each ended. A counted process knows how much of
that output was there when it began, so the next report after it is its test's. Where a suite only
reports what fails, each process is a run by itself, and the last one before a report failed.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from afterd.localization.suite.spectrum import CountedTest
from afterd.spectra.c import Process

_REPORTS = (
    # TAP; what is indented belongs to a subtest
    re.compile(rb"(?P<bad>not )?ok\b(?: \d+)?(?: -)? ?(?P<name>[^#]*)(?P<rest>.*)"),
    # automake, and many a script
    re.compile(rb"(?P<word>PASS|FAIL|XFAIL|XPASS|ERROR|SKIP|PASSED|FAILED|OK): *(?P<name>\S.*)"),
    re.compile(rb"(?P<word>PASSED|FAILED|FAIL|OK) (?P<name>\S.*)"),
    re.compile(
        rb"(?P<name>\S.*?)(?: ?\.\.+|:) *(?P<word>ok|OK|passed|PASSED|PASS|FAIL|FAILED|failed)"
    ),
)
_BAD = frozenset([b"FAIL", b"FAILED", b"XPASS", b"ERROR"])
_NONE = re.compile(rb"# *(?:SKIP|TODO)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Report:
    """A line that says how a test ended; ``start`` is its first byte in the output."""

    name: str
    failed: bool
    start: int


def reports(output: bytes) -> Iterator[Report]:
    """The reports in the output of a suite, in order; skipped and expected failures are none."""
    start = 0
    for line in output.split(b"\n"):
        for pattern in _REPORTS:
            if (found := pattern.fullmatch(line.rstrip())) is not None:
                yield from _report(found, start)
                break
        start += len(line) + 1


def _report(found: re.Match[bytes], start: int) -> Iterator[Report]:
    fields = found.groupdict()
    word = (fields.get("word") or b"").upper()
    if word == b"SKIP" or _NONE.search(fields.get("rest") or b""):
        return
    name = fields["name"].strip().decode(errors="backslashreplace")
    failed = bool(fields.get("bad")) or word in _BAD
    yield Report(name or f"test at byte {start}", failed, start)


def divided_tests(output: bytes, processes: Sequence[Process]) -> list[CountedTest]:
    """The tests of a suite that was run as a whole, with their processes.

    Empty where the output reports nothing, so that nobody can tell which processes failed.
    """
    found = list(reports(output))
    if not found:
        return []
    if all(report.failed for report in found):
        return _each_a_run(found, processes)
    starts = [report.start for report in found]
    of: dict[int, list[Process]] = {}
    for process in processes:
        if (place := bisect_left(starts, process.output)) < len(found):
            of.setdefault(place, []).append(process)
    return [
        CountedTest(found[place].name, found[place].failed, tuple(group))
        for place, group in sorted(of.items())
    ]


def _each_a_run(found: Sequence[Report], processes: Sequence[Process]) -> list[CountedTest]:
    ordered = sorted(processes, key=lambda process: process.output)
    following = [process.output for process in ordered[1:]] + [found[-1].start + 1][: len(ordered)]
    tests: list[CountedTest] = []
    for number, (process, end) in enumerate(zip(ordered, following, strict=True), start=1):
        mine = [report for report in found if process.output <= report.start < end]
        name = mine[0].name if mine else f"run {number}"
        tests.append(CountedTest(name, bool(mine), (process,)))
    return tests
