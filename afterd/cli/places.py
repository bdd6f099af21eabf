"""The options that say where: a repository, and a file for the answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

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
