"""What prove says of a file of tests, in the forms in which it says it."""

from __future__ import annotations

import pytest

from afterd.execution.failures.prove import said_of_files
from afterd.execution.failures.suites import Family, failed_tests, passed_tests

SUMMARY = "Test Summary Report\n-------------------\n"


@pytest.mark.parametrize(
    ("line", "failed"),
    [
        ("t/a.t (Wstat: 256 (exited 1) Tests: 2 Failed: 1)\n  Failed test:  1", True),
        ("t/a.t (Wstat: 256 Tests: 2 Failed: 1)", True),
        ("t/a.t (Wstat: 0 Tests: 2 Failed: 1)", True),
        ("t/a.t     (Wstat: 139 (Signal: SEGV, dumped core) Tests: 0 Failed: 0)", True),
        ("t/a.t (Wstat: 0 Tests: 1 Failed: 0)\n  Parse errors: Bad plan.  You planned 2 tests but ran 1.", True),
        ("t/a.t (Wstat: 0 Tests: 2 Failed: 0)\n  TODO passed:   2", False),
    ],
)  # fmt: skip
def test_the_files_that_failed(line: str, failed: bool) -> None:
    text = f"t/a.t .. \nt/b.t .... ok\n\n{SUMMARY}{line}\nFiles=2, Tests=3, 0 wallclock secs\n"
    assert failed_tests(text) == (("t/a.t",) if failed else ())
    assert passed_tests(text) == {"t/b.t"}


def test_with_each_test_shown_their_names_are_enough() -> None:
    a = "t/a.t .. \n1..2\nnot ok 1 - one\nok 2\nDubious, test returned 1 (wstat 256, 0x100)\n"
    b = "t/b.t .. \nCan't locate X.pm\nDubious, test returned 2 (wstat 512, 0x200)\n"
    reports = [f"t/{name}.t (Wstat: 256 Tests: 2 Failed: 1)\n" for name in "ab"]
    text = a + b + SUMMARY + "".join(reports)
    assert failed_tests(text, Family.PROVE) == ("t/b.t",)
    assert failed_tests(text) == ("one", "t/b.t")


def test_what_failed_in_each_file() -> None:
    text = """\
#   Failed test 'one is good'
#   at t/a.t line 4.
#          got: 'bad'
#   Failed (TODO) test 'some day'
#   at t/a.t line 5.
#   Failed test 'in short' at t/b.t line 9.
"""
    assert said_of_files(text) == {
        "t/a.t": "#   Failed test 'one is good'\n#   at t/a.t line 4.",
        "t/b.t": "#   Failed test 'in short' at t/b.t line 9.",
    }
