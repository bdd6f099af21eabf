"""What was found out for one ranking, so that no technique finds it out again."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar, cast

from afterd.errors import TestError
from afterd.logic.correction import Corrections

_T = TypeVar("_T")


class NoVoteError(TestError):
    """A technique looked, and has no opinion; the message says why."""


class Memory:
    """Answers by question, also that there is none; and a solver whose encoding techniques share."""

    def __init__(self) -> None:
        self._found: dict[Hashable, object] = {}
        self._solver: Corrections | None = None

    def once(self, question: Hashable, answer: Callable[[], _T]) -> _T:
        """The answer, which is found out when it is first asked for. Raises NoVoteError, also again."""
        if question not in self._found:
            try:
                self._found[question] = answer()
            except NoVoteError as nothing:
                self._found[question] = nothing
        found = self._found[question]
        if isinstance(found, NoVoteError):
            raise found
        return cast("_T", found)

    def solver(self, seconds: float) -> Corrections:
        """The ranking's solver, with so much CPU time for the questions that come."""
        if self._solver is None:
            self._solver = Corrections()
        self._solver.begin(seconds)
        return self._solver

    def close(self) -> None:
        """End the solver's process."""
        if self._solver is not None:
            self._solver.close()
