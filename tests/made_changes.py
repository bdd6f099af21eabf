"""Changes and oracles made for the tests of delta debugging and of the loop."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable

from afterd.model.change import Change, ChangeSet, in_order
from afterd.model.location import LineSpan
from afterd.model.outcome import Outcome, Unresolved, Verdict

Answer = Callable[[ChangeSet], Outcome]
PASS, FAIL = Outcome(Verdict.PASS), Outcome(Verdict.FAIL)
DIFFERENT = Outcome(Verdict.UNRESOLVED, Unresolved.DIFFERENT_FAILURE)
NOT_BUILT = Outcome(Verdict.UNRESOLVED, Unresolved.BUILD)
NOT_RUN = Outcome(Verdict.UNRESOLVED, Unresolved.NOT_RUN)


def change(number: int, file: str = "f.c", symbol: str = "", patch: str = "") -> Change:
    """A one-line change."""
    span = LineSpan(10 * number, 1)
    return Change(f"c{number}", file, file, span, span, symbol=symbol, patch=patch)


def made(count: int, *, a_file: int = 10, a_function: int = 3) -> dict[str, Change]:
    """``count`` changes, so many in a file and in a function."""
    changes = (
        change(i, f"{(i - 1) // a_file}.c", f"f{(i - 1) // a_function}")
        for i in range(1, count + 1)
    )
    return {c.id: c for c in changes}


def ids(count: int) -> ChangeSet:
    """c1 … cN."""
    return frozenset(f"c{i}" for i in range(1, count + 1))


def repaired_by(*roots: Iterable[str]) -> Answer:
    """Reverting any superset of one of ``roots`` passes (monotone)."""
    wanted = [frozenset(root) for root in roots]
    return lambda reverted: PASS if any(root <= reverted for root in wanted) else FAIL


def arbitrary(seed: int, count: int, *, resolved: float = 0.7) -> Answer:
    """Any answers at all, the ends apart: reverting everything passes, nothing fails."""

    def outcome(reverted: ChangeSet) -> Outcome:
        if not reverted:
            return FAIL
        if len(reverted) == count:
            return PASS
        chance = random.Random(f"{seed} {in_order(reverted)}")
        if chance.random() > resolved:
            return DIFFERENT
        return chance.choice((PASS, FAIL, FAIL))

    return outcome


class Counting:
    """An oracle that remembers what it was asked, and may run out of budget."""

    def __init__(self, answer: Answer, budget: int | None = None) -> None:
        self._answer = answer
        self._budget = budget
        self.asked: list[ChangeSet] = []

    def __call__(self, reverted: ChangeSet) -> Outcome:
        if self._budget is not None and len(self.asked) >= self._budget:
            return NOT_RUN
        self.asked.append(reverted)
        return self._answer(reverted)


def running_example(reverted: ChangeSet) -> Outcome:
    """AFTER's running example: c3 and one of c1, c2 (all sixteen reversions, run by hand)."""
    return PASS if "c3" in reverted and reverted & {"c1", "c2"} else FAIL
