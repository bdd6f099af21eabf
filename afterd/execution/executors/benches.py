"""An executor that also lends slots on this machine, for what is not a job."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from afterd.execution.executors.protocol import Executor
from afterd.execution.executors.workbench import Workbench


class BenchExecutor(Executor, Protocol):
    """Where a pipeline works: jobs anywhere, tracing and listing tests here."""

    def workbench(self, tree: str = "") -> AbstractContextManager[Workbench]:
        """A free slot of this machine; of those that are free, the one that holds ``tree``."""
        ...
