"""Settings: what can be said, how it is read, and where it is read from."""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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


def __getattr__(name: str) -> object:
    """A setting's module is imported when it is asked for: what is secret is asked by every process."""
    if name in __all__:
        for module in ("kinds", "settings", "sources"):
            found = vars(importlib.import_module(f"afterd.config.{module}"))
            if name in found:
                return found[name]
    raise AttributeError(name)
