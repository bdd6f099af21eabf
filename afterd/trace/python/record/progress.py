"""How many of its tests a process has run, for who waits for it.

The file ``tests-<pid>`` is a line with the number of tests, then a dot for each that ended.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

NAME = "tests-"


class Tally:
    """Writes the file of this process, unbuffered."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / f"{NAME}{os.getpid()}"

    def announce(self, tests: int) -> None:
        """So many tests will be run."""
        self._write(b"%d\n" % tests)

    def ended(self) -> None:
        """One was run."""
        self._write(b".")

    def _write(self, text: bytes) -> None:
        with self._path.open("ab", buffering=0) as file:
            file.write(text)


def tallied_tests(directory: Path) -> tuple[int, int]:
    """Tests that ended, and tests that there are as far as processes have announced theirs."""
    text = b""
    for path in directory.glob(f"{NAME}*"):
        with suppress(FileNotFoundError):  # of a run before, which is just being removed
            text += path.read_bytes()
    return text.count(b"."), sum(map(int, re.findall(rb"(\d+)\n", text)))
