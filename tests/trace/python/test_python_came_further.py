"""Whether a variant failed later in its test, by what was printed."""

from __future__ import annotations

import pytest

from afterd.model.outcome import Outcome, Unresolved, Verdict
from afterd.trace.python.failure import came_as_far, came_further

PYTEST = "tests/test_units.py:12: AssertionError\n"
PLAIN = (
    'Traceback (most recent call last):\n  File "/slot/1/tests/test_units.py", line {}, in test\n'
)


@pytest.mark.parametrize(
    ("bad", "variant", "further"),
    [
        (PYTEST, "tests/test_units.py:15: AssertionError\n", True),
        (PYTEST, "tests/test_units.py:12: in test\nlib.py:40: ValueError\n", False),
        (PYTEST, "tests/test_units.py:15: in test\nlib.py:3: ValueError\n", True),
        (PYTEST, "tests/test_units.py:9: in test\nlib.py:40: ValueError\n", False),
        (PYTEST, "tests/conftest.py:50: ImportError\n", False),
        (PYTEST, "Segmentation fault\n", False),
        ("", PYTEST, False),
        (PLAIN.format(7), PLAIN.format(8).replace("/slot/1", "/slot/2"), True),
        (PLAIN.format(7), PLAIN.format(7), False),
    ],
)
def test_the_outermost_line_of_the_same_file_is_later(
    bad: str, variant: str, *, further: bool
) -> None:
    seen = Outcome(Verdict.UNRESOLVED, Unresolved.DIFFERENT_FAILURE, variant)
    assert came_further(seen, Outcome(Verdict.FAIL, None, bad)) is further


def test_what_fails_as_ever_came_no_further() -> None:
    bad = Outcome(Verdict.FAIL, None, PYTEST)
    assert not came_further(Outcome(Verdict.FAIL, None, PYTEST.replace("12", "15")), bad)


@pytest.mark.parametrize(
    ("variant", "as_far"),
    [
        ("tests/test_units.py:12: in test\nlib.py:40: ValueError\n", True),
        ("tests/test_units.py:12: in test\nother.py:4: in name\nlib.py:40: KeyError\n", True),
        ("tests/test_units.py:13: in test\nlib.py:40: ValueError\n", False),
        ("tests/test_units.py:12: ValueError\n", False),
        ("Segmentation fault\n", False),
    ],
)
def test_another_failure_below_the_same_line_of_the_test_came_as_far(
    variant: str, *, as_far: bool
) -> None:
    bad = Outcome(Verdict.FAIL, None, "tests/test_units.py:12: in test\nlib.py:7: TypeError\n")
    assert (
        came_as_far(Outcome(Verdict.UNRESOLVED, Unresolved.DIFFERENT_FAILURE, variant), bad)
        is as_far
    )
    assert not came_as_far(Outcome(Verdict.FAIL, None, variant), bad)
    raised_by_itself = Outcome(Verdict.FAIL, None, PYTEST)
    assert not came_as_far(
        Outcome(Verdict.UNRESOLVED, Unresolved.DIFFERENT_FAILURE, variant), raised_by_itself
    )
