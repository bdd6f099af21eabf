"""Which lines an exception came through, innermost first."""

from __future__ import annotations

import pytest

from afterd.model.location import Location
from afterd.model.outcome import Outcome, Unresolved, Verdict
from afterd.trace.python.failure import raised_at

PYTEST = """
test_lib.py:9: in test
    f(1)
src/lib.py:12: in f
    return g(x)
/usr/lib/python3.11/json/decoder.py:337: in decode
E   ValueError: no

src/lib.py:30: ValueError
"""
INTERPRETER = """Traceback (most recent call last):
  File "/tmp/slot/src/lib.py", line 12, in f
    return g(x)
  File "/usr/lib/python3.11/lib.py", line 3, in g
ValueError: no
"""


@pytest.mark.parametrize(("output", "lines"), [(PYTEST, [30, 12]), (INTERPRETER, [12]), ("", [])])
def test_lines_of_changed_files(output: str, lines: list[int]) -> None:
    outcome = Outcome(Verdict.UNRESOLVED, Unresolved.DIFFERENT_FAILURE, output)
    assert raised_at(outcome, ["src/lib.py"]) == [Location("src/lib.py", line) for line in lines]


def test_the_failure_under_explanation_is_not_looked_at() -> None:
    assert raised_at(Outcome(Verdict.FAIL, None, PYTEST), ["src/lib.py"]) == []
