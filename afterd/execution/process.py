"""A command, and what running it showed: the value types of the sandbox."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from signal import Signals

from afterd.limits import MIB


@dataclass(frozen=True, slots=True)
class Command:
    """What to run: never a shell string, always an argument vector.

    ``environment`` is complete, nothing is inherited (see ``environment.scrubbed``). ``stdin`` is
    a file, or None for /dev/null. ``merge`` sends standard error into standard output, in order.
    ``fixed_addresses`` asks for a run without address randomisation (Linux), so that a second run
    has the same addresses.
    """

    argv: tuple[str, ...]
    cwd: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    stdin: Path | None = None
    merge: bool = False
    fixed_addresses: bool = False


class Ending(StrEnum):
    """Why a run ended; every budget has a reason of its own."""

    EXITED = "exited"
    SIGNALLED = "died of a signal"
    TIMEOUT = "ran longer than its time limit"
    SILENCE = "wrote nothing for longer than its silence limit"
    OUTPUT = "wrote more output than its limit"
    MEMORY = "used more memory than its limit"
    PROCESSES = "had more processes than its limit"
    FILE_SIZE = "wrote a file larger than its limit"
    CANCELLED = "was cancelled"
    LOST = "its supervisor was killed"
    NOT_STARTED = "could not be started"


@dataclass(frozen=True, slots=True)
class Capture:
    """A file with captured output, read no further than asked."""

    path: Path

    @property
    def size(self) -> int:
        """Bytes that were kept."""
        return self.path.stat().st_size

    def head(self, limit: int = MIB) -> bytes:
        """The first ``limit`` bytes."""
        with self.path.open("rb") as file:
            return file.read(limit)

    def tail(self, limit: int = MIB) -> bytes:
        """The last ``limit`` bytes."""
        with self.path.open("rb") as file:
            file.seek(max(0, self.size - limit))
            return file.read(limit)

    def text(self, limit: int = MIB) -> str:
        """All of it, or its first and last halves with a mark between; any bytes will do."""
        if self.size <= limit:
            return self.head(limit).decode(errors="backslashreplace")
        cut = f"\n[… {self.size - limit} bytes left out …]\n".encode()
        kept = self.head(limit // 2) + cut + self.tail(limit // 2)
        return kept.decode(errors="backslashreplace")

    def whole(self) -> str:
        """All of it, as long as a run's output may be: of a report, the middle counts as well."""
        return self.head(self.size).decode(errors="backslashreplace")


@dataclass(frozen=True, slots=True)
class ProcessResult:
    """How a run ended, and where its output is.

    ``status`` is the exit status (None unless EXITED), ``signal`` the number of the signal that
    the program died of (0: none). ``swept`` counts processes that outlived the program and were
    ended, ``survivors`` those that could not be (none, unless one hangs in the kernel).
    ``fixed_addresses`` says whether randomisation was really off. ``detail`` is a sentence for
    NOT_STARTED and LOST. ``directory`` is this run's own, with ``tmp`` as the program's TMPDIR.
    """

    ending: Ending
    directory: Path
    status: int | None = None
    signal: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_memory: int = 0
    swept: int = 0
    survivors: int = 0
    fixed_addresses: bool = False
    detail: str = ""

    @property
    def stdout(self) -> Capture:
        """Standard output (and error, where merged)."""
        return Capture(self.directory / "stdout")

    @property
    def stderr(self) -> Capture:
        """Standard error; empty where merged."""
        return Capture(self.directory / "stderr")

    @property
    def succeeded(self) -> bool:
        """Whether it exited with status 0."""
        return self.status == 0

    def describe(self) -> str:
        """How it ended, as the predicate of a sentence: "exited with status 2"."""
        if self.ending is Ending.EXITED:
            return f"exited with status {self.status}"
        if self.ending is Ending.SIGNALLED:
            return f"died of {signal_name(self.signal)}"
        return f"{self.ending.value}{': ' + self.detail if self.detail else ''}"

    def remove(self) -> None:
        """Delete this run's directory, output included; also where the program took rights away."""
        shutil.rmtree(self.directory, ignore_errors=True)
        for path, folders, _ in os.walk(self.directory):
            for folder in (Path(path, name) for name in folders):
                if not folder.is_symlink():
                    folder.chmod(0o700)
        shutil.rmtree(self.directory, ignore_errors=True)


def signal_name(number: int) -> str:
    """SIGSEGV for 11; the number where it has no name here (real-time signals)."""
    try:
        return Signals(number).name
    except ValueError:
        return f"signal {number}"
