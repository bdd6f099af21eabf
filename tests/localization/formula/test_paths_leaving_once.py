"""All paths may be too many where there are loops and calls; those that leave the run's way once at a time are few."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from formula_programs import loaded

from afterd.limits import DEMAND
from afterd.localization.formula.bugassist import bugassist
from afterd.localization.formula.report import Line, Report
from afterd.logic import Corrections, Found, ProgramFormula, TooLargeError
from afterd.symbolic.failing import FailingRun
from afterd.symbolic.frames import Bounds
from afterd.symbolic.observing import Event, Expectation
from afterd.symbolic.world import Input

TEXT = """\
#include <stdio.h>
static int worth(int letter)
{
    if (letter == 'x')
        return 10;
    if (letter == 'v')
        return 4;
    return letter == 'i';
}
static int read(const char *at)
{
    int sum = 0;
    while (*at != 0) {
        int here = worth(*at), next = worth(at[1]);
        if (here < next)
            sum -= here;
        else
            sum += here;
        at++;
    }
    return sum;
}
int main(int argc, char **argv)
{
    int at;
    for (at = 1; at < argc; at++)
        printf("%d\\n", read(argv[at]));
    return 0;
}
"""
WRONG = next(at for at, line in enumerate(TEXT.splitlines(), start=1) if "return 4;" in line)
BOUNDS = Bounds()
SHOULD = Expectation((Event("%d\n", (2,)), Event("%d\n", (14,)), Event("%d\n", (6,))), 0)


def run_of(directory: Path, bounds: Bounds = BOUNDS) -> FailingRun:
    file = directory / "letters.c"
    file.write_text(TEXT)
    program = loaded(file)
    program.bounds = bounds
    return FailingRun(program, Input(("ii", "xiv", "vi")), SHOULD)


def single(report: Report) -> set[Line]:
    return {s.line for found in report.diagnoses if len(found) == 1 for s in found}


def test_they_answer_where_all_paths_are_too_many(tmp_path: Path) -> None:
    every = run_of(tmp_path)
    few = run_of(tmp_path, replace(BOUNDS, total=every.paths_leaving_once().instances))
    with pytest.raises(TooLargeError):
        few.all_paths()
    with Corrections() as solver:
        wanted = bugassist([every], solver)
    with Corrections() as solver:
        found = bugassist([few], solver)
    assert found.instructions < wanted.instructions
    assert ("letters.c", WRONG) in single(found)
    assert single(found) <= single(wanted)  # each repairs the input
    assert "paths that leave the run's way once at a time" in found.reason
    assert found.finished == 0  # so that nobody takes them for all


def test_a_long_run_is_asked_about_from_its_end(tmp_path: Path) -> None:
    run = run_of(tmp_path, replace(BOUNDS, symbolic=300))
    assert run.length > 300
    with Corrections() as solver:
        found = bugassist([run], solver)
    assert ("letters.c", WRONG) in single(found)
    assert f"the run alone has {run.length} instructions" in found.reason
    assert "the last 300 of" in found.reason
    assert 0 < found.covered < 1


def test_what_cannot_be_had_at_all_is_said(tmp_path: Path) -> None:
    run = run_of(tmp_path, replace(BOUNDS, total=1, sides=0))
    with Corrections() as solver:
        found = bugassist([run], solver)
    assert not found.diagnoses
    assert found.reason == "gives up: its paths have more instructions than are encoded"


def test_that_no_statement_repairs_by_them_is_said(tmp_path: Path) -> None:
    """sheet, `F_MISS_1`: all 671 instructions were asked about to the end, and it said that it gave up."""
    other = Expectation((Event("%d of %d\n", (2, 3)),), 0)
    every = replace(run_of(tmp_path), expectation=other)
    bounds = replace(BOUNDS, total=every.paths_leaving_once().instances)
    run = replace(run_of(tmp_path, bounds), expectation=other)
    with Corrections() as solver:
        found = bugassist([run], solver)
    assert not found.diagnoses
    assert found.reason == (
        "no single statement could repair it; only paths that leave the run's way once at a time are asked about:"
        " its paths have more instructions than are encoded"
    )


NESTED = """\
#include <stdio.h>
static int matches(const char *text)
{
    const char *one, *two, *three;
    int sum = 0;
    for (one = text; *one != 0; one++) {
        if (*one == 'a')
            for (two = text; *two != 0; two++) {
                if (*two == *one)
                    for (three = text; *three != 0; three++)
                        if (*three != *two)
                            sum += 3;
            }
    }
    return sum;
}
int main(int argc, char **argv)
{
    if (argc > 1)
        printf("%d\\n", matches(argv[1]));
    return 0;
}
"""


def test_what_they_said_stays_where_the_time_for_all_is_up(tmp_path: Path) -> None:
    file = tmp_path / "nested.c"
    file.write_text(NESTED)
    run = FailingRun(loaded(file), Input(("ab",)), Expectation((Event("%d\n", (2,)),), 0))
    assert run.all_paths().instances > (1 + DEMAND.factor) * run.length
    with Corrections() as solver:
        solver.begin(0.0, 60.0)  # what few paths say has all the time, and all paths none
        found = bugassist([run], solver)
    wrong = next(at for at, line in enumerate(NESTED.splitlines(), start=1) if "sum += 3;" in line)
    assert ("nested.c", wrong) in single(found), found
    assert "the time for it is up" in found.reason
    assert found.finished == 0


class Noted(Corrections):
    """A solver that notes how much time each question may take, and what was known before."""

    def enumerate(self, *given: object, **wanted: object) -> Found:
        noted.append((self.left, wanted.get("repairs", ())))
        return super().enumerate(*given, **wanted)  # type: ignore[arg-type]


noted: list[tuple[float, object]] = []


def test_with_an_answer_by_few_paths_an_input_has_its_own_part_of_the_time(tmp_path: Path) -> None:
    """scribe: all paths of the first input took all the time there was, and the second one had no answer."""
    file = tmp_path / "nested.c"
    file.write_text(NESTED)
    run = FailingRun(loaded(file), Input(("ab",)), Expectation((Event("%d\n", (2,)),), 0))
    noted.clear()
    with Noted() as solver:
        solver.begin(60.0, 1_000.0)
        found = bugassist([run], solver)
    (few, nothing), (every, known), *_ = noted
    assert few > 60.0 >= every
    assert not nothing
    assert known
    assert single(found) >= {s.line for one in known for s in one}  # type: ignore[attr-defined]


class TooManyClauses(FailingRun):
    """A run of which few paths are too many clauses."""

    def paths_leaving_once(self) -> ProgramFormula:
        raise TooLargeError("its formula has more clauses than are encoded")


def test_all_paths_are_asked_about_where_few_are_too_many_clauses(tmp_path: Path) -> None:
    file = tmp_path / "nested.c"
    file.write_text(NESTED)
    expected = Expectation((Event("%d\n", (2,)),), 0)
    run = TooManyClauses(loaded(file), Input(("ab",)), expected)
    with Corrections() as solver:
        found = bugassist([run], solver)
    assert found.finished
    assert found.diagnoses
