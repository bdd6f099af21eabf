"""Step ids: a record's absolute position and which of its outputs is meant."""

from __future__ import annotations

from dataclasses import dataclass

from afterd.model.term import StepId, Value

_OUTPUTS = 1 << 12  # per record
_FAILED = 1 << 11  # the first of a record's outputs that is none of a statement
_INITIAL = 1 << 28  # initial values per process, in units of _OUTPUTS
_PROCESS_SHIFT = 52  # 2^40 records a process: a day of tracing
ADDRESS_BITS = 64
ADDRESSES = range(0x5555_0000_0000, 1 << 47)
"""Where Linux has a program, its heap, its mappings and its stack, where addresses are not random: a whole word of
such a value that is none is rare (the kernel's Documentation/arch/x86/x86_64/mm.rst; ELF_ET_DYN_BASE).
"""


@dataclass(frozen=True, slots=True)
class Cells:
    """``size`` bytes from ``offset`` of what a copy, a fill or an external call wrote."""

    address: int
    size: int


class StepIds:
    """Hands out ids that grow with execution order; initial values come before every record.

    Processes are numbered in the order in which they began; the number is in the highest bits, so
    that one execution can speak of several processes.
    """

    def __init__(self, process: int = 0) -> None:
        self._base = process << _PROCESS_SHIFT
        self._cells: dict[tuple[int, Cells, str], StepId] = {}
        self._used: dict[int, int] = {}
        self.cells: dict[StepId, Cells] = {}
        self.observed: dict[StepId, Value] = {}
        self._initial: dict[tuple[Cells, str], StepId] = {}

    @staticmethod
    def process(step: StepId) -> int:
        """The number of the process of a step."""
        return step >> _PROCESS_SHIFT

    def of(self, position: int) -> StepId:
        """The id of the step that a record stands for."""
        return self._base + (position + _INITIAL) * _OUTPUTS

    def position(self, step: StepId) -> int:
        """The record of a step; negative for initial values."""
        return (step - self._base) // _OUTPUTS - _INITIAL

    def is_initial(self, step: StepId) -> bool:
        """Whether the step stands for a value that was there before the first record."""
        return self.position(step) < 0

    def of_failure(self, position: int, number: int = 0) -> StepId:
        """The id of what a run ended with, or gave to the outside, at a record: it is no statement's output."""
        return self.of(position) + _FAILED + number

    def is_failure(self, step: StepId) -> bool:
        """Whether ``of_failure`` handed it out; asked of no initial value."""
        return (step - self._base) % _OUTPUTS >= _FAILED

    def of_cells(self, position: int, cells: Cells, value: Value = None) -> StepId:
        """The id of one of several outputs of a record; ``value`` is what was read from it.

        qsort moves what it sorts while it calls back: the same bytes of one call had several values.
        """
        key = (position, cells, repr(value))
        if key not in self._cells:
            number = min(self._used.get(position, 0) + 1, _FAILED - 1)
            self._used[position] = number
            step = self.of(position) + number
            self._cells[key] = step
            self.cells[step] = cells
            self.observed[step] = value
        return self._cells[key]

    def of_initial(self, cells: Cells, value: Value = None) -> StepId:
        """The id of a value that nothing recorded had written; memory is used again, so the same bytes
        may have had several.
        """
        key = (cells, repr(value))  # repr: NaN is itself here, and 0.0 is not -0.0
        if key not in self._initial:
            step = self._base + len(self._initial)
            self._initial[key] = step
            self.cells[step] = cells
            self.observed[step] = value
        return self._initial[key]
