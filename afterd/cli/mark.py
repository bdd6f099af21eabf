"""``afterd mark``: tell afterd that it was wrong."""

from __future__ import annotations

from pathlib import Path

import click

from afterd.cli.places import repository_option
from afterd.cli.state import store
from afterd.errors import UsageError
from afterd.store.marks import Mark, MarkKind, add_mark


@click.command("mark")
@click.argument("identifier", metavar="ID", type=int)
@click.argument("what", metavar="wrong|flaky|cause=c7")
@click.option("--note", default="", metavar="TEXT", help="Why, in your words.")
@repository_option
def command(identifier: int, what: str, note: str, repository: Path) -> None:
    """Correct an explanation.

    It is wrong, the test is flaky, or these changes are the cause.

    Example: afterd mark 42 cause=c7,c9 --note "the header, not the parser"
    """
    mark = parse(what, note)
    with store(repository) as opened:
        add_mark(opened, identifier, mark)
    click.echo(f"Explanation {identifier} is marked {mark.kind.value}.")


def parse(what: str, note: str = "") -> Mark:
    """``wrong``, ``flaky`` or ``cause=c7,c9``; raises UsageError for anything else."""
    if what in (MarkKind.WRONG, MarkKind.FLAKY):
        return Mark(MarkKind(what), (), note)
    kind, _, names = what.partition("=")
    changes = tuple(name.strip() for name in names.split(","))
    if kind != MarkKind.CAUSE or not all(n[:1] == "c" and n[1:].isdecimal() for n in changes):
        raise UsageError(f"A mark is wrong, flaky or cause=c7,c9, not {what!r}.")
    return Mark(MarkKind.CAUSE, changes, note)
