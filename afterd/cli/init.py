"""``afterd init``: write down how this repository is built and tested."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from afterd.cli.places import repository_option
from afterd.config import FILE_NAME, command_line
from afterd.errors import TestError, UsageError
from afterd.execution.runners import Detected, detect
from afterd.report.sanitize import visible_text
from afterd.vcs.repository import open_repository


@click.command("init")
@click.option("--force", is_flag=True, help="Replace the file that is there.")
@repository_option
def command(repository: Path, *, force: bool) -> None:
    """Write afterd.toml with the commands that were found.

    Example: afterd init
    """
    workdir = open_repository(repository).workdir
    if not workdir:
        raise UsageError("A bare repository has no work tree to write afterd.toml to.")
    path = Path(workdir) / FILE_NAME
    if path.exists() and not force:
        raise UsageError(f"There is a {path} already; --force replaces it.")
    found = _found_runner(Path(workdir))
    try:
        path.write_text(content(found), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"The file {path} cannot be written: {error.strerror}.") from error
    click.echo(f"Written to {visible_text(str(path))}.")


def _found_runner(root: Path) -> Detected | None:
    """What was detected; either way the user is told."""
    try:
        found = detect(root)
    except TestError as error:
        click.echo(f"afterd: {visible_text(str(error))}", err=True)
        return None
    click.echo(visible_text(found.sentence))
    return found


def content(found: Detected | None) -> str:
    """The file's text; what is not known is a comment to fill in.

    Of Python's runners it is the interpreter that is written down: with it the tests are found again.
    """
    build = command_line(found.build) if found else ""
    test = command_line(found.test) if found else ""
    # With a command of the user's the suite is one test: what is found by itself is better left so.
    python = [_line("python", found.test[0], "")] if found and found.tools else []
    if python and found and found.test[0] == sys.executable:
        # afterd's own is what is left where the project has none: not for a file that others read
        python = [_line("python", "", ".venv/bin/python")]
    return "\n".join(
        [
            "# How afterd builds and tests this repository; see docs/configuration.md.",
            *python,
            _line("build", build, "make"),
            _line("test", "" if python else test, test or "make check"),
            '# budget = "10m"',
            "",
        ]
    )


def _line(key: str, value: str, example: str) -> str:
    """A TOML string is a JSON string, but for characters JSON leaves as they are."""
    return f"{key} = {json.dumps(value)}" if value else f"# {key} = {json.dumps(example)}"
