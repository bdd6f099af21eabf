"""How far a suite is, by the lines that its runner has printed so far."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterd.execution.failures.tests_ended import TestsEnded

DJANGO = """\
Found 4 test(s).
Creating test database for alias 'default'...
test_a (shop.tests.T.test_a) ... ok
test_b (shop.tests.T.test_b)
It counts. ... skipped 'no'
test_c (shop.tests.T.test_c) ... FAIL
test_d (shop.tests.T.test_d) ... """
UNITTEST_ENDED = """\
test_a (m.T.test_a) ... ok
test_b (m.T.test_b) ... ERROR

======================================================================
ERROR: test_b (m.T.test_b)
----------------------------------------------------------------------
Ran 2 tests in 0.1s

FAILED (errors=1)
"""
CTEST = """\
Test project /b
      Start  1: a
 1/12 Test  #1: a ................................   Passed    0.01 sec
      Start  2: b
 2/12 Test  #2: b ................................***Failed    0.02 sec
"""
MESON = " 1/30 proj:unit / a      OK       0.01s\n 2/30 b      FAIL     0.01s   exit status 1\n"
CARGO = "running 3 tests\ntest t::a ... ok\ntest t::b ... FAILED\n\nrunning 2 tests\ntest c ... ignored\n"
TAP = "1..3\nok 1 - a\nnot ok 2 - b\n# why\n"
AUTOMAKE = "PASS: a.sh\nFAIL: b.sh 3 - third\nSKIP: c\n"
GO = "ok  \texample.com/m/a\t0.003s\n"
PROSE = "ok, that is all\nError: no such thing\nERROR: the file is not there\n"


@pytest.mark.parametrize(
    ("output", "counts"),
    [
        (DJANGO, (3, 4, 1)),
        (UNITTEST_ENDED, (2, 0, 1)),
        (CTEST, (2, 12, 1)),
        (MESON, (2, 30, 1)),
        (CARGO, (3, 5, 1)),
        (TAP, (2, 3, 1)),
        (AUTOMAKE, (3, 0, 1)),
        (GO, (1, 0, 0)),
        (PROSE, (0, 0, 0)),
    ],
)
def test_what_has_ended(output: str, counts: tuple[int, int, int]) -> None:
    seen = TestsEnded()
    seen.read("stdout", output.encode())
    assert (seen.ended, seen.found, seen.red) == counts


@given(cuts=st.lists(st.integers(0, len(DJANGO)), max_size=8))
def test_however_it_comes(cuts: list[int]) -> None:
    """Pieces end anywhere; the other stream has lines of its own."""
    seen = TestsEnded()
    places = [0, *sorted(cuts), len(DJANGO)]
    for start, end in pairwise(places):
        seen.read("stderr", DJANGO[start:end].encode())
        seen.read("stdout", b"half a line")
    assert (seen.ended, seen.found, seen.red) == (3, 4, 1)
