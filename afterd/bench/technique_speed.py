"""``afterd bench rank``: how long the statement-level techniques take on a large matrix."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from afterd.localization.ranking import worst_places
from afterd.localization.spectrum import Entity, EntityKind, Run, Spectrum, spectrum_of
from afterd.localization.techniques import TECHNIQUES, StatementLevel
from afterd.model.location import Location

FAILED = 20  # every so many-th test


@dataclass(frozen=True, slots=True)
class Speed:
    """Seconds from a matrix to scores, and from there to places."""

    technique: str
    scores: float
    places: float


def speeds(tests: int, statements: int, density: float) -> Iterator[Speed]:
    """Every statement-level technique on a random matrix of which ``density`` is executed."""
    spectrum = random_spectrum(tests, statements, density)
    for name, technique in TECHNIQUES.items():
        if isinstance(technique, StatementLevel):
            began = time.perf_counter()
            scores = technique(spectrum).scores
            scored = time.perf_counter()
            worst_places(scores)
            yield Speed(name, scored - began, time.perf_counter() - scored)


def random_spectrum(tests: int, statements: int, density: float) -> Spectrum:
    """The same matrix every time; every FAILED-th test failed."""
    chance = np.random.default_rng(4)
    size = int(tests * statements * density)
    cells = (chance.integers(0, tests, size), chance.integers(0, statements, size))
    executed = sparse.coo_array((np.ones(size, np.int64), cells), shape=(tests, statements))
    place = Location("f.c", 1)
    return spectrum_of(
        [Run(f"t{i}", failed=i % FAILED == 0) for i in range(tests)],
        [Entity(EntityKind.STATEMENT, place)] * statements,
        executed.tocsr(),
    )
