"""``afterd report``: an explanation as a document."""

from __future__ import annotations

from pathlib import Path

import click

from afterd.cli.answers import deliver
from afterd.cli.commits import subjects
from afterd.cli.options import format_option
from afterd.cli.places import output_option, repository_option
from afterd.cli.state import reader
from afterd.config import Format
from afterd.store.explanations import latest_explanation, load


@click.command("report")
@click.argument("identifier", metavar="[ID]", type=int, required=False)
@format_option(Format.MARKDOWN)
@output_option
@repository_option
def command(
    identifier: int | None,
    format: Format,  # noqa: A002 - the option's name
    output: Path | None,
    repository: Path,
) -> None:
    """Write an explanation as Markdown, HTML, JSON, SARIF or text; without an ID the newest.

    Example: afterd report 42 --format html --output why.html
    """
    with reader(repository) as opened:
        explanation = load(opened, latest_explanation(opened) if identifier is None else identifier)
    deliver([explanation], Format(format), output, repository, subjects(repository, explanation))
