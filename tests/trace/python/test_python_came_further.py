"""Whether a variant failed later in its test, by what was printed."""

from __future__ import annotations

import pytest

from afterd.model.outcome import FailureKind, FailureSignature, Outcome, Unresolved, Verdict
from afterd.trace.python.failure import came_as_far, came_further, moved

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


@pytest.mark.parametrize(
    ("kind", "line", "as_far"),
    [
        (FailureKind.ASSERTION, 12, True),
        (FailureKind.ASSERTION, 13, False),
        (FailureKind.EXCEPTION, 12, False),
    ],
)
def test_an_assertion_that_found_something_else_came_as_far(
    kind: FailureKind, line: int, *, as_far: bool
) -> None:
    """SCons: what the test's message says of its child differs from commit to commit, and none told anything."""
    bad = Outcome(
        Verdict.FAIL, None, PYTEST, FailureSignature(FailureKind.ASSERTION, "assert 2 == 0, this")
    )
    seen = Outcome(
        Verdict.UNRESOLVED,
        Unresolved.DIFFERENT_FAILURE,
        PYTEST.replace("12", str(line)),
        FailureSignature(kind, "assert 2 == 0, that"),
    )
    assert came_as_far(seen, bad) is as_far


RAISED = """\
tests/test_key.py:5: in test
    key()

>       name = ''.join(parts)
E       TypeError: expected str

{}: TypeError
"""
TRACED = """\
Traceback (most recent call last):
  File "/slot/1/t.py", line 2, in test
    key()
  File "{}", line 7, in key
    {}
TypeError: expected str
"""


@pytest.mark.parametrize(
    ("bad", "seen", "elsewhere", "message", "same"),
    [
        (RAISED.format("b.py:9"), RAISED.format("a.py:44"), "a.py", "expected str", True),
        (RAISED.format("b.py:9"), RAISED.format("a.py:4").replace("parts", "x"), "a.py", "expected str", False),
        (RAISED.format("b.py:9"), RAISED.format("a.py:44"), "a.py", "expected int", False),
        (TRACED.format("b.py", "join(x)"), TRACED.format("a.py", "join(x)"), "a.py", "expected str", True),
        (TRACED.format("b.py", "join(x)"), TRACED.format("a.py", "join(y)"), "a.py", "expected str", False),
        ("", "", "a.py", "expected str", False),
    ],
)  # fmt: skip
def test_a_failure_whose_code_stood_elsewhere(
    bad: str, seen: str, elsewhere: str, message: str, *, same: bool
) -> None:
    """The same exception of which the same is said, by a line of the same text; not where that was not shown."""
    here = FailureSignature(FailureKind.EXCEPTION, "expected str", "b.py")
    there = FailureSignature(FailureKind.EXCEPTION, message, elsewhere)
    outcome = Outcome(Verdict.UNRESOLVED, Unresolved.DIFFERENT_FAILURE, seen, there)
    assert moved(outcome, Outcome(Verdict.FAIL, None, bad, here)) is same
