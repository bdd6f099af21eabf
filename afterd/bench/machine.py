"""What the numbers were measured on."""

from __future__ import annotations

import datetime as dt
import os
import platform
from collections.abc import Mapping
from pathlib import Path

from afterd import __version__
from afterd.errors import ToolchainError
from afterd.execution.toolchain import find


def machine() -> Mapping[str, object]:
    """Versions, processors and memory, for the head of a table."""
    return {
        "afterd": __version__,
        "date": dt.datetime.now(tz=dt.UTC).date().isoformat(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": _cores(),
        "memory_gib": round(_memory() / (1 << 30), 1),
        "clang": _clang(),
    }


def sentence(facts: Mapping[str, object]) -> str:
    """The facts on one line."""
    return (
        f"{facts['date']}, afterd {facts['afterd']}, Python {facts['python']}, {facts['clang']},"
        f" {facts['system']}, {facts['cores']} cores, {facts['memory_gib']} GiB"
    )


def _cores() -> int:
    """Those that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _clang() -> str:
    try:
        found = find()
    except ToolchainError:
        return "no clang"
    return f"{Path(found.argv[0]).name} {found.version}"
