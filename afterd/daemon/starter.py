"""Who starts the daemon has the token in its environment: no test runs before that process is gone.

On a quick machine the first test began while ``afterd daemon start`` still waited for its daemon, and
could read the token in its ``/proc/PID/environ``. The end of a process closes its pipes after its
memory is gone, so a pipe tells.
"""

from __future__ import annotations

import os
import select
from collections.abc import Mapping

_VARIABLE = "AFTERD_STARTER"
_LONGEST = 15.0


def announced_environment(environment: Mapping[str, str]) -> tuple[dict[str, str], int]:
    """An environment for the daemon, and the descriptor that it has to inherit.

    The other end of the pipe stays open until this process ends.
    """
    reading, _ = os.pipe()
    return {**environment, _VARIABLE: str(reading)}, reading


def wait_for_starter() -> None:
    """Wait until the process that started this one has ended, 15 s at most; at once where none says so."""
    text = os.environ.pop(_VARIABLE, "")
    if text:
        select.select([int(text)], [], [], _LONGEST)
        os.close(int(text))
