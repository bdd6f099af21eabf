"""``afterd bench siemens`` and ``afterd bench rank``: how well, and how fast, techniques rank."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

import click

from afterd.bench.machine import machine, sentence
from afterd.bench.siemens import faulty_versions
from afterd.bench.siemens_layout import Subject, subject
from afterd.bench.tables import Grid, markdown, text
from afterd.bench.technique_speed import speeds
from afterd.cli.output import errors, write
from afterd.cli.places import output_option
from afterd.execution.runners.reading import jobs as cores
from afterd.execution.scratch import scratch
from afterd.execution.toolchain import find
from afterd.localization.siemens import CHECKPOINTS, Effectiveness, table
from afterd.report.sanitize import visible_text

_format = click.option(
    "--format",
    "form",
    type=click.Choice(["text", "md", "json"]),
    default="text",
    show_default=True,
    help="How the table is written.",
)


def _words(_context: click.Context, _parameter: click.Parameter, given: str) -> tuple[str, ...]:
    return tuple(shlex.split(given))


cflags_option = click.option(
    "--cflags", default="", metavar="FLAGS", callback=_words,
    help="What the compiler is given for every version, such as '-DSIZE=2 -std=gnu89'.",
)  # fmt: skip


def say_missing(found: Subject) -> None:
    """Tell which tests are left out because the file that they read is not there."""
    if found.missing:
        first, count = found.missing[0], len(found.missing)
        said = f"Left out {count} tests whose input file is missing, the first: {first}"
        errors().print(visible_text(said), markup=False, soft_wrap=True)


@click.command("siemens")
@click.argument("directory", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Versions at the same time.")
@cflags_option
@_format
@output_option
def siemens(
    directory: Path, jobs: int | None, cflags: tuple[str, ...], form: str, output: Path | None
) -> None:
    """Score every technique on a folder of faulty versions.

    DIRECTORY has the layout of the Siemens programs and of SIR: source, versions, testplans/universe.

    Example: afterd bench siemens fixtures/schedule-lab
    """
    found, versions = subject(directory, cflags), []
    say_missing(found)
    with (
        scratch() as place,
        closing(faulty_versions(found, find(), place, jobs or int(cores()))) as measured,
    ):
        for version in measured:
            failed = int(version.spectrum.failed.sum())
            line = f"{version.name}: {failed} of {len(version.spectrum.runs)} tests fail"
            errors().print(visible_text(line), markup=False)
            versions.append(version)
    rows, facts = table(versions), machine()
    if form == "json":
        content = {"bench": "siemens", "machine": facts, "rows": [_row(row) for row in rows]}
        write(json.dumps(content, indent=2) + "\n", output)
        return
    grids = _grids(f"siemens {directory.name}: {sentence(facts)}", rows)
    write(markdown(grids) if form == "md" else text(grids), output)


def _row(row: Effectiveness) -> Mapping[str, object]:
    unscored = math.isnan(row.mean)
    located = {f"{point:.0%}": None if unscored else share for point, share in row.located.items()}
    return {
        "technique": row.technique,
        "located": located,
        "mean": None if unscored else row.mean,
        "deviation": row.deviation,
        "efforts": dict(row.efforts),
        "left_out": dict(row.left_out),
    }


def _grids(title: str, rows: Sequence[Effectiveness]) -> list[Grid]:
    """Table II, a technique a row; and what was left out."""
    scored = [row for row in rows if row.efforts]
    points = [f"{point:.0%}" for point in CHECKPOINTS]
    effects = Grid(
        title,
        ["technique", *points, "mean", "deviation", "versions"],
        [
            [
                row.technique,
                *(f"{row.located[point]:.0%}" for point in CHECKPOINTS),
                f"{row.mean:.1%}",
                f"{row.deviation:.1%}",
                str(len(row.efforts)),
            ]
            for row in scored
        ],
    )
    reasons = {(name, why): None for row in rows for name, why in row.left_out.items()}
    return [effects, Grid("Left out", ["version", "why"], [list(r) for r in reasons], words=2)]


@click.command("rank")
@click.option("--tests", type=click.IntRange(min=1), default=1_000, show_default=True, metavar="N")
@click.option("--statements", type=click.IntRange(min=1), default=200_000, show_default=True,
              metavar="N")  # fmt: skip
@click.option("--density", type=click.FloatRange(0.0, 1.0), default=0.1, show_default=True,
              metavar="SHARE", help="How much of the matrix was executed.")  # fmt: skip
@_format
@output_option
def rank(*, tests: int, statements: int, density: float, form: str, output: Path | None) -> None:
    """How long each statement-level technique takes on a large random matrix.

    Example: afterd bench rank --tests 1000 --statements 200000
    """
    rows, facts = list(speeds(tests, statements, density)), machine()
    if form == "json":
        content = {"bench": "rank", "machine": facts, "rows": [asdict(row) for row in rows]}
        write(json.dumps(content, indent=2) + "\n", output)
        return
    title = f"rank, {tests:,} tests x {statements:,} statements: {sentence(facts)}"
    cells = [[row.technique, f"{row.scores:.3f} s", f"{row.places:.3f} s"] for row in rows]
    grids = [Grid(title, ["technique", "scores", "places"], cells)]
    write(markdown(grids) if form == "md" else text(grids), output)
