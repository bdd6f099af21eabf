"""``afterd bench``: how well afterd does on programs whose fault is known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import click

from afterd.bench.case import Case, selected_cases
from afterd.bench.every_case import every_case
from afterd.bench.fixtures import fixture_cases
from afterd.bench.kept_rows import kept_rows, rows_kept_in
from afterd.bench.machine import machine, sentence
from afterd.bench.measurement import Measurement
from afterd.bench.overhead import overheads
from afterd.bench.real_c import real_c_cases
from afterd.bench.real_python import real_python_cases
from afterd.bench.releases import Releases, cache_directory
from afterd.bench.tables import (
    Grid,
    comparison_tables,
    document,
    markdown,
    measurement_tables,
    text,
)
from afterd.bench.tables import trees as tree_grids
from afterd.bench.trial import Options, measurements
from afterd.cli import (
    bench_calibrate,
    bench_daemon,
    bench_day,
    bench_range,
    bench_rank,
    bench_simulation,
    bench_soak,
)
from afterd.cli.bench_formula import formula
from afterd.cli.options import given_budget
from afterd.cli.output import errors, write
from afterd.cli.places import output_option
from afterd.config import Strategy
from afterd.report.sanitize import visible_text

Function = TypeVar("Function", bound=Callable[..., object])

_FORMATS = ("text", "md", "json")


@click.group("bench")
def command() -> None:
    """Measure afterd on programs whose fault is known.

    Every case is explained by each strategy in a fresh repository, and what is reported is compared
    with what is to be found: matched, partial or missed.

    Example: afterd bench fixtures brindle --strategy after
    """


command.add_command(bench_rank.siemens)
command.add_command(formula)
command.add_command(bench_rank.rank)
command.add_command(bench_daemon.command)
command.add_command(bench_calibrate.command)
command.add_command(bench_range.command)
command.add_command(bench_simulation.command)
command.add_command(bench_day.command)
command.add_command(bench_soak.command)


def _output_options(function: Function) -> Function:
    decorated = output_option(function)
    return click.option(
        "--format",
        "form",
        type=click.Choice(_FORMATS),
        default="text",
        show_default=True,
        help="How the table is written.",
    )(decorated)


def _case_options(function: Function) -> Function:
    decorated = click.option(
        "--verbose",
        "-v",
        is_flag=True,
        help="Show each run and each suspicion as it happens, and each story.",
    )(_output_options(function))
    decorated = click.option(
        "--jobs", type=click.IntRange(min=1), default=1, show_default=True, metavar="N",
        help="Variants built and tested at the same time.",
    )(decorated)  # fmt: skip
    decorated = click.option(
        "--budget", default="10m", show_default=True, metavar="5m|40runs",
        help="When to stop each explanation: a time, test runs, or both.",
    )(decorated)  # fmt: skip
    return click.option(
        "--strategy", "strategies", multiple=True,
        type=click.Choice([strategy.value for strategy in Strategy]),
        help="Only this one; may be given again.  [default: all three]",
    )(decorated)  # fmt: skip


@command.command("fixtures")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@_case_options
def fixtures(
    names: tuple[str, ...],
    form: str,
    output: Path | None,
    **given: Any,  # noqa: ANN401 - click has checked them
) -> None:
    """The sample programs that come with afterd.

    NAME is a fixture or FIXTURE/SCENARIO; without one, all of them.

    Example: afterd bench fixtures after-example brindle/long-run -v
    """
    cases = selected_cases(fixture_cases(), names)
    _bench("fixtures", cases, form, output, _options(**given))


@command.command("real-c")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@_case_options
def real_c(
    names: tuple[str, ...],
    form: str,
    output: Path | None,
    **given: Any,  # noqa: ANN401 - click has checked them
) -> None:
    """Pairs of releases of C programs, from the package registries.

    pip and npm download them into the user's cache; they are skipped where that is not possible.

    Example: afterd bench real-c jq-behind-a-long-input --strategy after
    """
    cases = selected_cases(real_c_cases(Releases(cache_directory())), names)
    _bench("real-c", cases, form, output, _options(**given))


@command.command("real-python")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@_case_options
def real_python(
    names: tuple[str, ...],
    form: str,
    output: Path | None,
    **given: Any,  # noqa: ANN401 - click has checked them
) -> None:
    """Pairs of releases of Python packages, from PyPI.

    pip downloads them into the user's cache; they are skipped where that is not possible.

    Example: afterd bench real-python attrs-evolve-nested --strategy after
    """
    cases = selected_cases(real_python_cases(Releases(cache_directory())), names)
    _bench("real-python", cases, form, output, _options(**given))


@command.command("trees")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--kept", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Keep each row here as it is made; what has one is not run again, and is in the table.",
)  # fmt: skip
@_case_options
def trees(
    names: tuple[str, ...],
    form: str,
    output: Path | None,
    kept: Path | None,
    **given: Any,  # noqa: ANN401 - click has checked them
) -> None:
    """The causal trees of all cases: what stands in them, and how it is known.

    NAME is a case of fixtures, real-c or real-python. The only strategy is after, which makes trees.

    Example: afterd bench trees sluice brindle/long-run --kept trees.jsonl
    """
    options = replace(_options(**given), strategies=(Strategy.AFTER,))
    before = kept_rows(kept) if kept else []
    done = {row.case for row in before}
    left = [case for case in selected_cases(every_case(), names) if case.name not in done]
    made = measurements(left, options)
    rows = [*before, *_spoken_measurements(rows_kept_in(made, kept) if kept else made)]
    facts = machine()
    if form == "json":
        write(document("trees", facts, rows), output)
        return
    _deliver(tree_grids(f"trees: {sentence(facts)}", rows), form, output)


@command.command("overhead")
@_output_options
def overhead(form: str, output: Path | None) -> None:
    """What tracing costs, and what running a test again by a fork saves.

    Example: afterd bench overhead --format md
    """
    rows = []
    for row in overheads():
        errors().print(f"{row.what}: {row.plain:.3f} s, {row.watched:.3f} s", markup=False)
        rows.append(row)
    facts = machine()
    if form == "json":
        write(document("overhead", facts, rows), output)
        return
    _deliver(comparison_tables(f"overhead: {sentence(facts)}", rows), form, output)


def _bench(
    name: str, cases: Sequence[Case], form: str, output: Path | None, options: Options
) -> None:
    """Measure, saying each row as it is done, and write the tables."""
    rows = _spoken_measurements(measurements(cases, options))
    facts = machine()
    if form == "json":
        write(document(name, facts, rows), output)
        return
    _deliver(measurement_tables(f"{name}: {sentence(facts)}", rows), form, output)


def _spoken_measurements(made: Iterable[Measurement]) -> list[Measurement]:
    rows = []
    for row in made:
        errors().print(_line(row), markup=False, soft_wrap=True)
        rows.append(row)
    return rows


def _deliver(grids: Sequence[Grid], form: str, output: Path | None) -> None:
    write(markdown(grids) if form == "md" else text(grids), output)


def _options(strategies: tuple[str, ...], jobs: int, budget: str, *, verbose: bool) -> Options:
    limit = given_budget(budget)
    say = (lambda line: click.echo(visible_text(line), err=True)) if verbose else None
    chosen = tuple(map(Strategy, strategies)) or tuple(Strategy)
    return Options(chosen, jobs, limit, say)


def _line(row: Measurement) -> str:
    """A row as it is done, for people who wait."""
    note = f" ({row.note})" if row.note else ""
    return visible_text(
        f"{row.case}, {row.strategy}: {row.verdict.value}, {row.tests} test runs,"
        f" {row.seconds:.1f} s{note}"
    )
