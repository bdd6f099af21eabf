"""``afterd bench formula``: how well, and how fast, formula-based techniques find faults."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path

import click

from afterd.bench.formula import FormulaOptions, VersionResult, formula_results
from afterd.bench.formula_tables import formula_tables, learned_weights
from afterd.bench.machine import machine, sentence
from afterd.bench.siemens_layout import subject
from afterd.bench.tables import markdown, text
from afterd.cli.bench_rank import cflags_option, say_missing
from afterd.cli.output import errors, write
from afterd.cli.places import output_option
from afterd.execution.scratch import scratch
from afterd.execution.toolchain import find
from afterd.localization.formats.weights import write_weights
from afterd.report.sanitize import visible_text

_LINES = frozenset({"votes", "faulty", "ruled_out"})
"""What of a version's result is about its lines, and not in the JSON."""


@click.command("formula")
@click.argument("directories", nargs=-1, required=True, metavar="DIRECTORY...",
                type=click.Path(path_type=Path, exists=True, file_okay=False))  # fmt: skip
@click.option("--inputs", type=click.IntRange(min=0), default=0, metavar="N",
              help="Failing tests of a version that are explained (0: by their length).")  # fmt: skip
@click.option("--seconds", type=click.FloatRange(min=0.1), default=20.0, show_default=True,
              metavar="S", help="CPU time of one technique on a version, all its tests together.")  # fmt: skip
@click.option("--format", "form", type=click.Choice(["text", "md", "json"]), default="text",
              show_default=True, help="How the table is written.")  # fmt: skip
@click.option("--weights", type=click.Path(path_type=Path), metavar="FILE",
              help="Write the weights that a fusion should have here, for `afterd rank`.")  # fmt: skip
@cflags_option
@output_option
def formula(
    directories: tuple[Path, ...],
    inputs: int,
    seconds: float,
    form: str,
    weights: Path | None,
    cflags: tuple[str, ...],
    output: Path | None,
) -> None:
    """Localise the faults of a folder of faulty versions by program formulas.

    DIRECTORY has the layout that `afterd bench siemens` reads. BugAssist, on-demand formulas, both
    with clause weights, Ochiai and their fusion: the place of the fault and what it cost. With several
    directories the fusion's weights for each program are learned from the others.

    Example: afterd bench formula fixtures/crossing fixtures/tariff
    """
    options = FormulaOptions(inputs, seconds)
    results = [
        result for directory in directories for result in _results(directory, cflags, options)
    ]
    if weights is not None:
        scored = [result for result in results if not result.left_out]
        write_weights(learned_weights(scored), weights)
    facts = machine()
    if form == "json":
        rows = [{k: v for k, v in asdict(r).items() if k not in _LINES} for r in results]
        write(
            json.dumps({"bench": "formula", "machine": facts, "rows": rows}, indent=2) + "\n",
            output,
        )
        return
    grids = formula_tables(results)
    names = ", ".join(directory.name for directory in directories)
    heading = f"formula {names}: {sentence(facts)}\n\n"
    write(heading + (markdown(grids) if form == "md" else text(grids)), output)


def _results(
    directory: Path, cflags: tuple[str, ...], options: FormulaOptions
) -> Iterator[VersionResult]:
    """The versions of one program, each told as it is done."""
    found = subject(directory, cflags)
    say_missing(found)
    program = directory.resolve().name
    with scratch() as place, closing(formula_results(found, find(), place, options)) as results:
        for result in results:
            errors().print(visible_text(_line(result)), markup=False, soft_wrap=True)
            yield replace(result, program=program)


def _line(result: VersionResult) -> str:
    """A version as it is done, for people who wait."""
    if result.left_out:
        return f"{result.version}: {result.left_out}"
    said = (
        f"{name} {'-' if found.rank is None else format(found.rank, 'g')} ({found.seconds:.1f} s)"
        for name, found in result.techniques.items()
    )
    return f"{result.version}: {', '.join(said)}"
