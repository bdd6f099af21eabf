"""Programs of several modules, and what they read."""

from __future__ import annotations

from pathlib import Path

import pytest
from formula_programs import compiler, loaded

from afterd.localization.formula.bugassist import bugassist
from afterd.logic.correction import Corrections
from afterd.symbolic.failing import FailingRun
from afterd.symbolic.observing import Event, Expectation
from afterd.symbolic.refusal import NotFollowedError
from afterd.symbolic.unrolling import load
from afterd.symbolic.world import Input

MAIN = """\
#include <stdio.h>
int other(int value);
static int count = 1;
static int twice(int value) { return 2 * value + count; }
int main(void) { printf("first %d\\n", twice(3)); return other(4); }
"""
OTHER = """\
#include <stdio.h>
static int count = 100;
static int twice(int value) { count++; return value + count; }
int other(int value) { printf("second %d\\n", twice(value)); printf("not @twice\\n"); return 0; }
"""
READING = """\
#include <stdio.h>
int main(int argc, char **argv)
{
    int value = 1;
    if (argc > 1)
        scanf("%d", &value);
    printf("%d\\n", value);
    return 0;
}
"""


def test_static_names_of_two_modules_are_two_things(tmp_path: Path) -> None:
    sources = [tmp_path / "main.c", tmp_path / "other.c"]
    for source, text in zip(sources, (MAIN, OTHER), strict=True):
        source.write_text(text)
    shown = load(sources, compiler(), tmp_path).run(Input())
    assert [event.values for event in shown.events] == [(7,), (105,), ()]
    assert [event.what for event in shown.events][2].strip() == "not @twice"


def test_what_came_through_a_pipe_is_not_nothing(tmp_path: Path) -> None:
    file = tmp_path / "reading.c"
    file.write_text(READING)
    program = loaded(file)
    piped = Input(("x",), stdin_known=False)
    with pytest.raises(NotFollowedError, match="pipe"):
        program.run(piped)
    assert program.run(Input((), stdin_known=False)).events == program.run(Input()).events
    assert program.run(Input(("x",), b"5")).events[0] == Event("%d\n", (5,))


def test_outputs_that_depend_on_branches_cost_no_more_than_their_number(tmp_path: Path) -> None:
    """Where a program is in its output was known path by path: 2^30 of them here."""
    file = tmp_path / "rows.c"
    rows = "".join(f'    if (value > {at}) puts("row");\n' for at in range(30))
    file.write_text(f"#include <stdio.h>\nvoid rows(int value)\n{{\n{rows}}}\n")
    program = loaded(file, "rows")
    shown = program.run(Input(("7",)))
    expected = Expectation(program.run(Input(("6",))).events)
    formula, _ = program.formula(Input(("7",)), expected, lambda _branch: True, shown.instances)
    sides = FailingRun(program, Input(("7",)), expected)
    with Corrections() as solver:
        report = bugassist([sides], solver)
    assert formula.violated
    assert ("rows.c", 10) in report.lines  # if (value > 6)


GUARDED = """\
#include <stdlib.h>
static int size, listed;
int repOk(void)
{
    return size == listed;
}
int main(int argc, char **argv)
{
    listed = argc - 1;
    for (int at = 1; at < argc; at++)
        if (atoi(argv[at]) > 0)
            size++;
    return 0;
}
"""


def test_an_invariant_is_asked_when_main_returns(tmp_path: Path) -> None:
    file = tmp_path / "guarded.c"
    file.write_text(GUARDED)
    program = loaded(file)
    assert program.run(Input(("1", "-2"))).ending == "it ended"
    program.invariant = "repOk"
    assert program.run(Input(("1", "2"))).ending == "it ended"
    assert program.run(Input(("1", "-2"))).ending == "the invariant repOk does not hold"
    with Corrections() as solver:
        report = bugassist([FailingRun(program, Input(("1", "-2")))], solver)
    assert ("guarded.c", 11) in report.lines
