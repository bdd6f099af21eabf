"""Settings: what can be said, how it is read, and where it is read from."""

from afterd.config.kinds import Budget, Format, Sandbox, Strategy
from afterd.config.settings import (
    Settings,
    catalogue,
    command_line,
    environment_name,
    privileged_names,
    shell,
)
from afterd.config.sources import FILE_NAME, load

__all__ = [
    "FILE_NAME",
    "Budget",
    "Format",
    "Sandbox",
    "Settings",
    "Strategy",
    "catalogue",
    "command_line",
    "environment_name",
    "load",
    "privileged_names",
    "shell",
]
