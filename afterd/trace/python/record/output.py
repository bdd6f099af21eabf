"""Standard output, noticed write by write: which statement wrote what, for wrong-output failures.

``sys.stdout`` stays a ``TextIOWrapper`` over a ``BufferedWriter``; only the latter is of a subclass
that tells the recorder. Writes pass through at once while a trace is made, so that a row stands
where its ``print`` was executed.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import Any

from .rows import Kind

Anything = Any  # a value of the traced program


class NoticedWriter(io.BufferedWriter):
    """A buffered writer that reports each write."""

    def __init__(
        self, raw: io.RawIOBase, notice: Callable[[bytes], None], *, unbuffered: bool
    ) -> None:
        super().__init__(raw)
        self.notice = notice
        self.unbuffered = unbuffered

    def write(self, data: Anything) -> int:
        """Report, then write."""
        self.notice(bytes(data))
        count = super().write(data)
        if self.unbuffered:
            self.flush()
        return count


def watch_output(write_row: Callable[[int, str], None]) -> None:
    """Make every write to standard output a row; does nothing where there is no plain stream."""
    stdout = sys.stdout
    buffer = getattr(stdout, "buffer", None)
    raw = getattr(buffer, "raw", buffer)  # with python -u the buffer is the raw file itself
    if not isinstance(stdout, io.TextIOWrapper) or not isinstance(raw, io.RawIOBase):
        return

    def notice(data: bytes) -> None:
        write_row(int(Kind.OUTPUT), data.decode("utf-8", "replace")[:4000])

    stdout.flush()
    replacement = io.TextIOWrapper(
        NoticedWriter(raw, notice, unbuffered=raw is buffer),
        encoding=stdout.encoding,
        errors=stdout.errors,
        line_buffering=stdout.line_buffering,
        write_through=True,
    )
    sys.stdout = replacement  # sys.__stdout__ stays: collected, it would close the file
