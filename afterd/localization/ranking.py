"""From scores to places: what to look at first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from afterd.localization.spectrum import Entity, Spectrum, Vector
from afterd.localization.techniques import Suspicion

# Scores this close are one score: formulas of different counts reach the same value by different
# roundings, and a tie must not be broken by the last bit.
TIE = 1e-10

Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Place:
    """An entity's place in a ranking: ``rank`` entities have this score or a higher one."""

    rank: int
    score: float
    entity: Entity
    confidence: float | None = None


def worst_places(scores: Vector) -> Places:
    """Per score its place from 1, highest score first; ties share the worst place among them."""
    order, group = _tie_groups(scores)
    last = np.cumsum(np.bincount(group)) if scores.size else np.zeros(0, np.int64)
    places = np.empty(scores.size, dtype=np.int64)
    places[order] = last[group]
    return places


def best_places(scores: Vector) -> Places:
    """Per score its place from 1, highest score first; ties share the best place among them."""
    return scores.size + 1 - worst_places(-scores)


def rank(spectrum: Spectrum, suspicion: Suspicion) -> tuple[Place, ...]:
    """The scored entities, most suspicious first; ties in source order, then as their columns."""
    places = worst_places(suspicion.scores)

    def place(i: int) -> Place:
        confidence = None if suspicion.confidence is None else float(suspicion.confidence[i])
        entity = spectrum.entities[suspicion.columns[i]]
        return Place(int(places[i]), float(suspicion.scores[i]), entity, confidence)

    found = map(place, range(places.size))
    return tuple(
        sorted(found, key=lambda p: (p.rank, p.entity.location.file, p.entity.location.line))
    )


def _tie_groups(scores: Vector) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The order of descending scores, and along it the number of each score's group of ties."""
    order = np.argsort(-scores, kind="stable")
    descending = scores[order]
    starts = ~np.isclose(descending[1:], descending[:-1], rtol=TIE, atol=0.0)
    return order, np.concatenate(([0], np.cumsum(starts))).astype(np.intp)[: scores.size]
