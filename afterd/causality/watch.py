"""One watch over the budget's end, which every loop of the search looks at.

Only test runs looked at it: a search whose variants were all refused by a compiler, or that was still
solving, went on for minutes. Whatever the search asks, of a trace, a compiler or the solver, is asked
through here, so there is no loop that does not end with the budget.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ParamSpec, TypeVar

from afterd.causality.trials import BudgetSpentError
from afterd.model.change import ChangeId
from afterd.model.term import StepId
from afterd.model.trace import Conduct, Execution, Predicate, Step

_P = ParamSpec("_P")
_T = TypeVar("_T")


class Watch:
    """Raises BudgetSpentError at the first question after the budget's end. What is put together once
    the search has ended asks on: ``stop`` it then.
    """

    def __init__(self, spent: Callable[[], bool] = lambda: False) -> None:
        self._spent = spent
        self._stopped = False

    def stop(self) -> None:
        """Let every question be answered from now on."""
        self._stopped = True

    def look(self) -> None:
        """Raise BudgetSpentError where the budget has ended."""
        if not self._stopped and self._spent():
            raise BudgetSpentError

    def over(self, question: Callable[_P, _T]) -> Callable[_P, _T]:
        """The same question, asked only while the budget lasts."""

        def asked(*args: _P.args, **keywords: _P.kwargs) -> _T:
            self.look()
            return question(*args, **keywords)

        return asked


class WatchedExecution:
    """An execution that is asked only while the budget lasts."""

    def __init__(self, execution: Execution, watch: Watch) -> None:
        self.failures: Callable[[], Sequence[Predicate]] = execution.failures
        self.step: Callable[[StepId], Step] = watch.over(execution.step)
        self.indirect_influences: Callable[[StepId, StepId], Sequence[StepId]] = watch.over(
            execution.indirect_influences
        )
        self.omitted: Callable[[StepId], Sequence[ChangeId]] = watch.over(execution.omitted)
        self.conduct: Callable[[], Mapping[ChangeId, Conduct]] = watch.over(execution.conduct)
        self.executed_changes: Callable[[], Sequence[ChangeId]] = execution.executed_changes
        self.notes: Callable[[], Sequence[str]] = execution.notes
        self.work: Callable[[], int] = execution.work
