"""``afterd bench calibrate``: the odds of guilt, fitted to cases whose fault is known."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from afterd.bench.calibration import Fit, fitted_odds, signs_counted
from afterd.bench.case import selected_cases
from afterd.bench.choices import KnownCase
from afterd.bench.every_case import every_case
from afterd.bench.evidence import EVIDENCE, keep, known_cases, project_of, save
from afterd.bench.tables import Grid, text
from afterd.bench.trial import Options, measurements
from afterd.cli.options import given_budget
from afterd.cli.output import errors, write
from afterd.cli.places import output_option
from afterd.config import Strategy
from afterd.errors import UsageError
from afterd.weights import CHOSEN, ODDS_FILE


@click.command("calibrate")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--gather", is_flag=True,
    help="First run the cases NAME... (all without one) and keep what was known in each.",
)  # fmt: skip
@click.option("--save", "kept", is_flag=True, help="Write the odds into afterd's own table.")
@click.option(
    "--budget", default="3m", show_default=True, metavar="5m|40runs",
    help="When to stop each explanation that is gathered.",
)  # fmt: skip
@output_option
def command(
    names: tuple[str, ...], *, gather: bool, kept: bool, budget: str, output: Path | None
) -> None:
    """Fit the odds of guilt to cases whose fault is known.

    What was known of each change when runs were chosen is kept in a file of afterd's source. The odds
    are fitted to it, and judged on each program by a fit that leaves this program out.

    Example: afterd bench calibrate --gather sluice --save
    """
    if gather:
        _gather(names, budget)
    elif names:
        raise UsageError("Names of cases are for --gather: the fit is over all that are kept.")
    known = known_cases()
    try:
        fit = fitted_odds(known, CHOSEN)
    except ValueError as error:
        raise UsageError(f"There is nothing to fit: in {EVIDENCE} {error}.") from error
    if kept:
        save(fit)
        errors().print(f"The odds stand in {ODDS_FILE} now.", markup=False, soft_wrap=True)
    write(fit_sentences(fit, known), output)


def _gather(names: Sequence[str], budget: str) -> None:
    """Run cases and keep what was known in each as soon as it is done: all of them take an hour or two."""
    options = Options(strategies=(Strategy.AFTER,), budget=given_budget(budget))
    for row in measurements(selected_cases(every_case(), names), options):
        said_of = f"{row.case}: {row.verdict.value}, {row.tests} test runs"
        errors().print(said_of, markup=False, soft_wrap=True)
        if row.choices:
            keep([KnownCase(row.case, project_of(row.case), row.choices)])


def fit_sentences(fit: Fit, known: Sequence[KnownCase]) -> str:
    """The odds beside those chosen by hand, and how well each foretold the guilty changes."""
    counted = signs_counted(known)
    rows = [
        [name, f"{getattr(CHOSEN, name):.3g}", f"{value:.3g}", *map(str, counted[name])]
        for name, value in fit.odds.items()
    ]
    table = Grid("Odds of guilt", ("sign", "chosen", "fitted", "guilty", "innocent"), rows)
    lines = [
        "The last two columns count the cases in which a guilty or an innocent suspect had the sign.",
        f"Fitted to {fit.cases} cases of {fit.projects} programs, with a prior {fit.width} wide.",
        "Mean logarithm of a guilty change's chance among the suspects:",
        f"  {fit.chosen:.3f} by the chosen odds,",
        f"  {fit.within:.3f} by the fitted ones,",
        f"  {fit.left_out:.3f} by those that were fitted without the case's own program.",
    ]
    return text([table]) + "\n".join(lines) + "\n"
