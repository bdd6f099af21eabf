"""``afterd bench simulation``: the search's cost beside the least that any search must cost."""

from __future__ import annotations

from pathlib import Path

import click

from afterd.bench.simulation import QUALITIES, Simulated, simulated_rows, total_seconds
from afterd.bench.tables import Grid, markdown, text
from afterd.cli.output import errors, write
from afterd.cli.places import output_option

TESTS = (0.05, 1.0, 10.0, 300.0)
"""Seconds of CPU that a test run takes."""


@click.command("simulation")
@click.option(
    "--changes", "sizes", type=click.IntRange(2), multiple=True, default=(10, 100, 1000, 10_000),
    show_default=True, metavar="N", help="Changes in a range; may be given again.",
)  # fmt: skip
@click.option(
    "--guilty", type=click.IntRange(1), multiple=True, default=(1, 2, 3, 5), show_default=True,
    metavar="K", help="Guilty ones among them; may be given again.",
)  # fmt: skip
@click.option(
    "--evidence", type=click.FloatRange(min=0), default=10.0, show_default=True, metavar="SECONDS",
    help="What evidence costs.",
)  # fmt: skip
@click.option("--repeats", type=click.IntRange(1), default=5, show_default=True, metavar="N")
@click.option("--seed", type=int, default=0, show_default=True, help="Chooses the guilty changes.")
@click.option("--format", "form", type=click.Choice(["text", "md"]), default="text")
@output_option
def command(
    sizes: tuple[int, ...],
    guilty: tuple[int, ...],
    evidence: float,
    repeats: int,
    seed: int,
    form: str,
    output: Path | None,
) -> None:
    """What the search costs, beside the least that any must cost.

    Made-up ranges of changes, of which an oracle knows the guilty ones; evidence of three qualities. The
    last columns are the seconds of a whole search by what a test run costs.

    Example: afterd bench simulation --changes 100 --guilty 1 --guilty 2
    """
    rows = []
    wanted = [count for count in guilty if count < min(sizes)]
    for row in simulated_rows(sizes, wanted, repeats, seed):
        errors().print(f"{row.changes} changes, {row.guilty} guilty, evidence {row.quality}")
        rows.append(row)
    tests = [f"{test:g} s" for test in TESTS]
    headings = ("evidence", "changes", "guilty", "runs", "floor", "times", "wrong", *tests)
    blind = {(row.changes, row.guilty): row for row in rows if row.quality == QUALITIES[0].name}
    table = [_cells(row, blind[row.changes, row.guilty], evidence) for row in rows]
    grids = [Grid("The search, simulated", headings, table)]
    write(markdown(grids) if form == "md" else text(grids), output)


def _cells(row: Simulated, blind: Simulated, evidence: float) -> list[str]:
    seconds = [f"{total_seconds(row, blind, test, evidence):.1f}" for test in TESTS]
    counts = [row.quality, f"{row.changes:,}", str(row.guilty), f"{row.runs:.1f}"]
    return [*counts, f"{row.floor:.1f}", f"{row.runs / row.floor:.1f}", str(row.wrong), *seconds]
