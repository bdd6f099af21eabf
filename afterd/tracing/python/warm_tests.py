"""Warm processes for the slots of one repository: what one of them saw spares the others a probe."""

from __future__ import annotations

from pathlib import Path

from afterd.execution.process import Command
from afterd.limits import ProcessLimits
from afterd.tracing.python.command import python_command
from afterd.tracing.python.reexecution import Seen, WarmPython


class WarmTests:
    """Gets commands ready; ``staging`` keeps the runtime that the program's interpreter loads."""

    def __init__(self, staging: Path) -> None:
        self._staging = staging
        self._seen: dict[tuple[str, ...], Seen] = {}

    def __call__(
        self, command: Command, tree: Path, limits: ProcessLimits, scratch: Path | None
    ) -> WarmPython | None:
        """A warm process, which may be cold; None for a command that does not start Python."""
        if python_command(command.argv, command.environment, command.cwd) is None:
            return None
        seen = self._seen.get(command.argv)
        made = WarmPython(command, tree, self._staging, limits, scratch=scratch, seen=seen)
        if made.seen is not None:
            self._seen[command.argv] = made.seen
        return made
