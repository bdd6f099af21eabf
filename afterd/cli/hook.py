"""``afterd hook``: tell the daemon of each commit."""

from __future__ import annotations

from pathlib import Path

import click

from afterd.cli.places import repository_option
from afterd.report.sanitize import visible_text
from afterd.vcs import hook
from afterd.vcs.repository import open_repository


@click.group("hook")
def command() -> None:
    """The git hook that tells the daemon of each commit.

    Example: afterd hook install
    """


@command.command("install")
@repository_option
def install(repository: Path) -> None:
    """Put the post-commit hook in place; one that is there is kept and run after it.

    Example: afterd hook install
    """
    done = hook.install(open_repository(repository))
    parts = [f"The hook is in place: {done.path}."]
    if done.chained:
        parts.append("The one that was there before runs after it.")
    if done.shared:
        parts.append("The directory is shared (core.hooksPath); elsewhere the hook does nothing.")
    click.echo(visible_text(" ".join(parts)))


@command.command("uninstall")
@repository_option
def uninstall(repository: Path) -> None:
    """Take the hook away and put back the one that was there before.

    Example: afterd hook uninstall
    """
    click.echo(
        visible_text(f"The hook is gone from {hook.uninstall(open_repository(repository))}.")
    )
