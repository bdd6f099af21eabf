"""``afterd daemon``: the service that watches repositories."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from afterd.cli.daemon_status import described_status
from afterd.cli.options import settings_for
from afterd.cli.output import print_parts, write
from afterd.cli.places import repository_option
from afterd.cli.state import reader, store
from afterd.daemon.approval import approve as approve_commit
from afterd.daemon.instance import running, wait_for
from afterd.daemon.log import OUTPUT, last_lines, rotate_file
from afterd.daemon.poster import hand_over, inherited_poster
from afterd.daemon.serve import serve
from afterd.daemon.starter import announced_environment
from afterd.daemon.status import status as daemon_status
from afterd.daemon.unit import unit as unit_text
from afterd.errors import BusyError, SandboxError
from afterd.execution.sandbox import start as start_process
from afterd.forge import ForgeKind
from afterd.report.sanitize import visible_text
from afterd.vcs.repository import open_repository, resolve, state_directory

_START = 30.0  # seconds in which a daemon must be there
_STOP = 15.0

_repositories = click.argument(
    "repositories", nargs=-1, type=click.Path(path_type=Path), metavar="[REPOSITORY]..."
)
_post = click.option(
    "--post", is_flag=True, help="Comment on pull requests; the tokens stay in another process."
)
_forge = click.option(
    "--forge",
    type=click.Choice([kind.value for kind in ForgeKind]),
    help="Which forge it is, where the host's name does not say.",
)


@click.group("daemon")
def command() -> None:
    """Watch repositories: test new commits, and explain what turned red.

    Example: afterd daemon run
    """


@command.command("run")
@_repositories
@click.option("--once", is_flag=True, help="Empty the queue and leave, for CI and cron.")
@_post
@_forge
@click.option("--quiet", is_flag=True, help="Write the log to its file alone.")
@repository_option
def run(
    repositories: tuple[Path, ...],
    repository: Path,
    *,
    once: bool,
    post: bool,
    forge: str | None,
    quiet: bool,
) -> None:
    """Watch repositories in the foreground.

    REPOSITORY is a repository or a folder in it; without one, this one.

    Example: afterd daemon run ~/src/lib ~/src/app
    """
    places = _places(repositories or (repository,))
    settings = [settings_for(place, {}) for place in places]
    passed = [name for setting in settings for name in setting.pass_environment]
    arguments = _arguments(places, once=once, post=post, quiet=quiet)
    hand_over(arguments, _output(places), posting=post, forge=forge or "", passed=passed)
    serve(settings, inherited_poster(), once=once, spoken=not quiet)


@command.command("start")
@_repositories
@_post
@_forge
@repository_option
def start(
    repositories: tuple[Path, ...], repository: Path, *, post: bool, forge: str | None
) -> None:
    """Watch repositories in the background.

    Example: afterd daemon start
    """
    places = _places(repositories or (repository,))
    for place in places:
        settings_for(place, {})  # what is wrong with them is said here, not by a process that ends
    state = _state(places[0])
    if (process := running(state)) is not None:
        raise BusyError(f"A daemon watches {places[0]} already: process {process}.")
    arguments = _arguments(places, once=False, post=post, quiet=True, forge=forge)
    environment, descriptor = announced_environment(os.environ)
    command_line = [sys.executable, "-m", "afterd", *arguments]
    start_process(command_line, environment, _output(places), (descriptor,))
    process = wait_for(state, _START, up=True)
    if process is None:
        said = _output(places).read_text(errors="replace").splitlines()[-1:] or ["nothing"]
        raise SandboxError(f"The daemon did not start; it said: {said[0]}")
    click.echo(f"The daemon is process {process}.")


@command.command("stop")
@repository_option
def stop(repository: Path) -> None:
    """End the daemon of a repository; the job under way goes back into the queue.

    Example: afterd daemon stop
    """
    state = _state(repository)
    process = running(state)
    if process is None:
        click.echo("No daemon watches this repository.")
        return
    os.kill(process, signal.SIGTERM)
    if wait_for(state, _STOP, up=False) is not None:
        raise BusyError(f"The daemon, process {process}, did not end within {_STOP:g} s.")
    click.echo(f"The daemon, process {process}, has ended.")


@command.command("status")
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True,
    help="How it is written.",
)  # fmt: skip
@repository_option
def status(form: str, repository: Path) -> None:
    """Show what the daemon does, what waits, and how often its answers held.

    Example: afterd daemon status
    """
    with reader(repository) as opened:
        found = daemon_status(opened, _state(repository), settings_for(repository, {}))
    if form == "json":
        write(json.dumps(asdict(found), indent=2) + "\n", None)
    else:
        print_parts(described_status(found))


@command.command("logs")
@click.option(
    "--lines", "-n", type=click.IntRange(1), default=50, show_default=True, help="At most so many."
)
@repository_option
def logs(lines: int, repository: Path) -> None:
    """Show the end of the daemon's log.

    Example: afterd daemon logs -n 20
    """
    for line in last_lines(_state(repository), lines):
        click.echo(visible_text(line))


@command.command("approve")
@click.argument("commit", metavar="COMMIT")
@repository_option
def approve(commit: str, repository: Path) -> None:
    """Let the tests of a commit of unknown origin run: this commit, none after it.

    Read it first: its tests run as you, and only `sandbox = require` or `auto` holds them.

    Example: afterd daemon approve 3f2a1b9
    """
    resolved = resolve(open_repository(repository), commit)
    with store(repository) as opened:
        waited = approve_commit(opened, resolved)
    said = "and is in the queue" if waited else "and will run when it is seen"
    click.echo(f"The commit {resolved} is approved {said}.")


@command.command("unit")
@_repositories
@_post
@repository_option
def unit(repositories: tuple[Path, ...], repository: Path, *, post: bool) -> None:
    """Print a systemd user unit.

    Example: afterd daemon unit >~/.config/systemd/user/afterd.service
    """
    click.echo(unit_text(_places(repositories or (repository,)), post=post), nl=False)


def _places(repositories: Sequence[Path]) -> list[Path]:
    return [path.absolute() for path in dict.fromkeys(repositories)]


def _arguments(
    places: Sequence[Path], *, once: bool, post: bool, quiet: bool, forge: str | None = None
) -> list[str]:
    """The command line of ``run`` that another process is given."""
    flags = {"--once": once, "--post": post, "--quiet": quiet}
    chosen = [flag for flag, wanted in flags.items() if wanted]
    chosen += ["--forge", forge] if forge else []
    return ["daemon", "run", *chosen, "--", *map(str, places)]


def _state(repository: Path) -> Path:
    return state_directory(open_repository(repository))


def _output(places: Sequence[Path]) -> Path:
    """Where a process without a terminal writes what is not the log: a bug's last words."""
    path = _state(places[0]) / OUTPUT
    rotate_file(path)
    return path
