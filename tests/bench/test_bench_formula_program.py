"""The formula bench on a program: build flags, and what is said where there is no answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from afterd.bench.formula import failing_runs
from afterd.bench.siemens_layout import Subject
from afterd.cli.bench import command
from afterd.execution.toolchain import find
from afterd.limits import FormulaLimits
from afterd.localization.formula.bugassist import bugassist
from afterd.localization.formula.conbas import conbas
from afterd.localization.formula.on_demand import on_demand
from afterd.logic import Corrections, MaxSat
from afterd.symbolic import Bounds, FailingRun, Input, Program, Shown, load
from afterd.symbolic.observing import Event, Expectation

ADDS = """\
#include <stdio.h>
#include <stdlib.h>
int main(int count, char **words)
{
    int sum = atoi(words[1]) + BONUS;
    printf("%d\\n", sum);
    return count - 2;
}
"""
JUMPS = """\
#include <setjmp.h>
#include <stdio.h>
int main(void)
{
    jmp_buf place;
    printf("%d\\n", setjmp(place));
    return 0;
}
"""
LOOPS = "int main(void) { for (;;) ; }\n"
SILENT = "int main(void) { return 0; }\n"


def program(text: str, folder: Path) -> Program:
    folder.mkdir()
    (folder / "p.c").write_text(text)
    return load([folder / "p.c"], find(), folder)


def test_flags_of_the_build_reach_the_spectra_and_the_formulas(tmp_path: Path) -> None:
    """Without them there is no BONUS; the fault is in the line that has it."""
    for name, text in (("source", ADDS), ("versions/v1", ADDS.replace("+ BONUS", "- BONUS"))):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "p.c").write_text(text)
    (tmp_path / "testplans").mkdir()
    (tmp_path / "testplans" / "universe").write_text("1\n2\n")
    asked = ["formula", str(tmp_path), "--cflags", "-DBONUS=2", "--format", "json", "--inputs", "1"]
    done = CliRunner().invoke(command, asked)
    assert done.exit_code == 0, done.output
    [row] = json.loads(done.stdout)["rows"]
    assert {row["techniques"][name]["rank"] for name in ("BA", "OFC+CW")} == {1.0}


def test_a_golden_run_that_cannot_be_followed_is_said(tmp_path: Path) -> None:
    golden, faulty = program(JUMPS, tmp_path / "golden"), program(SILENT, tmp_path / "faulty")
    found = failing_runs(Subject((), tmp_path), [""], golden, faulty, FormulaLimits())
    assert found[0] == []
    assert found[1].startswith("the golden version cannot be followed: ")
    assert "setjmp" in found[1]


def test_no_run_is_executed_that_is_longer_than_one_that_was_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They come by their lengths; each of 130 that hang would take some ten seconds."""
    golden, loops = program(SILENT, tmp_path / "golden"), program(LOOPS, tmp_path / "faulty")
    executed = []
    once = Program.run

    def counted(
        self: Program, given: Input, wanted: Callable[[], Expectation | None] | None = None
    ) -> Shown:
        executed.append(self)
        return once(self, given, wanted)

    monkeypatch.setattr(Program, "run", counted)
    short = replace(loops, bounds=Bounds(instances=1_000))
    found = failing_runs(Subject((), tmp_path), ["1", "2", "3"], golden, short, FormulaLimits())
    assert found == ([], "it cannot be followed: the run has more than 1000 instructions")
    assert executed == [golden, short]


def test_an_empty_set_says_why(tmp_path: Path) -> None:
    """No statement of the program can print what it has no statement for."""
    wanted = Expectation((Event("%d\n", (12,)),), 0)
    run = FailingRun(program(SILENT, tmp_path / "p"), Input(()), wanted)
    with Corrections() as solver, closing(MaxSat()) as hitting:
        answers = bugassist([run], solver), on_demand([run], solver), conbas(run, solver, hitting)
    assert [answer.diagnoses for answer in answers] == [(), (), ()]
    assert all(answer.reason for answer in answers)
