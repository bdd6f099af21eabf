"""``afterd list``: what was explained in this repository."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click
from rich.table import Table
from rich.text import Text

from afterd.cli.options import repository_option
from afterd.cli.output import present, write
from afterd.cli.state import reader
from afterd.report.sanitize import clipped, one_line
from afterd.store.explanations import Summary, listing

_TEST = 60  # characters of a test's id


@click.command("list")
@click.option(
    "--limit", type=click.IntRange(1), default=20, show_default=True, help="At most so many."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How the list is written.",
)
@repository_option
def command(limit: int, form: str, repository: Path) -> None:
    """List the explanations of this repository, newest first.

    Example: afterd list --limit 5
    """
    with reader(repository) as opened:
        summaries = listing(opened, limit)
    if form == "json":
        write(json.dumps([asdict(summary) for summary in summaries], indent=2) + "\n", None)
    else:
        present([_table(summaries)])


def _table(summaries: Sequence[Summary]) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("ID", "when", "status", "test", "root"):
        table.add_column(heading, overflow="fold")
    for summary in summaries:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(summary.created))
        test = Text(one_line(clipped(summary.test, _TEST)))
        root = Text(one_line(", ".join(summary.root)))
        table.add_row(str(summary.id), when, summary.status.value, test, root)
    return table
