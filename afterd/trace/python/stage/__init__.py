"""Running a test of one version under the recorder, and running variants again cheaply."""

from afterd.trace.python.stage.command import (
    PythonCommand,
    folders_beside,
    of_shell,
    python_command,
    text_for_shell,
    without_quoted,
)
from afterd.trace.python.stage.reexecution import WarmPython, WarmTests
from afterd.trace.python.stage.runner import PythonTraceRequest, record

__all__ = [
    "PythonCommand",
    "PythonTraceRequest",
    "WarmPython",
    "WarmTests",
    "folders_beside",
    "of_shell",
    "python_command",
    "record",
    "text_for_shell",
    "without_quoted",
]
