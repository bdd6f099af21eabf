"""Options that several verbs have, and what they stand for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

import click

from afterd.config import Format, Settings, load
from afterd.report.sanitize import visible
from afterd.vcs.repository import open_repository

Function = TypeVar("Function", bound=Callable[..., object])


def repository_option(function: Function) -> Function:
    """``--repository``: anywhere inside it will do."""
    return click.option(
        "--repository",
        "-C",
        type=click.Path(path_type=Path),
        default=Path(),
        envvar="AFTERD_REPOSITORY",
        metavar="DIRECTORY",
        help="The repository, or a folder inside it.  [default: here]",
    )(function)


def output_option(function: Function) -> Function:
    """``--output``: a file in place of standard output."""
    return click.option(
        "--output",
        "-o",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Write to this file instead of the terminal.",
    )(function)


def format_option(default: Format | None = None) -> Callable[[Function], Function]:
    """``--format``; without a default the configuration decides."""
    return click.option(
        "--format",
        type=click.Choice([form.value for form in Format]),
        default=default.value if default else None,
        show_default=default is not None,
        help="How the answer is written.",
    )


def settings_for(repository: Path, given: Mapping[str, object]) -> Settings:
    """The settings of a repository, with what the command line gives on top.

    Raises RepositoryError or ConfigurationError.
    """
    workdir = open_repository(repository).workdir
    return load(
        Path(workdir) if workdir else None,
        {**given, "repository": repository},
        warn=lambda sentence: click.echo(f"afterd: {visible(sentence)}", err=True),
    )
