"""``afterd list``: what was explained in this repository."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import click

from afterd.cli.places import repository_option
from afterd.cli.state import reader
from afterd.report.sanitize import clipped_text, one_line
from afterd.store.explanations import Summary, listing

_HEADINGS = ("ID", "when", "status", "test", "root")
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
        click.echo(json.dumps([asdict(summary) for summary in summaries], indent=2))
        return
    for line in _table(summaries):
        click.echo(line.rstrip())


def _table(summaries: Sequence[Summary]) -> Iterator[str]:
    """A line each, in columns; by hand, as loading what draws tables takes longer than the list."""
    rows = [_HEADINGS, *map(_row, summaries)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for number, row in enumerate(rows):
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield click.style(line, bold=True) if number == 0 else line


def _row(summary: Summary) -> tuple[str, ...]:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(summary.created))
    test, root = one_line(clipped_text(summary.test, _TEST)), one_line(", ".join(summary.root))
    return str(summary.id), when, summary.status.value, test, root
