"""Options that several verbs have, and what they stand for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path

import click

from afterd.cli.places import Function
from afterd.config import Budget, Format, Settings, load
from afterd.config.kinds import parse_budget
from afterd.errors import UsageError
from afterd.report.sanitize import visible_text
from afterd.vcs.repository import open_repository


class Loudness(StrEnum):
    """How much is said while something is under way."""

    QUIET = "quiet"
    USUAL = "usual"
    VERBOSE = "verbose"
    DEBUG = "debug"


def format_option(default: Format | None = None) -> Callable[[Function], Function]:
    """``--format``; without a default the configuration decides."""
    return click.option(
        "--format",
        type=click.Choice([form.value for form in Format]),
        default=default.value if default else None,
        show_default=default is not None,
        help="How the answer is written.",
    )


def loudness_options(function: Function) -> Function:
    """``--quiet``, ``--verbose`` and ``--debug``: one value, of which the last one given counts."""
    for flag, value, meaning in (
        (("--debug",), Loudness.DEBUG, "Also write a log of every command that was run."),
        (("--verbose", "-v"), Loudness.VERBOSE, "A line for every run, on a terminal too."),
        (("--quiet", "-q"), Loudness.QUIET, "Say nothing while it works."),
    ):
        option = click.option(
            *flag, "loudness", flag_value=value, type=Loudness, default=Loudness.USUAL, help=meaning
        )
        function = option(function)
    return function


def given_budget(text: str) -> Budget:
    """The value of ``--budget``; raises UsageError for what is none."""
    try:
        return parse_budget(text)
    except ValueError as error:
        raise UsageError(f"--budget cannot be {text!r}: {error}.") from error


def settings_for(repository: Path, given: Mapping[str, object]) -> Settings:
    """The settings of a repository, with what the command line gives on top.

    Raises RepositoryError or ConfigurationError.
    """
    workdir = open_repository(repository).workdir
    return load(
        Path(workdir) if workdir else None,
        {**given, "repository": repository},
        warn=lambda sentence: click.echo(f"afterd: {visible_text(sentence)}", err=True),
    )
