"""A run that ends where the fault is: what would have come after it is executed as the repaired run would be."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from formula_programs import loaded

from afterd.localization.formula.bugassist import bugassist
from afterd.localization.formula.on_demand import on_demand
from afterd.logic import Corrections
from afterd.symbolic.failing import FailingRun
from afterd.symbolic.observing import Event, Expectation
from afterd.symbolic.world import Input

WRONG = 'if (strcmp(words[at], "-v") != 0)'
TEXT = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int count, char **words)
{
    int at = 1, loud = 0, first = 0, sum = 0;
    while (at < count - 1) {
        WRONG
            loud = 1;
        else if (strcmp(words[at], "-f") == 0 && at + 2 < count)
            first = atoi(words[++at]);
        else
            return 2;
        at++;
    }
    while (words[at][first] != 0) {
        int digit = words[at][first] - '0';
        if (digit > 9)
            break;
        if (digit == 7)
            sum++;
        sum += digit;
        first++;
    }
    if (loud)
        printf("to %d\\n", first);
    printf("sum %d\\n", sum);
    return 0;
}
""".replace("WRONG", WRONG)
LINE = next(at for at, line in enumerate(TEXT.splitlines(), start=1) if WRONG in line)
SHOULD = Expectation((Event("to %d\n", (8,)), Event("sum %d\n", (37,))), 0)
GIVEN = Input(("-v", "12345678"))


def run_in(directory: Path, forced: int) -> FailingRun:
    file = directory / "soon.c"
    file.write_text(TEXT)
    program = loaded(file)
    program.bounds = replace(program.bounds, forced=forced)
    return FailingRun(program, GIVEN, SHOULD)


def test_what_was_forced_least_says_what_would_have_been(tmp_path: Path) -> None:
    for technique in (bugassist, on_demand):
        with Corrections() as solver:
            found = technique([run_in(tmp_path, 20_000)], solver)
        assert {LINE} in [{s.line[1] for s in one} for one in found.diagnoses], found


def test_sides_within_a_forced_one_have_bounds_of_their_own(tmp_path: Path) -> None:
    run = run_in(tmp_path, 400)
    with Corrections() as solver:
        found = bugassist([run], solver)
    assert found.instructions > run.length + 400
    assert {LINE} in [{s.line[1] for s in one} for one in found.diagnoses], found


REFUSED = """\
#include <stdio.h>
#include <string.h>
static int sum;
static void add(const char *text)
{
    for (; *text != 0; text++) {
        int digit = *text - '0';
        if (digit > 5)
            sum = sum + 2 * digit;
        else if (digit == 3)
            sum = sum - 1;
        else
            sum = sum + digit;
    }
}
int main(int count, char **words)
{
    int at, loud = 0;
    for (at = 1; at < count; at++) {
        if (strcmp(words[at], "-v") == 0)
            loud = 1;
        else {
            printf("usage\\n");
            return 2;
        }
    }
    add("1234567812345678");
    if (loud)
        printf("loud\\n");
    printf("sum %d\\n", sum);
    return 0;
}
"""


def test_what_would_have_come_after_has_only_the_sides_that_are_asked_for(tmp_path: Path) -> None:
    """On demand: all sides of the rest of a program were in the first formula of a run that ended at once."""
    versions = []
    for name, text in (("good", REFUSED), ("bad", REFUSED.replace('"-v") == 0', '"-v") != 0'))):
        (tmp_path / f"{name}.c").write_text(text)
        versions.append(loaded(tmp_path / f"{name}.c"))
    good, bad = versions
    given = Input(("-v",))
    run = FailingRun(bad, given, good.run(given).expectation)
    first, whole = run.on_demand(()), run.all_paths()
    assert run.extent_repaired > first.instances > run.length
    assert first.instances < 0.7 * whole.instances
    with Corrections() as one, Corrections() as other:
        every, few = bugassist([run], one), on_demand([run], other)
    assert few.clauses < every.clauses
    assert set(few.diagnoses) == set(every.diagnoses)
    line = next(at for at, text in enumerate(REFUSED.splitlines(), 1) if "strcmp" in text)
    assert line in {statement.line[1] for one in few.diagnoses for statement in one}


def test_what_would_have_come_after_has_names_of_its_own(tmp_path: Path) -> None:
    """No step of what comes after the run is one of the run as well."""
    (tmp_path / "p.c").write_text(REFUSED.replace('"-v") == 0', '"-v") == 0 && at + 1 > count'))
    (tmp_path / "good.c").write_text(REFUSED)
    given = Input(("-v", "-v"))
    expectation = loaded(tmp_path / "good.c").run(given).expectation
    steps = [
        definition.step
        for formula in [FailingRun(loaded(tmp_path / "p.c"), given, expectation).all_paths()]
        for definition in formula.definitions
    ]
    assert len(steps) == len(set(steps))
