"""A failure that code found which is not followed: a test outside of the repository, or one in a library.

What it looked at is not recorded; what calls gave it is. The last of those that green's did not give stands for
it. How it failed is told as the test runner saw it: of what that prints, letters and dots, a person learns
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from afterd.execution.failures.pytest_says import compared_values
from afterd.execution.failures.values import told_failure
from afterd.model.location import Location
from afterd.model.outcome import FailureKind
from afterd.model.term import BOOL, Concrete, reads
from afterd.model.trace import Predicate
from afterd.trace.python.read.frames import Frame
from afterd.trace.python.read.program import FUNCTIONS
from afterd.trace.python.read.ssa import Steps
from afterd.trace.python.record.failures import HANG
from afterd.trace.python.record.rows import Kind

_GIVING = frozenset({Kind.RETURN, Kind.YIELD})


@dataclass(frozen=True, slots=True)
class Outside:
    """Recognises what code that is not followed found; ``differs`` says of a row whether green's is another one,
    and ``printed`` at what the output departs, where nothing that was given does.
    """

    steps: Steps
    differs: Callable[[int], bool]
    printed: Callable[[], Iterable[Predicate]]

    def failures(self, reported: Sequence[dict[str, Any]]) -> list[Predicate]:
        """The failures that a test runner reported; the wrong output where it reported none."""
        seen = [failure for failure in reported if failure["type"] != HANG]
        given = [found for failure in seen if (found := self._given(failure)) is not None]
        if given or not seen:
            return given or list(self.printed())
        return [_as_reported(found, seen[0]) for found in self.printed()]

    def _given(self, failure: dict[str, Any]) -> Predicate | None:
        """What was given and is not green's; None where nothing was."""
        rows = _given_outside(self.steps, self.steps.trace.position_or_end(failure["row"]))
        row = next(filter(self.differs, rows), None)
        if row is None:
            return None
        step = self.steps.step(self.steps.trace.number(row))
        found = tuple(reads(step.term))
        condition = Concrete(False, BOOL, "code that is not followed found the fault", found)  # noqa: FBT003 # the condition is false
        return _as_reported(Predicate(step.id, condition, step.text), failure)


def _as_reported(predicate: Predicate, failure: dict[str, Any]) -> Predicate:
    """The predicate, with what the test runner saw in place of what it printed."""
    message = f"{failure['type']}: {failure['message']}".strip()
    observed, expected = compared_values(message)
    if not observed and (said := told_failure(message.split("\n", 1)[0])):
        observed, expected = said.observed, said.expected
    judged = failure.get("judged")
    asserts = "AssertionError" in failure["bases"] or failure["type"] == "Failed"
    return replace(
        predicate,
        text=judged[2] if judged else "",
        kind=FailureKind.ASSERTION if asserts else FailureKind.EXCEPTION,
        message=message.splitlines()[0],
        observed=observed,
        expected=expected,
        failed_at=Location(judged[0], judged[1]) if judged else Location(""),
        by_others=True,
    )


def _given_outside(steps: Steps, before: int) -> list[int]:
    """The rows at which functions that others called gave something, the last one first."""
    outer = (frame for frame in steps.trace.frames if _is_called_by_others(frame))
    return sorted((row for frame in outer for row in _giving(steps, frame, before)), reverse=True)


def _giving(steps: Steps, frame: Frame, before: int) -> Iterator[int]:
    """Values that it gave, and its end where that gave none: it came to its last line, or raised."""
    last = -1
    for row in frame.rows:
        kind = steps.trace.kind(row)
        ended = kind is Kind.EXIT and (last < 0 or steps.trace.kind(last) is not Kind.RETURN)
        if row < before and (kind in _GIVING or ended):
            yield row
        last = row


def _is_called_by_others(frame: Frame) -> bool:
    return frame.parent is None and (frame.node.type in FUNCTIONS or frame.node.type == "Lambda")
