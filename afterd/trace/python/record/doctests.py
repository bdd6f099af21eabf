"""What a doctest found, in the form of other failures: the line that differs, and the example's own place.

Neither pytest's nor doctest's exception says it: its text is the name of the test. The module is not imported where no
doctest is run.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

Anything = Any  # a value of the traced program

_NOTHING = "nothing"


def raised_by_doctest(error: BaseException) -> BaseException:
    """Of several failures of one doctest the first; of an exception that an example raised unexpectedly that one."""
    several: Anything = getattr(error, "failures", None)
    if type(error).__name__ == "MultipleDoctestFailures" and several:
        error = several[0]
    raised: Anything = getattr(error, "exc_info", None)
    return raised[1] if type(error).__name__ == "UnexpectedException" and raised else error


def told_by_doctest(error: BaseException) -> dict[str, Any]:
    """What an example printed beside what was expected of it, and where it stands; nothing of other exceptions."""
    example, test = getattr(error, "example", None), getattr(error, "test", None)
    if type(error).__name__ != "DocTestFailure" or example is None or test is None:
        return {}
    lines = zip_longest(str(getattr(error, "got", "")).splitlines(), example.want.splitlines())
    got, want = next((pair for pair in lines if pair[0] != pair[1]), ("", ""))
    said = {
        "type": "AssertionError",
        "bases": ["DocTestFailure", "AssertionError"],
        "message": f"{_NOTHING if got is None else got} != {_NOTHING if want is None else want}",
    }
    if not test.filename or test.lineno is None:
        return said
    asked = f">>> {example.source.strip()}".splitlines()[0]
    return {**said, "judged": (test.filename, test.lineno + example.lineno + 1, asked)}
