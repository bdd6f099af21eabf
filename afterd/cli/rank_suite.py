"""The answer of ``afterd rank`` on a repository, as JSON and as text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from afterd import __version__
from afterd.cli.rank_text import SCHEMA, finite_score, tables
from afterd.localization.suite import RankedSuite
from afterd.localization.votes import RankedPlace
from afterd.report.sanitize import clipped_text, one_line

_WIDE = 60


def document(found: RankedSuite) -> str:
    """The JSON contract of a ranked suite; what is unknown is null."""
    content = {
        "schema": SCHEMA,
        "afterd": __version__,
        "id": found.id,
        "suite": found.suite,
        "good": found.good or None,
        "bad": found.bad,
        "tests": len(found.spectrum.runs),
        "failed": int(found.spectrum.failed.sum()),
        "entities": len(found.spectrum.entities),
        "crashes": list(_crashes(found)),
        "rankings": [
            {"technique": name, "ranking": [_object(place) for place in places]}
            for name, places in found.rankings.items()
        ],
        "lacking": dict(found.lacking),
        "notes": list(found.notes),
    }
    return json.dumps(content)


def _crashes(found: RankedSuite) -> Iterator[Mapping[str, object]]:
    """The tests that died of a signal at a known place."""
    for run in found.spectrum.runs:
        if run.crashed_in >= 0:
            place = found.spectrum.entities[run.crashed_in].location
            yield {"test": run.name, "file": place.file, "line": place.line or None}


def _object(place: RankedPlace) -> Mapping[str, object]:
    return {
        "rank": place.rank,
        "score": finite_score(place.score),
        "confidence": place.confidence,
        "file": place.file,
        "line": place.line or None,
        "function": place.function or None,
        "change": place.change or None,
        "text": place.text or None,
        "votes": dict(place.votes) or None,
    }


def lines(found: RankedSuite) -> Iterator[str]:
    """The head of each ranking with the source lines, safe for a terminal."""
    tests, failed = len(found.spectrum.runs), int(found.spectrum.failed.sum())
    yield one_line(f"{found.suite} at {found.bad[:12]}: {tests} tests, {failed} failed")
    yield from found.notes
    yield from tables(found.rankings, _place_name, found.lacking, failed)


def _place_name(place: RankedPlace) -> str:
    change = f" [{place.change}]" if place.change else ""
    where = one_line(f"{place.file}:{place.line} {place.function}".rstrip())
    votes = ", ".join(f"{name} {at:g}" for name, at in place.votes.items())
    said = f"  ({votes})" if votes else ""
    return f"{where}{change}  {clipped_text(one_line(place.text), _WIDE)}".rstrip() + said
