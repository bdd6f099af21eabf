"""``afterd comment``: an answer on a pull request. The one verb that holds a forge's token."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import click

from afterd.cli.places import repository_option
from afterd.config.secrets import secrets_of
from afterd.errors import AfterdError, ConfigurationError, ExitStatus, UsageError
from afterd.execution.environment import scrubbed_environment
from afterd.execution.process import Command
from afterd.execution.sandbox import run
from afterd.forge import ForgeKind, Project, project_of
from afterd.forge.project import address_in
from afterd.limits import Limits
from afterd.publishing.outbox import post_due
from afterd.publishing.publisher import comment_markdown, publish_or_say, read_answer, summarise
from afterd.report.comment import visible_part
from afterd.report.json import COMMIT
from afterd.report.masking import Masker
from afterd.report.received import Received
from afterd.report.sanitize import visible_text

_LONGEST_NUMBER = 12


@click.command("comment")
@click.argument("identifiers", metavar="[ID]...", type=int, nargs=-1)
@click.option("--pr", "pull", metavar="N|SHA", help="The pull request, or its head's commit.")
@click.option(
    "--from",
    "answer",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="What afterd explain --format json wrote, in a job that nobody trusts.",
)
@click.option("--project", metavar="URL", envvar="AFTERD_PROJECT", help="The project at its forge.")
@click.option(
    "--forge",
    type=click.Choice([kind.value for kind in ForgeKind]),
    envvar="AFTERD_FORGE",
    help="Which forge it is, where its address does not say.",
)
@click.option("--print", "shown", is_flag=True, help="Print the comment and post nothing.")
@click.option(
    "--outgoing",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Post what is due in the databases named in this file or pipe.",
)
@repository_option
def command(
    identifiers: tuple[int, ...],
    pull: str | None,
    answer: Path | None,
    project: str | None,
    forge: str | None,
    outgoing: Path | None,
    repository: Path,
    *,
    shown: bool,
) -> None:
    """Post explanations on a pull request: one comment, edited in place.

    Without IDs: those of the range that was explained last. The token comes from the environment
    or the keyring.

    Example: afterd comment --pr 12
    """
    if outgoing is not None:
        _post_all(outgoing, forge or "")
        return
    if pull is None and not shown:
        raise UsageError("Say on which pull request: --pr 12, or --pr with the commit of its head.")
    number = _number(pull or "0")
    given, address = _given_answer(answer, repository, identifiers)
    if number is None and given.commit != pull:
        raise UsageError(f"The answer is about commit {given.commit[:10]}, and --pr names another.")
    place = _project(project, forge or "", address, needed=not shown)
    text = comment_markdown(Masker(secrets_of(os.environ)).value(given), place)
    if shown or place is None:
        click.echo(visible_part(text), nl=False)
        return
    posted = publish_or_say(given, place, number or 0, _say)
    summarise(text, os.environ)
    click.echo(f"The comment is {posted.placement.value} {posted.url}".rstrip())


def _say(sentence: str) -> None:
    click.echo(f"afterd: {visible_text(sentence)}", err=True)


def _number(pull: str) -> int | None:
    """The number of a pull request; None for the commit of its head."""
    if COMMIT.fullmatch(pull):
        return None
    if not pull.isdecimal() or len(pull) > _LONGEST_NUMBER:
        raise UsageError("--pr takes a number, or a full commit id in small letters.")
    return int(pull)


def _given_answer(
    answer: Path | None, repository: Path, identifiers: Sequence[int]
) -> tuple[Received, str]:
    """The answer, and the project's address as the repository knows it (of a file: nothing)."""
    if answer is not None:
        if identifiers:
            raise UsageError("With --from the answers are those of the file; leave the IDs out.")
        return read_answer(answer), ""
    with tempfile.TemporaryDirectory(prefix="afterd-") as folder:
        path = Path(folder, "answer.json")
        _gather(repository, path, identifiers)
        return read_answer(path), str(json.loads(path.read_bytes())["project"])


def _gather(repository: Path, path: Path, identifiers: Sequence[int]) -> None:
    """Have the answers written by a process without secrets: this one leaves the repository be."""
    argv = [sys.executable, "-m", "afterd.cli.gathered", str(repository.absolute()), str(path)]
    command = Command((*argv, *map(str, identifiers)), Path.cwd(), scrubbed_environment())
    result = run(command, Limits().test, scratch=path.parent)
    if not result.succeeded:
        said = result.stderr.text().strip() or f"Reading the answers {result.describe()}."
        error = AfterdError(said)
        known = {int(status): status for status in ExitStatus}
        error.exit_status = known.get(result.status or 0, ExitStatus.BUG)
        raise error


def _project(given: str | None, kind: str, remote: str, *, needed: bool) -> Project | None:
    """The project: as it was named, as the CI service says, or as the remote is called."""
    address, ci_kind = (given, "") if given else address_in(os.environ)
    if address:
        return project_of(address, kind or ci_kind)
    if not remote and needed:
        raise UsageError(
            "Which project it is cannot be told; say it with --project https://HOST/OWNER/NAME."
        )
    try:
        return project_of(remote, kind) if remote else None
    except ConfigurationError:
        if needed:
            raise
        return None  # a folder of this machine, an alias of ssh: the comment has no links


def _post_all(outgoing: Path, kind: str) -> None:
    """Post from each database whose path comes as a line, until there are no more."""
    try:
        with outgoing.open(encoding="utf-8", errors="surrogateescape") as lines:
            for line in lines:
                _post_from(Path(line.rstrip("\n")), kind)
    except OSError as error:
        raise UsageError(f"{outgoing} cannot be read ({error.strerror}).") from error


def _post_from(database: Path, kind: str) -> None:
    """A database that cannot be opened now does not end the process: others may be named."""
    try:
        post_due(database, lambda said: click.echo(visible_text(said)), kind)
    except AfterdError as error:
        click.echo(f"afterd: {visible_text(str(error))}", err=True)
