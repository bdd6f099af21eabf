"""Programs past all-paths encodings: loops of thousands of rounds, recursion, floats."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from formula_programs import changed, loaded, named, numbers, program

from afterd.limits import DEMAND
from afterd.localization.formula.bugassist import bugassist
from afterd.localization.formula.on_demand import on_demand
from afterd.logic.correction import Corrections
from afterd.logic.program_formula import TooLargeError
from afterd.symbolic.failing import FailingRun
from afterd.symbolic.observing import Event, Expectation
from afterd.symbolic.world import Input

NAME = "far"


def far(tmp_path: Path, rounds: int) -> FailingRun:
    good = program(NAME)
    given = Input((str(rounds),))
    bad = loaded(changed(NAME, {"scaled = scaled - 5": "scaled = scaled - 4"}, tmp_path))
    return FailingRun(bad, given, good.run(given).expectation)


@pytest.fixture
def failing(tmp_path: Path) -> FailingRun:
    return far(tmp_path, 6000)


def test_all_paths_are_not_asked_about_and_it_is_said(failing: FailingRun) -> None:
    with Corrections() as solver:
        solver.begin(20.0)
        report = bugassist([failing], solver)
    assert "the run alone has" in report.reason
    assert "asked about the last" in report.reason
    lines = [line for line in report.lines if line[1] in numbers(NAME)]
    assert named(NAME, lines) == {1}


@pytest.mark.parametrize("rounds", [1000, 6000])
def test_on_demand_still_answers(tmp_path: Path, rounds: int) -> None:
    """The last 6,000 of 14,000 instructions fit what a formula may be, and are not solved in minutes."""
    failing = far(tmp_path, rounds)
    with Corrections() as solver:
        solver.begin(90.0)  # on a busy machine CPU time doubles
        report = on_demand([failing], solver, {}, size=1)
    lines = [line for line in report.lines if line[1] in numbers(NAME)]
    assert named(NAME, lines) == {1}
    assert any("are concrete" in note for note in report.notes)
    assert report.complete
    assert report.clauses < DEMAND.most
    assert (
        failing.window < 3_000
    )  # of 1.7 million clauses: a minute and more, where this has an answer


@pytest.mark.parametrize(
    ("rounds", "part"),
    [(1000, r" \(asked about the last [1-9]00 of 14,336 instructions\)"), (20, "")],
)
def test_an_answer_that_is_none_says_what_it_was_asked_about(
    tmp_path: Path, rounds: int, part: str
) -> None:
    """A text is shown where a number should be: no statement repairs that."""
    given = Input((str(rounds),))
    bad = loaded(changed(NAME, {'printf("%d\\n", scaled)': 'puts("none")'}, tmp_path))
    failing = FailingRun(bad, given, program(NAME).run(given).expectation)
    with Corrections() as solver:
        report = on_demand([failing], solver)
    assert not report.diagnoses
    assert re.fullmatch(f"no set of up to 5 statements could repair it{part}", report.reason)


def test_what_is_before_a_window_is_executed_once(tmp_path: Path) -> None:
    """A formula that goes on from the beginning of its window is the one of a whole execution."""
    failing = far(tmp_path, 300)
    narrow, *_, wide = [window for window in failing.windows() if window < failing.length]
    kept = failing.program.beginnings
    for window in (narrow, wide):
        failing.look_back(narrow)
        failing.on_demand(())
        assert all(machine.instances == start - 1 for start, machine in kept.items())
        assert len(kept) == len(failing.windows()) - 1
        failing.look_back(window)
        going_on, traced = failing.on_demand(()), failing.trace()
        kept.clear()
        assert failing.on_demand(()) == going_on
        assert failing.trace() == traced


def test_what_was_settled_in_a_narrower_window_is_the_answer_when_the_time_is_up(
    failing: FailingRun,
) -> None:
    """The time ends while a later window is executed: the first that is long enough for a look at it."""
    executions: list[int] = []
    with Corrections() as solver:

        def over() -> bool:
            if failing.window not in executions:
                executions.append(failing.window)
            if len(executions) > 1:
                solver.begin(0.0)
            return solver.over

        failing.over = over
        report = on_demand([failing], solver, {}, size=1)
    assert executions == [100, 300]
    assert 1 in named(NAME, [line for line in report.lines if line[1] in numbers(NAME)])
    assert report.complete


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


def test_where_sides_meet_the_time_is_looked_at(tmp_path: Path) -> None:
    """A few hundred instructions, the sides of which write thousands of cells that have to be chosen from."""
    file = tmp_path / "wide.c"
    file.write_text(
        "#include <stdio.h>\n#include <string.h>\nstatic char kept[4096];\n"
        "int main(int count, char **words)\n{\n"
        "    if (count > 1 && words[1][0] == 'x')\n        memset(kept, 1, sizeof kept);\n"
        '    printf("%d\\n", kept[7]);\n    return 0;\n}\n'
    )
    run = FailingRun(loaded(file), Input(("y",)), Expectation((Event("%d\n", (1,)),), 0))
    assert run.length < DEMAND.looks
    assert run.all_paths().instances < DEMAND.looks
    run.over = lambda: True
    with pytest.raises(TooLargeError, match="the time for it is up"):
        run.all_paths()


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
    bad.bounds = replace(bad.bounds, symbolic=300)
    failing = FailingRun(bad, given, good.run(given).expectation)
    with Corrections() as solver:
        solver.begin(90.0)
        report = on_demand([failing], solver, {}, size=1)
    found = named("early", [line for line in report.lines if line[1] in numbers("early")])
    assert fault in found
    assert 2 not in found  # it has no influence
    assert any("instructions of the run are concrete" in note for note in report.notes)
