"""Step ids: a record's absolute position and which of its outputs is meant."""

from __future__ import annotations

from dataclasses import dataclass

from afterd.model.term import StepId

_OUTPUTS = 1 << 12


@dataclass(frozen=True, slots=True)
class Cells:
    """``size`` bytes from ``offset`` of what a copy, a fill or an external call wrote."""

    address: int
    size: int


class StepIds:
    """Hands out ids that grow with execution order; initial values are negative."""

    def __init__(self) -> None:
        self._cells: dict[tuple[int, Cells], StepId] = {}
        self._used: dict[int, int] = {}
        self.cells: dict[StepId, Cells] = {}
        self._initial: dict[Cells, StepId] = {}

    @staticmethod
    def of(position: int) -> StepId:
        """The id of the step that a record stands for."""
        return position * _OUTPUTS

    @staticmethod
    def position(step: StepId) -> int:
        """The record of a step (meaningless for initial values)."""
        return step // _OUTPUTS

    def of_cells(self, position: int, cells: Cells) -> StepId:
        """The id of one of several outputs of a record."""
        key = (position, cells)
        if key not in self._cells:
            number = self._used.get(position, 0) + 1
            self._used[position] = min(number, _OUTPUTS - 1)
            step = position * _OUTPUTS + self._used[position]
            self._cells[key] = step
            self.cells[step] = cells
        return self._cells[key]

    def of_initial(self, cells: Cells) -> StepId:
        """The id of a value that was there before the first record."""
        if cells not in self._initial:
            step = -1 - len(self._initial)
            self._initial[cells] = step
            self.cells[step] = cells
        return self._initial[cells]
