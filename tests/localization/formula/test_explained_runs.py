"""Which of a fault's failing runs are explained."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pytest

from afterd.limits import FormulaLimits
from afterd.localization.formula.several_inputs import explained_runs


@dataclass(frozen=True, slots=True)
class Ran:
    length: int
    extent_repaired: int


def chosen_of(runs: Sequence[Ran], limits: FormulaLimits) -> tuple[list[Ran], int]:
    """What is chosen, and how many were executed for it."""
    executed: list[Ran] = []

    def tried() -> Iterator[Ran]:
        for run in runs:
            executed.append(run)
            yield run

    return explained_runs(tried(), limits), len(executed)


@pytest.mark.parametrize(
    ("lengths", "count", "executed"),
    [([400] * 9, 5, 5), ([900, 900, 900], 2, 3), ([5000, 5000, 5000], 2, 3), ([700], 1, 1)],
)
def test_the_shortest_as_many_as_there_is_room_for(
    lengths: list[int], count: int, executed: int
) -> None:
    runs = [Ran(length, length) for length in lengths]
    assert chosen_of(runs, FormulaLimits()) == (runs[:count], executed)


def test_of_runs_that_ended_too_soon_that_whose_repair_is_least() -> None:
    """An option that is refused ends every run after 49 instructions, whatever else it was given."""
    runs = [Ran(49, extent) for extent in (9000, 4000, 700, 2500, 800, 6000)]
    one = FormulaLimits(inputs=1)
    assert chosen_of(runs, one) == ([runs[2]], 6)
    assert chosen_of([*runs, Ran(700, 700), Ran(800, 800)], one) == ([runs[2]], 7)
    assert chosen_of(runs * 10, one)[1] == one.tried
