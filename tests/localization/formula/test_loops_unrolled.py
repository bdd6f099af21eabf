"""How far loops are unrolled: as often as the run went around them anywhere, and once more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from formula_programs import loaded, printed

from afterd.localization.formula.bugassist import bugassist
from afterd.localization.formula.on_demand import on_demand
from afterd.localization.formula.report import Report
from afterd.logic.correction import Corrections
from afterd.symbolic.failing import FailingRun
from afterd.symbolic.world import Input

WORDS = """
#include <stdio.h>
static const char *at;
static int spaces;

static int next(void)
{
    int taken = 1;
    while (*at == ' ') {
        at++;
        spaces++;
    }
    if (*at == '\\0')
        return 0;
    if (*at == '!')
        taken = 4;
    at += taken;
    return 1;
}

int main(int argc, char **argv)
{
    int count = 0;
    at = argv[argc - 1];
    while (next())
        count++;
    printf("%d\\n", count);
    printf("%d\\n", spaces);
    return 0;
}
"""


@pytest.mark.parametrize("technique", [bugassist, on_demand])
def test_a_repair_goes_around_a_loop_as_often_as_the_run_did_elsewhere(
    technique: Callable[..., Report], tmp_path: Path
) -> None:
    """lexicon, `F_OP_4`: the repaired run skips three spaces where the run was at the end of its input already."""
    file = tmp_path / "words.c"
    file.write_text(WORDS)
    wrong = 1 + WORDS.splitlines().index("        taken = 4;")
    run = FailingRun(loaded(file), Input(("x   !   y",)), printed(3, 6))
    assert run.length
    assert run.shown is not None
    with Corrections() as solver:
        alone = [d for d in technique([run], solver).diagnoses if len(d) == 1]
    assert wrong in {statement.location.line for (statement,) in alone}


def test_a_loop_that_runs_on_is_unrolled_as_often_as_it_was_there(tmp_path: Path) -> None:
    """Where all paths with so many rounds are too many, those with one round more are asked about."""
    file = tmp_path / "words.c"
    file.write_text(WORDS)
    run = FailingRun(loaded(file), Input(("x   !   y",)), printed(3, 6))
    every = run.all_paths().instances
    assert run.shown is not None
    own = replace(run, shown=replace(run.shown, rounds={}))
    fewer = own.all_paths().instances
    assert fewer < every
    run.program.bounds = replace(run.program.bounds, total=fewer)
    assert run.all_paths().instances == fewer
