"""``afterd bench range``: one range of any repository, by afterd and by what people use without it."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import click

from afterd.bench.case import UnavailableError
from afterd.bench.rivals import (
    ENVIRONMENTS,
    Answer,
    Asked,
    Rival,
    bisected,
    explained_range,
    reduced_by_picire,
)
from afterd.bench.tables import Grid, text
from afterd.cli.options import given_budget
from afterd.cli.output import errors, write
from afterd.cli.places import output_option, repository_option
from afterd.config import shell
from afterd.errors import UsageError
from afterd.execution.environment import scrubbed_environment
from afterd.vcs.diff import changes_between
from afterd.vcs.repository import open_repository, parse_range
from afterd.vcs.variants import Variants
from afterd.workspace import typed_names

NAMES = ("afterd", "dd", "add", "git bisect", "picire")


@click.command("range")
@click.argument("revisions", metavar="GOOD..BAD")
@click.argument("test", nargs=-1, required=True, metavar="-- TEST COMMAND...")
@click.option("--build", default="", metavar="CMD", help="The build command, run by a shell.")
@click.option(
    "--with", "names", multiple=True, type=click.Choice(NAMES),
    help="Only this one; may be given again.  [default: all five]",
)  # fmt: skip
@click.option(
    "--slowed", type=click.FloatRange(min=0), default=0.0, metavar="SECONDS",
    help="Let each test run compute so much longer.",
)  # fmt: skip
@click.option(
    "--budget", default="10m", show_default=True, metavar="5m", help="When to stop each of them."
)
@repository_option
@output_option
def command(
    revisions: str,
    test: tuple[str, ...],
    build: str,
    names: tuple[str, ...],
    slowed: float,
    budget: str,
    repository: Path,
    output: Path | None,
) -> None:
    """Time afterd on a range of your own, beside git bisect and picire.

    Each works in a fresh clone, with the folders of an environment (.venv, node_modules) linked into
    it. What it names, its test runs, its CPU seconds and its seconds are printed.

    Example: afterd bench range v1.2..HEAD -- pytest -q tests/test_money.py
    """
    asked, variants = _asked_range(
        repository, revisions, shell(build) if build else (), test, budget
    )
    asked = replace(asked, test=_slowed_test(asked.test, slowed))
    environment = _environment(asked.repository)
    rivals: Mapping[str, Rival] = {
        "afterd": explained_range(environment, "after"),
        "dd": explained_range(environment, "dd"),
        "add": explained_range(environment, "add"),
        "git bisect": bisected(environment),
        "picire": reduced_by_picire(environment, variants),
    }
    rows = []
    for name in names or NAMES:
        answer = _answer(rivals[name], asked)
        errors().print(f"{name}: {answer.named or answer.problem}", markup=False, soft_wrap=True)
        rows.append(_row(name, answer))
    title = f"{revisions}, {len(asked.changes.live)} changes, {len(asked.changes.commits)} commits"
    headings = ("by", "names", "test runs", "CPU seconds", "seconds")
    write(text([Grid(title, headings, rows, words=2)]), output)


def _asked_range(
    path: Path, revisions: str, build: tuple[str, ...], test: tuple[str, ...], budget: str
) -> tuple[Asked, Variants]:
    if names := typed_names(test):
        raise UsageError(
            f"{names[0]} is a test's name, and git bisect takes a command, such as: python -m pytest {names[0]}"
        )
    limit = given_budget(budget)
    if limit.seconds is None:
        raise UsageError("--budget has to be a time here, such as 10m.")
    repository = open_repository(path)
    ends = parse_range(repository, revisions)
    good, bad = ends.good, ends.bad
    changes = changes_between(repository, good, bad)
    variants = Variants(repository, good, bad, changes)
    place = Path(repository.workdir or repository.path)
    return Asked(place, good, bad, build, test, changes, limit.seconds), variants


def _slowed_test(test: tuple[str, ...], seconds: float) -> tuple[str, ...]:
    """The test behind some computing, so that a cheap test stands for a dear one."""
    if not seconds:
        return test
    burn = f"import time\nwhile time.process_time() < {seconds}: pass"
    return ("sh", "-c", '"$0" -c "$1"; shift; exec "$@"', sys.executable, burn, *test)


def _environment(repository: Path) -> dict[str, str]:
    """For all of them the same: the project's own interpreter comes first."""
    found = scrubbed_environment()
    folders = [repository / name / "bin" for name in ENVIRONMENTS]
    path = [str(folder) for folder in folders if folder.is_dir()]
    found["PATH"] = os.pathsep.join([*path, found.get("PATH", os.defpath)])
    return found


def _answer(rival: Rival, asked: Asked) -> Answer:
    with tempfile.TemporaryDirectory(
        prefix="afterd-bench-", ignore_cleanup_errors=True
    ) as directory:
        try:
            return rival(asked, Path(directory))
        except UnavailableError as error:
            return Answer(problem=f"skipped: {error}")


def _row(name: str, answer: Answer) -> list[str]:
    told = "; ".join(filter(None, (answer.named, answer.problem)))
    return [name, told, str(answer.runs), f"{answer.cpu:.1f}", f"{answer.seconds:.1f}"]
