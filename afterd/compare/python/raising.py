"""Exceptions of the failing run beside the green one: which of them the green run had as well, and went on after."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from afterd.model.change import ChangeId
from afterd.trace.python.read import Steps


class Raising:
    """``trace.python.failure.Beside``; ``changes_at`` gives the changes of a row, ``as_green`` whether its value is
    green's.
    """

    def __init__(
        self,
        steps: Steps,
        changes_at: Callable[[int], Sequence[ChangeId]],
        as_green: Callable[[int], bool],
    ) -> None:
        self._steps = steps
        self._changes_at = changes_at
        self._as_green = as_green

    def raises_by_change(self, raised: int) -> bool:
        """Whether a changed ``raise`` stands where green went the same way: not the branch is why it was come to.

        An assertion, for which pytest writes one, is not reached by its condition alone.
        """
        node, decided = self._steps.trace.node(raised), self._steps.control(raised)
        if node is None or decided is None or not node.statement.text.startswith("raise"):
            return False
        return bool(self._changes_at(raised)) and self._as_green(decided)

    def raised_too(self, row: int) -> bool:
        """Whether green raised the same there, or left there by it: it was caught, and not here."""
        return self._steps.has_raised(row) and self._as_green(row)
