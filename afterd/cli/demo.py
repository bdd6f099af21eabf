"""``afterd demo``: the main job on a sample, from nothing to a causal tree."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from afterd import pipeline
from afterd.cli.answers import deliver
from afterd.cli.commits import subjects
from afterd.cli.explain import exit_status
from afterd.cli.options import settings_for
from afterd.cli.output import errors
from afterd.config import Format
from afterd.errors import UsageError
from afterd.report.live import listening
from afterd.vcs.sample import fixtures_directory, materialise, scenarios

DEFAULT = "brindle/wrong-arithmetic"


@click.command("demo")
@click.argument(
    "directory",
    required=False,
    type=click.Path(path_type=Path, file_okay=False),
    metavar="[DIRECTORY]",
)
@click.option("--scenario", default=DEFAULT, show_default=True, metavar="NAME", help="Which one.")
@click.option("--scenarios", "names", is_flag=True, help="List the scenarios and stop.")
@click.pass_context
def command(context: click.Context, directory: Path | None, scenario: str, *, names: bool) -> None:
    """Make a sample, break it, and explain it.

    The sample is a small C repository whose last commit makes many changes, a few of them guilty.

    DIRECTORY must be new or empty; without it a temporary one is made and kept.

    Example: afterd demo /tmp/sample --scenario after-example
    """
    if names:
        click.echo("\n".join(known_samples()))
        return
    if scenario not in known_samples():
        raise UsageError(
            f"There is no sample {scenario!r}; there are {', '.join(known_samples())}."
        )
    place = directory or Path(tempfile.mkdtemp(prefix="afterd-demo-"))
    fixture, _, name = scenario.partition("/")
    sample = materialise(fixtures_directory() / fixture, name, place)
    click.echo(f"{sample.scenario.description}\nThe sample is in {place}.\n", err=True)
    settings = settings_for(
        place,
        {
            "range": f"{sample.good}..{sample.bad}",
            "build": sample.scenario.build,
            "test": sample.scenario.test,
        },
    )
    with listening(errors()) as progress:
        explanations = pipeline.explain(settings, progress)
    known_subjects = {k: v for e in explanations for k, v in subjects(place, e).items()}
    deliver(explanations, Format.TEXT, None, place, known_subjects)
    context.exit(int(exit_status(explanation.status for explanation in explanations)))


def known_samples() -> tuple[str, ...]:
    """Every sample as FIXTURE or FIXTURE/SCENARIO."""
    fixtures = sorted(path for path in fixtures_directory().iterdir() if path.is_dir())
    return tuple(
        f"{fixture.name}/{name}".rstrip("/") for fixture in fixtures for name in scenarios(fixture)
    )
