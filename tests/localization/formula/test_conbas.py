"""The examples of CONBAS: ``numfun`` (Fig. 1), and the circuit c17."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from formula_programs import changed, loaded, named, printed, program

from afterd.localization.formula.conbas import conbas
from afterd.logic.correction import Corrections
from afterd.logic.maxsat import MaxSat
from afterd.symbolic.failing import FailingRun
from afterd.symbolic.world import Input

Solvers = tuple[Corrections, MaxSat]


@pytest.fixture(scope="module")
def solvers() -> Iterator[Solvers]:
    hitting = MaxSat()
    with Corrections() as solver:
        yield solver, hitting
    hitting.close()


def test_numfun(solvers: Solvers) -> None:
    run = FailingRun(program("numfun", "numfun"), Input(("2", "2", "3", "3", "2")), printed(12, 12))
    found = conbas(run, *solvers)
    assert [named("numfun", each) for each in found.slices] == [{1, 2, 3, 4, 6}]
    assert len(found.candidates) == 5
    assert named("numfun", found.result) == {1, 2, 3, 6}
    assert found.reduction == pytest.approx(0.2)


def test_two_faults_of_numfun(solvers: Solvers, tmp_path: Path) -> None:
    """With x and z wrong both outputs are, and no single statement explains them."""
    file = changed("numfun", {"x = a * c": "x = a + c", "z = c * e": "z = c + e"}, tmp_path)
    run = FailingRun(loaded(file, "numfun"), Input(("2", "2", "3", "3", "2")), printed(10, 12))
    found = conbas(run, *solvers)
    lines = {named("numfun", each) for each in found.diagnoses}
    assert len(found.slices) == 2
    assert {3, 5} in lines
    assert named("numfun", found.result) >= {3, 5}


GATES = {
    10: "n10 = NAND(n1, n3)",
    11: "n11 = NAND(n3, n6)",
    16: "n16 = NAND(n2, n11)",
    19: "n19 = NAND(n11, n7)",
    22: "n22 = NAND(n10, n16)",
    23: "n23 = NAND(n16, n19)",
}


def c17(n1: int, n2: int, n3: int, n6: int, n7: int) -> tuple[int, int, int]:
    """The circuit, written down a second time."""
    n10, n11 = 1 - (n1 & n3), 1 - (n3 & n6)
    n16, n19 = 1 - (n2 & n11), 1 - (n11 & n7)
    return 1 - (n10 & n16), 1 - (n16 & n19), n19


def faulty_circuits(directory: Path) -> Iterator[tuple[int, int, FailingRun]]:
    """(faulty gate, wrong outputs, failing run): each gate an OR, on every input that shows it."""
    for gate, text in GATES.items():
        file = changed("c17", {text: text.replace("NAND", "").replace(", ", " | ")}, directory)
        circuit = loaded(file, "c17")
        for bits in product((0, 1), repeat=5):
            given = Input(tuple(map(str, bits)))
            shown = [event.values[0] for event in circuit.run(given).events]
            wrong = sum(a != b for a, b in zip(shown, c17(*bits), strict=True))
            if wrong:
                yield gate, wrong, FailingRun(circuit, given, printed(*c17(*bits)))


def test_circuit_c17(solvers: Solvers, tmp_path: Path) -> None:
    """The fault is always in the reduced slice. (On c432 the paper finds that more wrong outputs
    reduce more. c17 has two outputs and six gates: two wrong outputs are explained by more pairs.)
    """
    reductions: dict[int, list[float]] = {}
    for gate, wrong, run in faulty_circuits(tmp_path):
        if len(reductions.setdefault(wrong, [])) >= 12:
            continue
        found = conbas(run, *solvers)
        assert gate in named("c17", found.result)
        reductions[wrong].append(found.reduction)
    means = {wrong: sum(given) / len(given) for wrong, given in sorted(reductions.items())}
    print({wrong: f"{mean:.0%}" for wrong, mean in means.items()})  # noqa: T201 - the figure asked for
    assert set(means) == {1, 2, 3}
    assert all(mean > 0.2 for mean in means.values())
