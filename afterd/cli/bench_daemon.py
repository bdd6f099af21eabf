"""``afterd bench daemon``: SIGKILL at random moments over a queue of jobs."""

from __future__ import annotations

from pathlib import Path

import click

from afterd.bench.daemon_kills import Kills, daemon_kills
from afterd.cli.output import errors, write
from afterd.cli.places import output_option
from afterd.errors import ExitStatus


@click.command("daemon")
@click.option(
    "--kills", type=click.IntRange(1), default=100, show_default=True, metavar="N",
    help="How many daemons are killed.",
)  # fmt: skip
@click.option(
    "--queue", type=click.IntRange(1), default=20, show_default=True, metavar="N",
    help="How many jobs there are at first.",
)  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True, help="Chooses the moments.")
@output_option
@click.pass_context
def command(context: click.Context, kills: int, queue: int, seed: int, output: Path | None) -> None:
    """Daemons killed at work: the answers, and what was done twice.

    Exits with 10 where a job ended otherwise than with a daemon that was left alone.

    Example: afterd bench daemon --kills 20
    """
    found = daemon_kills(kills, queue, seed, lambda line: errors().print(line, markup=False))
    write(kills_sentences(found), output)
    if found.wrong:
        context.exit(int(ExitStatus.INCONCLUSIVE))


def kills_sentences(found: Kills) -> str:
    """The result, a line each."""
    lines = [
        f"{found.kills} daemons were killed over {found.jobs} jobs, in {found.seconds:.0f} s.",
        f"{found.answers} answers, {len(found.wrong)} things that are wrong.",
        f"{found.runs} test runs left alone, {found.runs_killed} with the kills.",
        *found.wrong,
    ]
    return "\n".join(lines) + "\n"
