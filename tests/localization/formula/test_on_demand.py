"""The example of Jin and Orso (Fig. 2), through the encoder of C programs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from formula_programs import loaded, named, program, sets

from afterd.bench.formula_work import Watched
from afterd.localization.formula.bugassist import bugassist
from afterd.localization.formula.conbas import ReducedSlice, combined_slices
from afterd.localization.formula.on_demand import on_demand
from afterd.localization.formula.report import Report, mean_covered, ranked_lines
from afterd.localization.formula.several_inputs import (
    allotted,
    combined_places,
    ranked_inputs,
    ruled_out,
)
from afterd.logic.correction import Corrections
from afterd.logic.program_formula import Statement
from afterd.model.location import Location
from afterd.symbolic.failing import FailingRun
from afterd.symbolic.world import Input

NAME = "branches"


@pytest.fixture(scope="module")
def solver() -> Iterator[Corrections]:
    with Corrections() as made:
        yield made


def failing(x: int = 0, y: int = 0) -> FailingRun:
    return FailingRun(program(NAME, "P"), Input((str(x), str(y))))


def test_the_failing_trace_is_the_papers() -> None:
    shown = failing().program.run(failing().given)
    lines = [line for line in shown.lines if line[1] <= 13]
    assert named(NAME, [line for line in lines if line[1] != 14]) == {1, 2, 5, 6}
    assert "__assert_fail" in shown.ending


def test_the_diagnoses_grow_with_the_formula(solver: Corrections) -> None:
    report = on_demand([failing()], solver)
    history = [sets(NAME, found) for found in report.history]
    assert history[0] == {frozenset({6}), frozenset({5})}
    assert history[-1] == {frozenset({6}), frozenset({5, 8})}
    assert report.complete


def test_two_of_the_four_paths_are_encoded() -> None:
    formula = failing().on_demand({side.branch for side in failing().on_demand(()).frontier[1:]})
    assert len(formula.frontier) == 1  # the other side of statement 1


def test_all_paths_give_the_same_diagnoses(solver: Corrections) -> None:
    every, few = bugassist([failing()], solver), on_demand([failing()], solver)
    assert sets(NAME, every.diagnoses) == sets(NAME, few.diagnoses)


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [(3, 7, {frozenset({8}), frozenset({5, 6})}), (-3, 0, {frozenset({6}), frozenset({5, 8})})],
)
def test_other_inputs(solver: Corrections, x: int, y: int, expected: set[frozenset[int]]) -> None:
    for technique in (bugassist, on_demand):
        assert sets(NAME, technique([failing(x, y)], solver).diagnoses) == expected


ROUNDS = """\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int limit = atoi(argv[1]), sum = 1, at;
  for (at = 0; at < 12; at++) {
    if (at > limit)
      sum += at;
    else
      sum -= 1;
  }
  printf("%d\\n", sum);
  return 0;
}
"""


def test_on_demand_touches_no_more_than_all_paths_where_they_are_few(tmp_path: Path) -> None:
    """A formula that has to grow would have taken them in at once: gauge and tariff executed half as much again."""
    programs = {}
    for name, first in (("good", "0"), ("bad", "1")):
        file = tmp_path / name / "rounds.c"
        file.parent.mkdir()
        file.write_text(ROUNDS.replace("sum = 1", f"sum = {first}"))
        programs[name] = loaded(file)
    given = Input(("5",))
    expected = programs["good"].run(given).expectation
    reports, touched = [], []
    for technique in (bugassist, on_demand):
        with Corrections() as solver:
            watched = Watched(FailingRun(programs["bad"], given, expected))
            reports.append(technique([watched], solver))
            touched.append((watched.instructions, solver.encoding.size))
    assert set(reports[0].diagnoses) == set(reports[1].diagnoses)
    assert reports[1].diagnoses
    assert touched[1] == touched[0]


def test_several_inputs_both_ways(solver: Corrections) -> None:
    inputs = [failing(0, 0), failing(4, 1)]
    common = combined_places([on_demand([run], solver) for run in inputs])
    assert named(NAME, common) == {5, 6, 8}
    together = on_demand(inputs, solver)
    assert sets(NAME, together.diagnoses) == {frozenset({6}), frozenset({5, 8})}
    mixed = on_demand([failing(0, 0), failing(0, 9)], solver)
    assert set(mixed.diagnoses) == set(bugassist([failing(0, 0), failing(0, 9)], solver).diagnoses)
    assert sets(NAME, mixed.diagnoses) == {frozenset(two) for two in ((6, 8), (5, 8), (5, 6))}


def test_weights_decide_the_order(solver: Corrections) -> None:
    run = failing()
    lines = {s.line for d in on_demand([run], solver).diagnoses for s in d}
    weights = {line: 100 if named(NAME, [line]) == {6} else 10 for line in lines}
    report = on_demand([run], solver, weights)
    assert sets(NAME, report.diagnoses[:1]) == {frozenset({5, 8})}
    places = ranked_lines(report)
    last = max(places, key=lambda line: places[line])
    assert named(NAME, [last]) == {6}


def test_what_repairs_every_input_alone_comes_before_what_needs_a_second_statement() -> None:
    alone, one, other = (Statement(Location("f.c", line)) for line in (1, 2, 3))
    first = Report("BA", (frozenset({alone}), frozenset({one}), frozenset({other})), finished=2)
    second = Report("BA", (frozenset({alone}), frozenset({one, other})), finished=2)
    assert combined_places([first, second]) == {("f.c", 1): 1, ("f.c", 2): 2.5, ("f.c", 3): 2.5}
    assert ranked_lines(second) == {("f.c", 1): 1, ("f.c", 2): 2.5, ("f.c", 3): 2.5}


def test_what_an_input_lacks_that_was_not_asked_to_the_end_is_not_behind_what_it_names_last() -> (
    None
):
    fault, *others = (Statement(Location("f.c", line)) for line in range(1, 7))
    settled = Report(
        "BA+CW", tuple(frozenset({one}) for one in (fault, *others)), weights={}, finished=1
    )
    cheapest_first = {statement.line: at for at, statement in enumerate((fault, *others))}
    settled = replace(settled, weights={line: 1 + at for line, at in cheapest_first.items()})
    cut_off = replace(settled, diagnoses=(frozenset({others[-1]}),), finished=0)
    unsaid = Statement(Location("f.c", 7))
    assert combined_places([settled, cut_off])[fault.line] == 1
    assert combined_places([settled, replace(cut_off, finished=1)])[fault.line] == 2
    assert (
        combined_places([settled, replace(cut_off, diagnoses=(frozenset({unsaid}),))])[unsaid.line]
        == 7
    )


def test_what_an_input_rules_out_that_is_settled_explains_not_all_failures() -> None:
    one, other, third = (Statement(Location("f.c", line)) for line in (1, 2, 3))
    first = Report("BA+CW", (frozenset({one}), frozenset({other})), finished=1)
    second = Report("BA+CW", (frozenset({other}), frozenset({third})))
    assert ruled_out(ranked_inputs([first])) == set()
    assert ruled_out(ranked_inputs([first, second])) == {third.line}
    assert ruled_out(ranked_inputs([first, replace(second, finished=1)])) == set()
    nothing, gave_up = Report("BA+CW", finished=1), Report("BA+CW", reason="gives up")
    assert ruled_out(ranked_inputs([second, nothing])) == {other.line, third.line}
    assert ruled_out(ranked_inputs([first, gave_up])) == set()
    assert (mean_covered([nothing]), mean_covered([gave_up])) == (1, 0)
    assert combined_places([first, nothing]) == combined_places([first])


def test_a_slice_of_a_part_of_a_run_says_nothing_of_what_it_lacks() -> None:
    whole = ReducedSlice(diagnoses=(frozenset({("f.c", 1)}), frozenset({("f.c", 2)})))
    part = ReducedSlice(diagnoses=(frozenset({("f.c", 2)}), frozenset({("f.c", 3)})), covered=0.5)
    assert combined_slices([whole, replace(part, covered=1.0)]) == {
        ("f.c", 2): 1,
        ("f.c", 1): 2.5,
        ("f.c", 3): 2.5,
    }
    assert combined_slices([whole, part]) == {("f.c", 2): 1, ("f.c", 1): 2, ("f.c", 3): 3}


def test_what_an_input_did_not_use_is_the_next_ones() -> None:
    spent = [5.0]
    given = []
    for name, seconds, at_last in allotted("abc", 30.0, lambda: sum(spent)):
        given.append((name, seconds, at_last))
        spent.append(20.0 if name == "b" else 4.0)
    assert given == [("a", 10.0, 30.0), ("b", 13.0, 26.0), ("c", 6.0, 6.0)]


def test_single_statements_have_all_the_time_there_is() -> None:
    """With its own part used up there are no pairs, and a sentence; with no time at all there is nothing."""
    with Corrections() as solver:
        solver.begin(0.0, at_last=90.0)
        report = bugassist([failing()], solver)
        assert sets(NAME, report.diagnoses) == {frozenset({6})}
        assert (report.finished, report.reason) == (1, "time-out")
        solver.begin(0.0)
        assert bugassist([failing()], solver).diagnoses == ()
