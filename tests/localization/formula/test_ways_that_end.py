"""A way on which the program ends within other branches: nothing that is behind those is asked of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from formula_programs import loaded

from afterd.localization.formula.bugassist import bugassist
from afterd.localization.formula.on_demand import on_demand
from afterd.logic import Corrections
from afterd.symbolic.failing import FailingRun
from afterd.symbolic.observing import Event, Expectation
from afterd.symbolic.world import Input

HEAD = "#include <stdio.h>\n#include <stdlib.h>\n"
WITHIN = """\
int main(int argc, char **argv)
{
    int a = atoi(argv[1]), b = atoi(argv[2]);
    if (a > 0) {
        if (b > 5) {
            printf("big\\n");
            exit(3);
        }
        a = a + 1;
    }
    printf("%d\\n", a);
    return 0;
}
"""
CALLED = """\
static void check(int b)
{
    if (b > 5) {
        printf("big\\n");
        exit(3);
    }
}
int main(int argc, char **argv)
{
    int a = atoi(argv[1]), b = atoi(argv[2]);
    while (a > 0) {
        if (a == 1)
            check(b);
        a = a - 1;
    }
    printf("%d\\n", a);
    return 0;
}
"""


@pytest.mark.parametrize("text", [WITHIN, CALLED], ids=["within a branch", "in a function"])
@pytest.mark.parametrize("technique", [bugassist, on_demand])
def test_what_is_behind_is_not_asked_of_what_ended(
    text: str, technique: object, tmp_path: Path
) -> None:
    """With ``b > 3`` it would have ended where it should have; the output that followed is not asked then."""
    assert callable(technique)
    file = tmp_path / "ends.c"
    file.write_text(HEAD + text)
    lines = (HEAD + text).splitlines()
    fault = next(at for at, line in enumerate(lines, start=1) if "if (b > 5)" in line)
    run = FailingRun(loaded(file), Input(("1", "4")), Expectation((Event("big\n", ()),), 3))
    with Corrections() as solver:
        report = technique([run], solver)
    single = {s.location.line for found in report.diagnoses if len(found) == 1 for s in found}
    assert fault in single, report
