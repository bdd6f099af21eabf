"""SAT-TAR's example: ``delete`` of a linked list with one and with two faults (Listing 1)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from formula_programs import changed, loaded, numbers

from afterd.localization.formula.sat_tar import Round, sat_tar
from afterd.logic.correction import Corrections
from afterd.logic.program_formula import Statement
from afterd.symbolic.failing import FailingRun
from afterd.symbolic.trials import Trials
from afterd.symbolic.world import Input

NAME = "list_delete"
FAULTS = {
    "remove": {"prev->next = lst->next": "prev->next = lst"},
    "header": {"this->header = this->header->next": "this->header = this->header"},
    "size": {"this->size = this->size - 1": "this->size = 0"},
}
LINES = {"remove": 6, "header": 7, "size": 8}


@pytest.fixture
def solver() -> Iterator[Corrections]:
    with Corrections() as made:
        yield made


def in_method(statement: Statement) -> bool:
    return statement.location.line in numbers(NAME)


def localised(faults: list[str], given: Input, solver: Corrections, directory: Path) -> list[Round]:
    changes = {old: new for fault in faults for old, new in FAULTS[fault].items()}
    program = loaded(changed(NAME, changes, directory))
    failing = FailingRun(program, given)
    trials = Trials(failing)
    first = trials.on(given)
    assert first is not None
    assert first.failed
    return sat_tar(failing, first, trials, solver, in_method)


def place(found: Round, fault: str) -> int:
    line = next(at for at, number in numbers(NAME).items() if number == LINES[fault])
    return found.place((f"{NAME}.c", line))


@pytest.mark.parametrize(
    ("fault", "given"),
    [
        ("size", Input(("5", "2", "5", "7", "9"))),
        ("header", Input(("5", "1", "5", "7", "9"))),
        ("remove", Input(("7", "2", "5", "7", "9"))),
    ],
)
def test_one_fault(fault: str, given: Input, solver: Corrections, tmp_path: Path) -> None:
    rounds = localised([fault], given, solver, tmp_path)
    best = min(rounds, key=lambda r: (place(r, fault), r.generated))
    assert place(best, fault) == 1
    assert best.generated <= 4


@pytest.mark.parametrize(
    ("fault", "given"),
    [("header", Input(("5", "1", "5", "7", "9"))), ("size", Input(("7", "3", "5", "7", "9")))],
)
def test_two_faults_apart(fault: str, given: Input, solver: Corrections, tmp_path: Path) -> None:
    """Each failing test localises its own fault: the other's tests violate another condition."""
    rounds = localised(["header", "size"], given, solver, tmp_path)
    conditions = {run.violated for run in rounds[-1].runs if run.violated}
    assert len(conditions) == 1
    assert min(place(r, fault) for r in rounds if r.generated <= 4) <= 2


def test_the_user_stops(solver: Corrections, tmp_path: Path) -> None:
    program = loaded(changed(NAME, FAULTS["header"], tmp_path))
    failing = FailingRun(program, Input(("5", "1", "5", "7", "9")))
    trials = Trials(failing)
    first = trials.on(failing.given)
    assert first is not None
    rounds = sat_tar(failing, first, trials, solver, in_method, lambda r: r.generated < 1)
    assert rounds[-1].generated == 1
    assert len(sat_tar(failing, first, trials, solver, in_method, lambda _: False)) == 1
