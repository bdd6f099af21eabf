"""The same matrix ranked by independent implementations: FauxPy and FLITSR, both on PyPI.

Neither is a dependency, and what they pull in should stay out of a development environment. FauxPy's formulas
need nothing else, so its wheel alone is installed for this file, in a folder of its own. FLITSR needs
recordclass, which has no wheel and is built by a C compiler for 15 seconds: where it is not installed its tests are
skipped, and counted. To run all of them:
``python -m venv V && V/bin/pip install fauxpy flitsr hypothesis pytest-xdist -e .`` and then
``V/bin/python -m pytest tests/localization/test_cross_check.py``.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy import sparse

from afterd.localization.formats.files import write_matrix
from afterd.localization.ranking import worst_places
from afterd.localization.spectrum import Counts, Entity, EntityKind, Run, Spectrum, spectrum_of
from afterd.localization.techniques import TECHNIQUES
from afterd.model.location import Location

FAUXPY = "fauxpy==0.7.0"
NOT_INSTALLED = "the independent implementation is not installed (see this file's docstring)"
Score = Callable[[float, float, float, float], float]


def random_matrix(seed: int) -> Spectrum:
    """40 tests, a quarter of them failed, and 60 statements of different popularity."""
    chance = np.random.default_rng(seed)
    popularity = chance.uniform(0.05, 1.0, 60)
    hits = (chance.uniform(size=(40, 60)) < popularity).astype(np.int64)
    failed = chance.permutation(40) < 10
    return spectrum_of(
        [Run(f"t{i}", bool(red)) for i, red in enumerate(failed)],
        [Entity(EntityKind.STATEMENT, Location("f.c", n, function="f")) for n in range(1, 61)],
        sparse.csr_array(hits),
    )


def places_of(n: Counts, score: Score) -> list[int]:
    columns = zip(n.ef, n.ep, n.nf, n.np, strict=True)
    places: list[int] = worst_places(np.array([score(*column) for column in columns])).tolist()
    return places


@pytest.fixture(scope="module")
def fauxpy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """FauxPy can be imported: it is installed, or its wheel is for a while."""
    if find_spec("fauxpy") is not None:
        yield
        return
    folder = str(tmp_path_factory.mktemp("fauxpy"))
    line = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", folder, FAUXPY]
    if subprocess.run(line, check=False, capture_output=True).returncode:
        pytest.skip(NOT_INSTALLED)
    sys.path.append(folder)
    yield
    sys.path.remove(folder)
    for module in [name for name in sys.modules if name.partition(".")[0] == "fauxpy"]:
        del sys.modules[module]  # other files ask whether it is installed


def fauxpy_scores(name: str) -> Score:
    """FauxPy's formula, with its ε taken away (it adds 0.1 to every denominator)."""
    sbfl = "fauxpy.fault_localization.sbfl"
    module: ModuleType = pytest.importorskip(f"{sbfl}.metric_{name}", reason=NOT_INSTALLED)
    metric = getattr(module, f"Metric{name.capitalize()}")(1e-300)
    score: Score = metric.compute
    return score


@pytest.mark.usefixtures("fauxpy")
@pytest.mark.parametrize("name", ["tarantula", "ochiai", "dstar"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_fauxpy_ranks_alike(name: str, seed: int) -> None:
    spectrum = random_matrix(seed)
    ours = TECHNIQUES[name](spectrum)
    theirs = places_of(spectrum.counts(spectrum.units), fauxpy_scores(name))
    assert worst_places(ours.scores).tolist() == theirs


@pytest.mark.parametrize("name", ["tarantula", "jaccard", "ochiai", "sbi", "dstar", "naish2"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_flitsr_ranks_alike(name: str, seed: int) -> None:
    suspicious = pytest.importorskip("flitsr.suspicious", reason=NOT_INSTALLED).Suspicious

    def theirs(ef: float, ep: float, nf: float, np_: float) -> float:
        return float(suspicious(ef, ef + nf, ep, ep + np_).execute(name))

    spectrum = random_matrix(seed)
    ours = TECHNIQUES[{"naish2": "op2"}.get(name, name)](spectrum)
    assert worst_places(ours.scores).tolist() == places_of(spectrum.counts(spectrum.units), theirs)


@pytest.mark.parametrize("name", ["m.tcm", "."])
def test_flitsr_counts_alike_what_we_write(tmp_path: Path, name: str) -> None:
    reader = pytest.importorskip("flitsr.input.input_reader", reason=NOT_INSTALLED).Input
    spectrum = random_matrix(4)
    write_matrix(spectrum, tmp_path / name)
    read = reader.read_in(str(tmp_path / name))
    theirs = {
        int(element.line): (read.f[group], read.p[group])
        for group in read.groups()
        for element in group
    }
    n = spectrum.counts(spectrum.units)
    assert theirs == dict(enumerate(zip(n.ef, n.ep, strict=True), start=1))
