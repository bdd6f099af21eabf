"""Where a failure is carried: steps of a story's path tested by intervention, not believed.

In the failing run one step is given the value or branch that the twin had, and the run goes on. If the
test passes, the step carries the failure (Zeller's cause transitions; Cleve and Zeller, ICSE 2005: "Locating
causes of program failures"). From the failure back a path carries it up to where it comes from
several values at once; that place is looked for by halving, so that a hundred steps cost seven runs.
Only what was seen is claimed: no step is said to carry the failure because its neighbours do.
"""

from __future__ import annotations

from collections.abc import Sequence

from afterd.model.term import StepId
from afterd.model.trace import Alignment, Trial, TwinExecution


class Carrying:
    """Tests steps, each once, with at most ``most`` runs of the test; ``carriers`` are those that were seen
    to carry the failure.
    """

    def __init__(self, execution: TwinExecution, most: int) -> None:
        self.carriers: set[StepId] = set()
        self.runs = 0
        self._execution = execution
        self._most = most
        self._known: dict[StepId, Trial] = {}

    def follow(self, path: Sequence[StepId]) -> None:
        """Test a path, which goes from a change to the failure: by halves, and where the change acts."""
        path = [step for step in path if self._differs(step)]
        low, high = 0, len(path)
        silent: set[int] = set()
        while low < high and self.runs < self._most:
            middle = (low + high) // 2
            told = [number for number in range(low, high) if number not in silent]
            if not told:
                break
            number = min(told, key=lambda number: abs(number - middle))
            trial = self._trial(path[number])
            if trial is Trial.PASSES:
                high = number
            elif trial is Trial.FAILS:
                low = number + 1
            else:
                silent.add(number)
        if path:
            self._trial(path[0])

    def _differs(self, step: StepId) -> bool:
        """Whether there is something else in the twin that could be put here."""
        return self._execution.step(step).green.alignment is Alignment.DIFFERENT

    def _trial(self, step: StepId) -> Trial:
        if step not in self._known:
            if self.runs >= self._most:
                return Trial.NOT_RUN
            trial = self._known[step] = self._execution.trial(step)
            self.runs += trial is not Trial.NOT_RUN
            if trial is Trial.PASSES:
                self.carriers.add(step)
        return self._known[step]
