"""Variables of calls that are over: nothing reads them, so that sides of branches need not agree on them."""

from __future__ import annotations

from pathlib import Path

from formula_programs import loaded

from afterd.model.term import Apply, Op
from afterd.symbolic.failing import FailingRun
from afterd.symbolic.observing import Event, Expectation
from afterd.symbolic.world import Input

TEXT = """\
#include <stdio.h>
#include <stdlib.h>
static int computed(int number)
{
    int one = number + 1;
    int two = one * number;
    int three = two - one;
    int sum = one + two + three;
    return sum;
}
int main(int count, char **words)
{
    int number = count > 1 ? atoi(words[1]) : 0, found = 0;
    if (number > 4)
        found = computed(number);
    printf("%d\\n", found);
    return 0;
}
"""


def test_sides_do_not_choose_what_the_locals_of_a_call_that_is_over_hold(tmp_path: Path) -> None:
    """A sheet of cells whose formulas call each other: 350,000 such choices, of which nothing was made."""
    file = tmp_path / "locals.c"
    file.write_text(TEXT)
    run = FailingRun(loaded(file), Input(("5",)), Expectation((Event("%d\n", (55,)),), 0))
    assert run.length
    chosen = [
        definition
        for definition in run.all_paths().definitions
        if definition.statement is None
        and isinstance(definition.term, Apply)
        and definition.term.op is Op.ITE
    ]
    assert len(chosen) < 3, chosen
