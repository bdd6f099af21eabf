"""Lines in the order in which to look at them, with what is known of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from afterd.localization.examination import Line
from afterd.localization.ranking import worst_places
from afterd.localization.spectrum import EntityKind, Spectrum
from afterd.localization.votes.votes import Votes
from afterd.model.change import Change, ChangeId, FileKind

SourceText = Callable[[Line], str]


@dataclass(frozen=True, slots=True)
class RankedPlace:
    """A line: ``rank`` lines are at least as suspicious; ``change`` is the one that stands on it;
    ``votes`` are its places by the techniques that a ranking was fused from.
    """

    rank: int
    score: float
    file: str
    line: int
    function: str = ""
    confidence: float | None = None
    change: ChangeId = ""
    text: str = ""
    votes: Mapping[str, float] = field(default_factory=dict)


def ranked_lines(
    spectrum: Spectrum, votes: Votes, changed: Mapping[Line, ChangeId], text: SourceText
) -> tuple[RankedPlace, ...]:
    """The lines that a technique voted on, most suspicious first; ties in source order.

    Changed lines that a failed run executed stand above all others, in the technique's order among
    themselves: what was green before is more likely to have been broken there.
    """
    lines = sorted(votes.scores)
    reached = _reached_lines(spectrum) if changed else frozenset()
    preferred = np.array([line in changed and line in reached for line in lines], np.bool_)
    places = _places(np.array([votes.scores[line] for line in lines]), preferred)
    functions = _functions(spectrum)
    return tuple(
        RankedPlace(
            rank=int(places[at]),
            score=votes.scores[lines[at]],
            file=lines[at][0],
            line=lines[at][1],
            function=functions.get(lines[at], ""),
            confidence=votes.confidence.get(lines[at]),
            change=changed.get(lines[at], "") if preferred[at] else "",
            text=text(lines[at]),
            votes=votes.parts.get(lines[at], {}),
        )
        for at in np.argsort(places, kind="stable")
    )


def _places(
    scores: np.ndarray[tuple[int], np.dtype[np.float64]],
    preferred: np.ndarray[tuple[int], np.dtype[np.bool_]],
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Worst places, the preferred before the others."""
    places = np.empty(scores.size, np.int64)
    places[preferred] = worst_places(scores[preferred])
    places[~preferred] = worst_places(scores[~preferred]) + int(preferred.sum())
    return places


def changed_lines(changes: Iterable[Change]) -> dict[Line, ChangeId]:
    """The lines of the bad version that a change stands on; around a deletion, both neighbours."""
    found: dict[Line, ChangeId] = {}
    for change in changes:
        if change.kind is FileKind.SOURCE:
            start = change.new.start
            lines = range(start, start + (change.new.count or 2))
            found.update({(change.file, line): change.id for line in lines})
    return found


def _reached_lines(spectrum: Spectrum) -> frozenset[Line]:
    """Lines that a failed run executed."""
    executed = np.flatnonzero(spectrum.totals(spectrum.failed))
    places = (spectrum.entities[column].location for column in executed)
    return frozenset((place.file, place.line) for place in places)


def _functions(spectrum: Spectrum) -> dict[Line, str]:
    places = (entity.location for entity in spectrum.entities if entity.kind is not EntityKind.EDGE)
    return {(place.file, place.line): place.function for place in places}
