"""Programs past all-paths encodings: loops of thousands of rounds, recursion, floats."""

from __future__ import annotations

from pathlib import Path

import pytest
from formula_programs import changed, loaded, named, numbers, program

from afterd.localization.formula.bugassist import bugassist
from afterd.localization.formula.on_demand import on_demand
from afterd.logic.correction import Corrections
from afterd.logic.program_formula import TooLargeError
from afterd.symbolic.failing import FailingRun
from afterd.symbolic.world import Input

NAME = "far"


@pytest.fixture
def failing(tmp_path: Path) -> FailingRun:
    good = program(NAME)
    given = Input(("6000",))
    bad = loaded(changed(NAME, {"scaled = scaled - 5": "scaled = scaled - 4"}, tmp_path))
    return FailingRun(bad, given, good.run(given).expectation)


def test_all_paths_give_up_and_say_why(failing: FailingRun) -> None:
    with Corrections() as solver:
        report = bugassist([failing], solver)
    assert report.reason.startswith("gives up: the run alone has")
    assert not report.diagnoses


def test_on_demand_still_answers(failing: FailingRun) -> None:
    with Corrections() as solver:
        solver.begin(90.0)  # on a busy machine CPU time doubles
        report = on_demand([failing], solver, {}, size=1)
    lines = [line for line in report.lines if line[1] in numbers(NAME)]
    assert named(NAME, lines) == {1}
    assert any("are concrete" in note for note in report.notes)


def test_no_formula_is_begun_or_gone_on_with_when_its_time_is_up(failing: FailingRun) -> None:
    looked: list[int] = []

    def over() -> bool:
        looked.append(1)
        return len(looked) > 20

    failing.over = over
    assert failing.length > 80_000
    assert not looked  # what the test itself did is executed whole
    with pytest.raises(TooLargeError, match="the time for it is up"):
        failing.on_demand(())
    assert len(looked) == 21


@pytest.mark.parametrize(
    ("change", "fault"),
    [({"gust + 4;": "gust + 5;"}, 3), ({"a > b": "a > b + 9"}, 1), ({"best = 2": "best = 3"}, 5)],
    ids=["data", "control", "value"],
)
def test_what_was_computed_before_the_window_may_be_wrong(
    tmp_path: Path, change: dict[str, str], fault: int
) -> None:
    """The fault was executed long before terms are kept; in one case by a side that was not taken."""
    good, given = program("early"), Input(("22",))
    bad = loaded(changed("early", change, tmp_path))
    failing = FailingRun(bad, given, good.run(given).expectation, window=300)
    with Corrections() as solver:
        solver.begin(90.0)
        report = on_demand([failing], solver, {}, size=1)
    found = named("early", [line for line in report.lines if line[1] in numbers("early")])
    assert fault in found
    assert 2 not in found  # it has no influence
    assert any("instructions of the run are concrete" in note for note in report.notes)
