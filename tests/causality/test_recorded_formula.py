"""Formulas of a recorded run, whatever its language: AFTER's running example."""

from __future__ import annotations

from paper_examples import running_example

from afterd.localization.formula.bugassist import bugassist
from afterd.localization.formula.conbas import conbas
from afterd.localization.formula.on_demand import on_demand
from afterd.localization.formula.recorded import RecordedRun
from afterd.logic.correction import Corrections
from afterd.logic.maxsat import MaxSat


def test_the_running_example() -> None:
    run = running_example()
    subject = RecordedRun(run, run.failures()[0])
    hitting = MaxSat()
    with Corrections() as solver:
        found = on_demand([subject], solver)
        reduced = conbas(subject, solver, hitting)
        assert bugassist([subject], solver).reason.startswith("gives up")
    hitting.close()
    single = {s.location.line for d in found.diagnoses if len(d) == 1 for s in d}
    assert {5, 10} <= single
    assert 12 not in {s.location.line for d in found.diagnoses for s in d}
    assert {line for _, line in reduced.summary} == {1, 4, 5, 7, 9, 10}
    assert {line for _, line in reduced.result} >= {5, 10}
