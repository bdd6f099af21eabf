"""``afterd bench day``: a day of five people replayed against a daemon."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from statistics import median

import click

from afterd.bench.day import Account, Day, day_replayed
from afterd.bench.machine import machine, sentence
from afterd.cli.output import errors, write
from afterd.cli.places import output_option
from afterd.errors import ExitStatus


@click.command("day")
@click.option(
    "--commits", type=click.IntRange(1), default=200, show_default=True, metavar="N",
    help="How many commits are pushed.",
)  # fmt: skip
@click.option(
    "--kills", type=click.IntRange(0), default=0, show_default=True, metavar="N",
    help="How often something of the daemon's is killed.",
)  # fmt: skip
@click.option("--full-disk", "full", is_flag=True, help="The disk is full for a while.")
@click.option("--seed", type=int, default=0, show_default=True, help="Chooses what people do.")
@click.option(
    "--keep", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
    help="Leave the repositories here, to look at.",
)  # fmt: skip
@output_option
@click.pass_context
def command(
    context: click.Context,
    commits: int,
    kills: int,
    seed: int,
    keep: Path | None,
    output: Path | None,
    *,
    full: bool,
) -> None:
    """Five people at work: every verdict of the daemon compared with what each commit did.

    Exits with 10 where a verdict is wrong.

    Example: afterd bench day --commits 20 --kills 20
    """
    day = Day(commits, seed, kills, full, keep)
    found = day_replayed(day, lambda line: errors().print(line, markup=False))
    write(f"day: {sentence(machine())}\n{day_sentences(found)}", output)
    if found.wrong:
        context.exit(int(ExitStatus.INCONCLUSIVE))


def day_sentences(found: Account) -> str:
    """The result, a line each."""
    kinds, killed = _each_count(found.verdicts), _each_count(found.killed)
    delays = found.delays or (0.0,)
    lines = [
        f"{found.pushed.total()} pushes ({_each_count(found.pushed)}), {found.tested.total()} commits tested"
        f" ({_each_count(found.tested)}), in {found.seconds:.0f} s.",
        f"{sum(found.verdicts.values())} verdicts ({kinds}), {len(found.wrong)} wrong.",
        f"From push to answer: {median(delays):.1f} s in the median, {max(delays):.0f} s at most;"
        f" {found.cpu:.0f} s of processor time in all.",
        f"Killed from outside: {killed}." if killed else "",
        f"The disk: {found.disk}." if found.disk else "",
        *found.wrong,
    ]
    return "\n".join(filter(None, lines)) + "\n"


def _each_count(counted: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {name}" for name, number in sorted(counted.items()))
