"""``afterd show``: an explanation that was made before, on the terminal."""

from __future__ import annotations

import time
from pathlib import Path

import click

from afterd.cli.commits import subjects
from afterd.cli.output import print_parts
from afterd.cli.places import repository_option
from afterd.cli.state import reader
from afterd.report.terminal import TerminalReport
from afterd.store.explanations import latest_explanation, load
from afterd.store.marks import Mark, marks


@click.command("show")
@click.argument("identifier", metavar="[ID]", type=int, required=False)
@click.option("--all", "whole", is_flag=True, help="Leave no step of the causal tree out.")
@repository_option
def command(identifier: int | None, repository: Path, *, whole: bool) -> None:
    """Show an explanation; without an ID the newest.

    Example: afterd show 42 --all
    """
    with reader(repository) as opened:
        number = latest_explanation(opened) if identifier is None else identifier
        explanation = load(opened, number)
        said = [_sentence(mark) for mark in marks(opened, number)]
    known = subjects(repository, explanation)
    print_parts([TerminalReport(explanation, said, subjects=known, whole=whole)])


def _sentence(mark: Mark) -> str:
    """What a user said, and when."""
    day = time.strftime("%Y-%m-%d", time.localtime(mark.created))
    what = f"{mark.kind} = {', '.join(mark.changes)}" if mark.changes else mark.kind.value
    return f"{what} on {day}{': ' if mark.note else ''}{mark.note}"
