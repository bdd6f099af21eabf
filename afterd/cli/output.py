"""Where answers go: a rich console on standard output, or a file that is there whole or not."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

import click
from rich.console import Console, RenderableType

from afterd.errors import UsageError

_FILE_WIDTH = 100


def screen() -> Console:
    """Standard output as it is now (tests replace it)."""
    return Console(file=sys.stdout, highlight=False)


def errors() -> Console:
    """Standard error, for progress."""
    return Console(file=sys.stderr, highlight=False)


def print_parts(parts: Sequence[RenderableType], output: Path | None = None) -> None:
    """Print for people, with a blank line between parts; plain when it goes to a file."""
    stream = StringIO() if output else None
    console = Console(file=stream, width=_FILE_WIDTH) if stream else screen()
    for number, part in enumerate(parts):
        if number:
            console.print()
        console.print(part, crop=False)  # a command that is cut off cannot be copied
    if stream is not None:
        write(stream.getvalue(), output)


def write(text: str | bytes, output: Path | None) -> None:
    """To standard output, or into a file by way of a temporary one beside it; a device or a pipe is written to.

    Raises UsageError when the file cannot be written.
    """
    if output is None:
        click.echo(text, nl=False)
        return
    data = text if isinstance(text, bytes) else text.encode("utf-8", "backslashreplace")
    try:
        if output.exists() and not output.is_file():
            output.write_bytes(data)
            return
        file_meant = output.resolve()  # a link stays one
        with tempfile.NamedTemporaryFile(dir=file_meant.parent, delete=False) as file:
            file.write(data)
        Path(file.name).chmod(0o666 & ~_umask())
        Path(file.name).replace(file_meant)
    except OSError as error:
        raise UsageError(f"The file {output} cannot be written: {error.strerror}.") from error


def _umask() -> int:
    """The process's file mode mask, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
