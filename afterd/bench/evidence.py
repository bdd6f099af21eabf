"""What was known in cases whose fault is known: ``data/evidence.json``, and the odds fitted to it.

A case's rows are written by running it (``afterd bench calibrate --gather``); ``afterd/odds.json`` is what
was fitted to them, with its date and figures (``--save``), and what ``weights.ODDS`` reads.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path

from afterd.bench.calibration import Fit
from afterd.bench.choices import Choice, KnownCase, Row
from afterd.bench.facts import DATA
from afterd.weights import ODDS_FILE

EVIDENCE = DATA / "evidence.json"


def known_cases(path: Path = EVIDENCE) -> list[KnownCase]:
    """The cases of a file; none where there is no file."""
    if not path.exists():
        return []
    table = json.loads(path.read_text(encoding="utf-8"))
    return [KnownCase(each["case"], each["project"], _choices(each["choices"])) for each in table]


def keep(cases: Iterable[KnownCase], path: Path = EVIDENCE) -> None:
    """Write cases into a file, in the place of those of the same name; a line a choice."""
    known = {each.case: each for each in (*known_cases(path), *cases)}
    lines = (_line(known[name]) for name in sorted(known))
    path.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


def project_of(case: str) -> str:
    """The program that a case is of: a fixture, or a package (its name's first word)."""
    return case.partition("/")[0] if "/" in case else case.partition("-")[0]


def save(fit: Fit, path: Path = ODDS_FILE) -> None:
    """Write fitted odds, with what they were fitted to and how well."""
    figures = {
        "date": date.today().isoformat(),
        "cases": fit.cases,
        "projects": fit.projects,
        "width": fit.width,
        "log_likelihood": {
            "chosen": round(fit.chosen, 4),
            "fitted": round(fit.within, 4),
            "left_out": round(fit.left_out, 4),
        },
    }
    odds = {name: float(f"{value:.3g}") for name, value in fit.odds.items()}
    text = json.dumps({**figures, "odds": odds}, indent=2)
    path.write_text(text + "\n", encoding="utf-8")


def _line(case: KnownCase) -> str:
    rows = [
        [[dict(row.signs), row.innocent, row.guilty] for row in choice.rows]
        for choice in case.choices
    ]
    return json.dumps({"case": case.case, "project": case.project, "choices": rows})


def _choices(table: Iterable[Iterable[tuple[Mapping[str, float], int, int]]]) -> tuple[Choice, ...]:
    return tuple(Choice(tuple(Row(*row) for row in rows)) for rows in table)
