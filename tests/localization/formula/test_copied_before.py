"""What the library copied before terms are kept was made from what it was given, as what a statement stores is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from formula_programs import loaded

from afterd.localization.formula.bugassist import bugassist
from afterd.localization.formula.on_demand import on_demand
from afterd.logic import Corrections
from afterd.symbolic.failing import FailingRun
from afterd.symbolic.observing import Event, Expectation
from afterd.symbolic.world import Input

TEXT = """\
#include <stdio.h>
#include <string.h>
static char kept[64];
static void keep(const char *text)
{
    memmove(kept, text, strlen(text));
}
int main(int argc, char **argv)
{
    int at, sum = 0;
    const char *from = argv[1] + 2;
    keep(from);
    for (at = 0; at < 400; at++)
        sum += at % 3;
    if (kept[0] == 'b')
        sum++;
    printf("%d\\n", sum);
    return 0;
}
"""
WRONG = next(at for at, line in enumerate(TEXT.splitlines(), start=1) if "+ 2;" in line)


@pytest.mark.parametrize("technique", [bugassist, on_demand])
def test_from_where_was_copied_is_a_suspect(technique: object, tmp_path: Path) -> None:
    assert callable(technique)
    file = tmp_path / "copied.c"
    file.write_text(TEXT)
    program = loaded(file)
    program.bounds = replace(program.bounds, symbolic=300)
    run = FailingRun(program, Input(("abcd",)), Expectation((Event("%d\n", (400,)),), 0))
    assert run.length > 1000
    with Corrections() as solver:
        report = technique([run], solver)
    single = {s.location.line for found in report.diagnoses if len(found) == 1 for s in found}
    assert WRONG in single, report
