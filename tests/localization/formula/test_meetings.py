"""Where sides of a branch first meet, and that what is merged there is what the program computes."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from formula_programs import loaded

from afterd.localization.formula.bugassist import bugassist
from afterd.localization.formula.on_demand import on_demand
from afterd.logic import Corrections
from afterd.symbolic.failing import FailingRun
from afterd.symbolic.meetings import meetings
from afterd.symbolic.unrolling import PLAIN, Program
from afterd.symbolic.world import Input
from afterd.trace.c.ir import cfg

SHAPES = {
    # 0 branches to 1 and 2, which meet in 3
    "a diamond": ([[1, 2], [3], [3], []], {0: 3}),
    # if (a && b) 2; 3: the else part is met first, then what follows both
    "a conjunction": ([[1, 3], [2, 3], [4], [4], []], {0: 3, 1: 4}),
    # for (1; body 2) { if (2) { if (3) return (6) } 4 } 5
    "a return in a loop": ([[1], [2, 5], [3, 4], [6, 4], [1], [6], []], {1: 5, 2: 4, 3: 6}),
    # while (1) { if (2) continue (1); if (3) break (5); 4 } 5
    "continue and break": ([[1], [2, 5], [1, 3], [5, 4], [1], []], {1: 5, 2: 1, 3: 5}),
    # do 1 while (2); 3
    "the branch behind a body": ([[1], [2], [1, 3], []], {2: 3}),
    # switch with a case that falls through: 1 and 2 meet in 2, the rest in 4
    "a case that falls through": ([[1, 2, 3], [2], [4], [4], []], {0: 2}),
    # two functions' ends: they meet only at the return
    "two returns": ([[1, 2], [], []], {0: -1}),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_sides_meet_where_the_next_statement_is(shape: str) -> None:
    edges, expected = SHAPES[shape]
    flow = cfg.analyse(edges)
    found = meetings(edges, flow.headers, flow.postdominator)
    assert {block: found[block] for block in expected} == expected


BODIES = {
    "a search that returns": """
        for (i = 0; i < 4; i++) {
            if (table[i] == x && i > y)
                return judged(i, k);
            if (table[i] == y) { r += i; if (r > x) return judged(r, k); }
        }
        return judged(r + 10, k);""",
    "continue and break": """
        while (i < 4) {
            i++;
            if (x > i) { if (y == i) continue; r += 2; }
            if (y > 2 && i > 2) break;
            if (x == 0 || r > 3) r += i; else r--;
        }
        return judged(r, k);""",
    "a switch that falls through": """
        for (i = 0; i < 3; i++) {
            switch (x + i) {
            case 1: r += 5;
            case 2: r += y; break;
            case 3: if (y > 1) return judged(r * 2, k);
            default: r++;
            }
        }
        return judged(r, k);""",
    "returns within a condition": """
        if (x > 0 && y < 4) {
            if (x < 2)
                return judged(y > 1 ? 7 : 8, k);
            if (x == 3 && y == 1)
                return judged(11, k);
        }
        return judged(5, k);""",
    "loops within loops": """
        for (i = 0; i < 2; i++) {
            for (j = 0; j < 2; j++) {
                if (x == j) goto out;
                if (y == i) break;
                r += 3;
            }
            r += j;
        }
        out: return judged(r + i, k);""",
}
PROGRAM = """\
#include <assert.h>
static const int table[] = {2, 0, 1, 3};
static int judged(int r, int k) { assert(r == k); return 0; }
int P(int x, int y, int k)
{
    int i = 0, j = 0, r = 0;
    (void)j; (void)table;
%s
}
"""


@pytest.mark.parametrize("name", BODIES)
def test_a_formula_of_one_run_says_what_every_other_run_computes(name: str, tmp_path: Path) -> None:
    """All paths of one input, with other inputs: the assertion can hold just where it does."""
    file = tmp_path / "shape.c"
    file.write_text(PROGRAM % BODIES[name])
    program = loaded(file, "P")
    every = [(x, y) for x in range(5) for y in range(5)]
    longest = max(every, key=lambda given: _length(program, given))
    failing = FailingRun(program, Input((*map(str, longest), "99")))
    assert failing.length
    formula = failing.all_paths()
    with Corrections() as solver:
        encoded = solver.encoding.encode(formula, with_path=True)
        names = {given.step: at for at, given in enumerate(formula.inputs)}
        for (x, y), k in product(every, (0, 3, 8)):
            values = (x, y, k)
            chosen = [
                bit if values[names[step]] >> place & 1 else -bit
                for step, word in encoded.inputs.items()
                for place, bit in enumerate(word)
            ]
            held = solver.values([*encoded.hard, *encoded.statements.values(), *chosen], [])
            passed = program.run(Input(tuple(map(str, values)))).ending in PLAIN
            assert (held is not None) == passed, values


@pytest.mark.parametrize("name", BODIES)
def test_on_demand_finds_the_sets_of_all_paths(name: str, tmp_path: Path) -> None:
    """Also where the run goes past the place at which sides meet that it did not take."""
    file = tmp_path / "shape.c"
    file.write_text(PROGRAM % BODIES[name])
    program = loaded(file, "P")
    for x, y in ((4, 4), (3, 0), (0, 2)):
        given = Input((str(x), str(y), "17"))
        with Corrections() as solver:
            every = bugassist([FailingRun(program, given)], solver)
            few = on_demand([FailingRun(program, given)], solver)
        same = min(every.finished, few.finished)
        assert same
        sets = [{d for d in report.diagnoses if len(d) <= same} for report in (every, few)]
        assert sets[0] == sets[1], (x, y)


def _length(program: Program, given: tuple[int, int]) -> int:
    return program.run(Input((*map(str, given), "99"))).instances


SEARCH = """\
#include <assert.h>
static const int table[] = {9, 8, 7, 6, 5, 4, 3, 2, 1, 10, 11, 12};
static int place(int x, int y)
{
    int at;
    for (at = 0; at < 12; at++)
        if (table[at] == x && table[11 - at] != y)
            return at;
    return -1;
}
int P(int x, int y) { assert(place(x, y) > 20); return 0; }
"""


def test_a_search_that_returns_costs_as_much_as_its_rounds(tmp_path: Path) -> None:
    """Each round's two conditions were executed once for every way through the rounds before: 2^12."""
    file = tmp_path / "search.c"
    file.write_text(SEARCH)
    failing = FailingRun(loaded(file, "P"), Input(("20", "5")))
    with Corrections() as solver:
        report = bugassist([failing], solver)
    assert ("search.c", 9) in report.lines
    assert report.instructions < 6 * failing.length
