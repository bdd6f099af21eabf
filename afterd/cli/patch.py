"""``afterd patch``: the smallest revert that builds and passes, as a git patch."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from afterd import pipeline
from afterd.cli.options import settings_for
from afterd.cli.output import errors, write
from afterd.cli.places import output_option, repository_option
from afterd.cli.state import reader
from afterd.report.live import listening
from afterd.report.revert import encoded_patch, render
from afterd.report.sanitize import visible_text
from afterd.store.explanations import load


@click.command("patch")
@click.argument("identifier", metavar="ID", type=int)
@output_option
@repository_option
def command(identifier: int, output: Path | None, repository: Path) -> None:
    """Write the revert that makes the test pass, for git apply.

    Example: afterd patch 42 | git apply -3
    """
    settings = settings_for(repository, {})
    with reader(repository) as opened:
        explanation = load(opened, identifier)
    with listening(errors()) as waiting:
        patch = render(explanation, pipeline.revert_patch(settings, identifier, waiting))
    if output is None and sys.stdout.isatty():
        click.echo(
            visible_text(patch), nl=False
        )  # for reading; a pipe or a file gets the exact bytes
    else:
        write(encoded_patch(patch), output)
