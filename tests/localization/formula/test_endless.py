"""A run that never ends, of which what it showed wrongly is explained."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from formula_programs import loaded

from afterd.localization.formula.bugassist import bugassist
from afterd.localization.formula.on_demand import on_demand
from afterd.logic import Corrections
from afterd.symbolic import TooLongError
from afterd.symbolic.failing import FailingRun
from afterd.symbolic.observing import Event, Expectation
from afterd.symbolic.world import Input

TEXT = """\
#include <stdio.h>
int main(int count, char **words)
{
    int at = 1;
    while (at < count) {
        printf("%s\\n", words[at]);
        SHOWN
    }
    printf("%d\\n", at);
    return 0;
}
"""
SHOULD = Expectation((Event("%s\n", (b"one",)), Event("%d\n", (2,))), 0)


def run_of(directory: Path, statement: str) -> FailingRun:
    file = directory / "endless.c"
    file.write_text(TEXT.replace("SHOWN", statement))
    program = loaded(file)
    program.bounds = replace(program.bounds, instances=5_000)
    return FailingRun(program, Input(("one",)), SHOULD)


def test_the_statement_that_should_have_gone_on_is_named(tmp_path: Path) -> None:
    for technique in (bugassist, on_demand):
        run = run_of(tmp_path, "at = at + 0;")
        assert run.length < 100
        with Corrections() as solver:
            found = technique([run], solver)
        lines = {s.line[1] for one in found.diagnoses if len(one) == 1 for s in one}
        assert lines == {7}, found


def test_one_that_shows_nothing_wrong_is_too_long(tmp_path: Path) -> None:
    with pytest.raises(TooLongError):
        _ = run_of(tmp_path, "at = 2; while (1) count++;").length
