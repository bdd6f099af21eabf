"""The posting process: it has the forge's token, and the daemon, which runs tests, has not.

A process that runs a stranger's tests must not hold a token in its environment, its memory or an
open file: the tests run as the same user and can read all three (CVE-2025-30066). So the daemon
starts the poster before anything else, with the environment it was given, and then becomes a fresh
process without the secrets. What they say to each other goes one way: the daemon writes the path of
a database in which something is due, a line each, and the poster ends when the daemon does.
"""

from __future__ import annotations

import os
import select
import shlex
import sys
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from afterd.config.secrets import is_secret
from afterd.execution.sandbox import start
from afterd.execution.unreadable import READY_VARIABLE

PIPE_VARIABLE = "AFTERD_POSTER_PIPE"
COMMAND_VARIABLE = "AFTERD_POSTER"
_READY = 15.0  # seconds; a poster under another user may never hear that it is waited for


class Poster:
    """The daemon's end of the pipe; without a descriptor nothing is posted."""

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor

    @property
    def is_there(self) -> bool:
        """Whether anybody listens."""
        return self._descriptor is not None

    def tell(self, database: Path) -> bool:
        """Something is due in a database; False when nobody listens (any more)."""
        if self._descriptor is None:
            return False
        try:
            os.write(self._descriptor, os.fsencode(database) + b"\n")
        except OSError:  # EPIPE: it ended
            self.close()
            return False
        return True

    def close(self) -> None:
        """Let the poster end."""
        if self._descriptor is not None:
            with suppress(OSError):
                os.close(self._descriptor)
            self._descriptor = None


def secrets_in(environment: Mapping[str, str]) -> list[str]:
    """The names of the variables that look secret."""
    return [name for name, value in environment.items() if is_secret(name, value)]


def hand_over(
    arguments: Sequence[str],
    log: Path,
    *,
    posting: bool,
    forge: str = "",
    passed: Collection[str] = (),
) -> None:
    """Start the poster where one is wanted, and go on as a process without secrets.

    ``forge`` says which kind of forge it is where the host's name does not, ``passed`` names variables
    that tests get although they look secret. Returns at once where
    this process is that process already, or needs none: nothing secret, and nothing to post.
    """
    hidden = set(secrets_in(os.environ)) - set(passed)
    if PIPE_VARIABLE in os.environ or not (posting or hidden):
        return
    clean = {name: value for name, value in os.environ.items() if name not in hidden}
    clean[PIPE_VARIABLE] = str(_started_poster(log, forge)) if posting else ""
    os.execve(sys.executable, [sys.executable, "-m", "afterd", *arguments], clean)  # noqa: S606 - there is no shell to escape from


def inherited_poster() -> Poster:
    """The poster that the process before this one started; its variable is taken out."""
    text = os.environ.pop(PIPE_VARIABLE, "")
    if not text:
        return Poster(None)
    os.set_inheritable(int(text), False)  # noqa: FBT003 - as os has it
    return Poster(int(text))


def _started_poster(log: Path, forge: str) -> int:
    """Start the poster, and wait until nobody can look into it; the descriptor that is written to."""
    reading, writing = os.pipe()
    ready, hidden = os.pipe()
    command = [*_command(forge), f"/dev/fd/{reading}"]
    start(command, os.environ | {READY_VARIABLE: str(hidden)}, log, (reading, hidden))
    os.close(reading)
    os.close(hidden)
    select.select([ready], [], [], _READY)
    os.close(ready)
    os.set_inheritable(writing, True)  # noqa: FBT003 - as os has it
    return writing


def _command(forge: str) -> list[str]:
    """The poster's command line; the pipe's path is added to it."""
    if own := os.environ.get(COMMAND_VARIABLE):
        return shlex.split(own)
    kind = ["--forge", forge] if forge else []
    return [sys.executable, "-m", "afterd", "comment", *kind, "--outgoing"]
