"""From the end of a run to more of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import pytest

from afterd.limits import DEMAND, LOGIC
from afterd.localization.formula.widening import Windows, foretold_clauses, widest_answer
from afterd.logic import Branch, Corrections, ProgramFormula


@dataclass(slots=True)
class Run:
    """A run of a length, which notes how far it was looked back over."""

    length: int
    asked: list[int] = field(default_factory=list)

    def on_demand(self, explored: Collection[Branch], /) -> ProgramFormula:
        raise NotImplementedError

    def all_paths(self, most: int = 0, /) -> ProgramFormula:
        raise NotImplementedError

    def paths_leaving_once(self) -> ProgramFormula:
        raise NotImplementedError

    def trace(self) -> ProgramFormula:
        raise NotImplementedError

    def force_less(self) -> bool:
        return False

    def doubt_premises(self) -> bool:
        return False

    def windows(self) -> Sequence[int]:
        return DEMAND.windows_of(self.length)

    def extent(self) -> int:
        return self.length

    def look_back(self, window: int, /) -> None:
        self.asked.append(window)


@dataclass(frozen=True, slots=True)
class Said:
    windows: Windows
    settled: bool = True
    sets: tuple[frozenset[int], ...] = (frozenset({1}),)


def asked_of(lengths: Sequence[int], answers: Sequence[Said]) -> tuple[Said, list[list[int]]]:
    """What is answered where the windows are answered so, and what each run was asked for."""
    runs, waiting = [Run(length) for length in lengths], list(answers)
    with Corrections() as solver:
        found = widest_answer(runs, solver, lambda _windows: waiting.pop(0))
    return found, [run.asked for run in runs]


@pytest.mark.parametrize(
    ("length", "answers", "asked", "answer"),
    [
        (642, [(True, 1)], [642], 0),
        (642, [(True, 0)], [642], 0),
        (642, [(False, 1)], [642], 0),
        (642, [(False, 0), (True, 1), (True, 1)], [642, 100, 300], 2),
        (90, [(False, 0)], [90], 0),
        (2000, [(True, 1)] * 4, [100, 300, 1000, 2000], 3),
        (2000, [(True, 1), (True, 1), (False, 0)], [100, 300, 1000], 1),
        (2000, [(False, 1)], [100], 0),
        (2000, [(True, 1), (True, 0), (True, 0), (True, 0)], [100, 300, 1000, 2000], 0),
        (2000, [(True, 0), (True, 1), (True, 1), (False, 1)], [100, 300, 1000, 2000], 2),
    ],
    ids=[
        "short: whole", "short: nothing could repair it", "short: a part", "short: too large",
        "shorter than any window", "all are settled", "the third is too large",
        "the first is not settled", "a wider one has no set", "only the first has no set",
    ],
)  # fmt: skip
def test_the_widest_that_was_settled_answers(
    length: int, answers: list[tuple[bool, int]], asked: list[int], answer: int
) -> None:
    said = [
        Said((at,), settled, (frozenset({1}),) * sets) for at, (settled, sets) in enumerate(answers)
    ]
    found, (windows,) = asked_of([length], said)
    assert (windows, found) == (asked, said[answer])


def test_a_short_input_is_whole_while_the_others_widen() -> None:
    _, asked = asked_of([50, 2000], [Said(())] * 4)
    assert asked == [[50] * 4, [100, 300, 1000, 2000]]


@pytest.mark.parametrize(
    ("sizes", "instructions", "clauses"),
    [
        ([(100, 1_000)], 300, 3_000),
        ([(100, 1_000), (200, 4_000)], 400, 16_000),
        ([(100, 1_000), (200, 1_000)], 400, 2_000),
        ([(100, 0)], 300, 0),
        ([(100, 0), (300, 0)], 1000, 0),
    ],
    ids=["in proportion", "as a square", "no less than in proportion", "none", "none twice"],
)
def test_what_a_wider_formula_will_be(
    sizes: list[tuple[int, int]], instructions: int, clauses: int
) -> None:
    assert foretold_clauses(sizes, instructions) == pytest.approx(clauses)


def test_no_window_is_begun_that_will_be_far_larger_than_the_last() -> None:
    """An answer of more clauses than are solved in seconds may be had, but is nobody's wish who has one."""
    run, sizes = Run(9000), {100: 5_000, 300: 30_000, 1000: 200_000}
    with Corrections() as solver:

        def ask(windows: Windows) -> Said:
            solver.encoding.gates.size = sizes[windows[0]]
            return Said(windows)

        assert widest_answer([run], solver, ask).windows == (1000,)
    assert foretold_clauses([(300, 30_000), (1000, 200_000)], 3000) < LOGIC.clauses


def test_no_window_is_begun_when_the_time_is_up() -> None:
    run = Run(2000)
    with Corrections() as solver:

        def ask(windows: Windows) -> Said:
            solver.begin(0.0)
            return Said(windows)

        assert widest_answer([run], solver, ask).windows == (100,)
    assert run.asked == [100]
