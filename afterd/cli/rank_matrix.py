"""``afterd rank --import``: the entities of a coverage matrix, most suspicious first."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click

from afterd import __version__
from afterd.cli.rank_text import SCHEMA, finite_score, tables
from afterd.errors import UsageError
from afterd.localization.formats.files import read_matrix, write_matrix
from afterd.localization.ranking import Place, rank
from afterd.localization.spectrum import Spectrum
from afterd.localization.techniques import TECHNIQUES
from afterd.report.sanitize import one_line

ALL = "all"

Rankings = Mapping[str, Sequence[Place]]


def rank_matrix(matrix: Path, export: Path | None, techniques: tuple[str, ...], form: str) -> None:
    """Rank a matrix, and write it in another format where asked."""
    spectrum = read_matrix(matrix)
    if export is not None:
        write_matrix(spectrum, export)
    rankings, lacking = ranked_by_technique(spectrum, techniques)
    if form == "json":
        click.echo(json.dumps(document(str(matrix), spectrum, rankings, lacking)))
    else:
        click.echo("\n".join(lines(spectrum, rankings, lacking)))


def ranked_by_technique(
    spectrum: Spectrum, names: Sequence[str]
) -> tuple[Rankings, Mapping[str, str]]:
    """The rankings by technique, and what the techniques that could not rank lack.

    Where no test failed there are no rankings. Raises UsageError where none can rank.
    """
    wanted = list(TECHNIQUES) if ALL in names else list(dict.fromkeys(names))
    for name in wanted:
        if name not in TECHNIQUES:
            raise UsageError(
                f"{name} ranks the lines of a suite, not a matrix; leave out --import."
            )
    lacks = {name: TECHNIQUES[name].lacks(spectrum) for name in wanted}
    lacking = {name: what for name, what in lacks.items() if what}
    if not spectrum.failed.any():
        return {}, lacking
    able = [name for name in wanted if name not in lacking]
    if not able:
        name, what = next(iter(lacking.items()))
        raise UsageError(f"{name} needs {what}, which this matrix does not have.")
    return {name: rank(spectrum, TECHNIQUES[name](spectrum)) for name in able}, lacking


def document(
    source: str, spectrum: Spectrum, rankings: Rankings, lacking: Mapping[str, str]
) -> Mapping[str, object]:
    """The JSON contract of ``afterd rank``; schema 1. What is unknown is null."""
    return {
        "schema": SCHEMA,
        "afterd": __version__,
        "matrix": source,
        "tests": len(spectrum.runs),
        "failed": int(spectrum.failed.sum()),
        "entities": len(spectrum.entities),
        "rankings": [
            {"technique": name, "ranking": [_object(place) for place in places]}
            for name, places in rankings.items()
        ],
        "lacking": lacking,
    }


def lines(spectrum: Spectrum, rankings: Rankings, lacking: Mapping[str, str]) -> Iterator[str]:
    """The head of each ranking as text, safe for a terminal."""
    failed = int(spectrum.failed.sum())
    yield f"{len(spectrum.runs)} tests, {failed} failed, {len(spectrum.entities)} entities"
    yield from tables(rankings, _name, lacking, failed)


def _name(place: Place) -> str:
    location = place.entity.location
    where = f"{location} {location.function}".rstrip()
    return one_line(place.entity.name or where)


def _object(place: Place) -> Mapping[str, object]:
    location = place.entity.location
    return {
        "rank": place.rank,
        "score": finite_score(place.score),
        "confidence": place.confidence,
        "file": location.file or None,
        "line": location.line or None,
        "function": location.function or None,
        "kind": place.entity.kind.value,
        "name": place.entity.name or None,
    }
