"""``afterd doctor``: what this machine has and what it lacks."""

from __future__ import annotations

from pathlib import Path

import click
from rich.table import Table
from rich.text import Text

from afterd.cli.checks import State, all_checks
from afterd.cli.output import print_parts
from afterd.cli.places import repository_option
from afterd.errors import ExitStatus
from afterd.report.sanitize import one_line

_STYLES = {State.FINE: "green", State.WORSE: "yellow", State.MISSING: "bold red"}


@click.command("doctor")
@repository_option
@click.pass_context
def command(context: click.Context, repository: Path) -> None:
    """Check what this machine has and lacks.

    Each line says what was found; where something is missing, what to do.

    Example: afterd doctor
    """
    grid = Table.grid(padding=(0, 2))
    for _ in range(3):
        grid.add_column(overflow="fold")
    states = set()
    for check in all_checks(repository):
        states.add(check.state)
        state = Text(check.state.value, _STYLES[check.state])
        grid.add_row(state, Text(check.name, "bold"), Text(one_line(check.sentence)))
    print_parts([grid])
    if State.MISSING in states:
        context.exit(int(ExitStatus.CANNOT_RUN))
