"""Processes told apart by what their suite printed, and what happens to whole lines of scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterd.localization.suite.results import divided_tests, reports
from afterd.spectra.c.counts import Process


def process(number: int, output: int) -> Process:
    return Process(np.array([number]), np.array([1]), 0, output)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ok 1 - parses", [("parses", False)]),
        ("not ok 2 - prints", [("prints", True)]),
        ("ok 3 # SKIP no tty", []),
        ("not ok 4 - later # TODO", []),
        ("    ok 1 - a subtest", []),
        ("PASS: tests/a.sh", [("tests/a.sh", False)]),
        ("FAIL: b", [("b", True)]),
        ("XFAIL: c", [("c", False)]),
        ("XPASS: d", [("d", True)]),
        ("SKIP: e", []),
        ("ERROR: f", [("f", True)]),
        (
            "FAILED tests/lists/slice (standard output)",
            [("tests/lists/slice (standard output)", True)],
        ),
        ("sort two lists ... ok", [("sort two lists", False)]),
        ("sort two lists: FAILED", [("sort two lists", True)]),
        ("okay, everything is fine", []),
        ("1..4", []),
    ],
)
def test_a_report(line: str, expected: list[tuple[str, bool]]) -> None:
    assert [(r.name, r.failed) for r in reports(f"noise\n{line}\n".encode())] == expected


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 3), st.integers(0, 2)), min_size=1))
def test_every_process_goes_to_its_test(tests: list[tuple[bool, int, int]]) -> None:
    """Tests in turn, each with some processes and some noise before its report."""
    output, expected = b"", []
    processes: list[Process] = []
    for number, (failed, count, noise) in enumerate(tests):
        own = []
        for _ in range(count):
            own.append(process(len(processes), len(output)))
            processes.append(own[-1])
            output += b"noise\n" * noise
        output += f"{'FAIL' if failed else 'PASS'}: t{number}\n".encode()
        if own:
            expected.append((f"t{number}", failed, tuple(own)))
    found = [
        (test.name, test.failed, tuple(test.processes)) for test in divided_tests(output, processes)
    ]
    if all(failed for failed, _, _ in tests):
        assert [test for _, _, owned in found for test in owned] == processes
    else:
        assert found == expected


def test_a_suite_that_names_failures_alone() -> None:
    """Each process is a run; the last one before a report is the one that failed."""
    output = b"FAILED one\ndiff\nFAILED two\n"
    second = output.index(b"FAILED two")
    ran = [
        process(0, 0),
        process(1, 0),
        process(2, second),
        process(3, second),
        process(4, len(output)),
    ]
    assert [(test.name, test.failed) for test in divided_tests(output, ran)] == [
        ("run 1", False),
        ("one", True),
        ("run 3", False),
        ("two", True),
        ("run 5", False),
    ]


@given(st.binary(max_size=300))
def test_no_output_is_too_strange(output: bytes) -> None:
    for report in reports(output):
        assert report.name
        assert 0 <= report.start <= len(output)
    divided_tests(output, [process(0, 0), process(1, 5)])


def test_what_reports_nothing_is_not_divided() -> None:
    assert divided_tests(b"hello\n", [process(0, 0)]) == []
