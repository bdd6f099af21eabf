"""Programs that pytest's tests start, told apart by a plugin of ours (``afterd_counts``)."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from afterd.execution.runners.plugins import afterd_counts
from afterd.spectra.c.counts import Process, processes

_PLUGIN = afterd_counts.__name__.rpartition(".")[2]
_FOLDER = str(Path(afterd_counts.__file__).parent)


@dataclass(frozen=True, slots=True)
class PytestTest:
    """A test by its node id, and the counted processes that it started."""

    name: str
    failed: bool
    processes: tuple[Process, ...]


def telling_apart(base: Mapping[str, str]) -> Mapping[str, str]:
    """The variables with which any pytest that a command starts loads the plugin."""
    paths = filter(None, (base.get("PYTHONPATH"), _FOLDER))
    plugins = filter(None, (base.get("PYTEST_PLUGINS"), _PLUGIN))
    return {"PYTHONPATH": os.pathsep.join(paths), "PYTEST_PLUGINS": ",".join(plugins)}


def pytest_tests(directory: Path, bits: int) -> list[PytestTest]:
    """The tests of a run that counted into ``directory``, in the order in which they ended."""
    files = directory.glob(f"*/{afterd_counts.FILE_NAME}")
    return [_read(path, bits) for path in sorted(files, key=lambda path: path.stat().st_mtime_ns)]


def _read(path: Path, bits: int) -> PytestTest:
    said = json.loads(path.read_text(encoding="utf-8"))
    return PytestTest(said["id"], said["failed"], tuple(processes(path.parent, bits)))
