"""``afterd bench soak``: bad commits made by a seed, and every answer replayed with plain git."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

import click

from afterd.bench.machine import machine, sentence
from afterd.bench.soak import Journal, Soak, Soaked, rate, soaked_cases
from afterd.cli.output import errors, write
from afterd.cli.places import output_option
from afterd.errors import ExitStatus


@click.command("soak")
@click.argument("names", nargs=-1, metavar="[FIXTURE]...")
@click.option(
    "--cases", type=click.IntRange(1), default=100, show_default=True, metavar="N",
    help="How many bad commits are explained.",
)  # fmt: skip
@click.option(
    "--harmless", type=click.IntRange(0, 100), default=100, show_default=True, metavar="N",
    help="How many innocent changes there are at most in each.",
)  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True, help="Chooses the mutants.")
@click.option(
    "--keep", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
    help="Leave the repositories here, to look at.",
)  # fmt: skip
@click.option(
    "--journal", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Add what is judged to this file, and do not judge again what is in it.",
)  # fmt: skip
@output_option
@click.pass_context
def command(
    context: click.Context,
    names: tuple[str, ...],
    cases: int,
    harmless: int,
    seed: int,
    keep: Path | None,
    journal: Path | None,
    output: Path | None,
) -> None:
    """Bad commits made of mutants, explained, and each answer tried without afterd.

    Exits with 10 where an answer says what plain git and the plain test do not show.

    Example: afterd bench soak sluice --cases 20
    """
    found = []
    soak = Soak(cases, seed, harmless, kept=keep)
    for each in soaked_cases(soak, names, _tell, Journal(journal)):
        _tell(_line(each))
        found.append(each)
    write(f"soak: {sentence(machine())}\n{soak_sentences(found)}", output)
    if any(each.broken for each in found):
        context.exit(int(ExitStatus.INCONCLUSIVE))


def _tell(line: str) -> None:
    errors().print(line, markup=False, soft_wrap=True)


def soak_sentences(found: Sequence[Soaked]) -> str:
    """The result, a line each."""
    wrong = [f"{each.case}: {why}" for each in found for why in each.broken]
    runs = [each.runs for each in found if each.exact is not None]
    lines = [
        f"{len(found)} bad commits, {len(wrong)} promises broken.",
        f"The guilty changes and nothing else: {rate(found).describe()}.",
        *_by_kind(found),
        f"Without an answer: {sum(each.exact is None for each in found)}.",
        f"Test runs: {median(runs):g} in the median, {max(runs)} at most." if runs else "",
        *wrong,
    ]
    return "\n".join(filter(None, lines)) + "\n"


def _by_kind(found: Sequence[Soaked]) -> Iterator[str]:
    """The rate by language and by how many mutants were guilty."""
    for kind in sorted({(each.language, each.guilty) for each in found}):
        some = [each for each in found if (each.language, each.guilty) == kind]
        yield f"- {kind[0]}, {kind[1]} guilty: {rate(some).describe()}"


def _line(each: Soaked) -> str:
    verdict = {True: "exact", False: "not exact", None: "no answer"}[each.exact]
    kept = f", {len(each.broken)} BROKEN: {'; '.join(each.broken)}" if each.broken else ""
    return f"{each.case}: {verdict}, {each.runs} of {each.changes} changes{kept} ({each.note})"
