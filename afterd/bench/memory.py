"""The peak memory of afterd itself: this process and its workers, not what they build and test."""

from __future__ import annotations

import os
import resource
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

from afterd.execution.process_tree import resident, walk
from afterd.execution.sandbox import RUN_VARIABLE

_INTERVAL = 0.2
_TAG = f"{RUN_VARIABLE}=".encode()


class PeakMemory:
    """A context in which memory is looked at five times a second; ``peak`` in bytes.

    Where there is no /proc only this process counts.
    """

    def __init__(self) -> None:
        self.peak = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="peak-memory", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._thread.join()
        self.peak = max(self.peak, _own_peak())

    def _watch(self) -> None:
        while not self._ended.wait(_INTERVAL):
            self.peak = max(self.peak, resident([os.getpid(), *_workers()]))


def _workers() -> list[int]:
    """Descendants that are afterd's own: what is built and tested carries its run's mark."""
    return [pid for pid in walk(os.getpid()) if not _is_marked(pid)]


def _is_marked(pid: int) -> bool:
    try:
        return _TAG in Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:  # it ended in the meantime
        return True


def _own_peak() -> int:
    """The kernel's own record, which no sampling misses."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak << 10
