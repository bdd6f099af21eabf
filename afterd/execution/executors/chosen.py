"""The executor that the settings name; a cluster's client is imported only when it is used.

An executor that also lends slots on this machine, for what is not a job.
"""

from __future__ import annotations

import importlib
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from afterd.errors import ConfigurationError
from afterd.execution.executors.local import LocalExecutor
from afterd.execution.executors.protocol import Executor
from afterd.execution.executors.workbench import Workbench

LOCAL = "local"
_DASK = "dask://"


def chosen_executor(setting: str, objects: Path, local: LocalExecutor) -> BenchExecutor:
    """``local``, or ``dask://HOST:PORT`` with ``local`` for what is done here in any case.

    Raises ConfigurationError where the client is not installed, SandboxError where no cluster is.
    """
    if setting == LOCAL:
        return local
    address = f"tcp://{setting.removeprefix(_DASK)}"
    try:
        module = importlib.import_module("afterd.execution.executors.dask")
    except ImportError as error:
        raise ConfigurationError(
            f"The executor {setting} needs `pip install 'afterd[dask]'` ({error.name} is missing)."
        ) from error
    executor: BenchExecutor = module.DaskExecutor(address, objects, local)
    return executor


class BenchExecutor(Executor, Protocol):
    """Where a pipeline works: jobs anywhere, tracing and listing tests here."""

    def workbench(self, tree: str = "") -> AbstractContextManager[Workbench]:
        """A free slot of this machine; of those that are free, the one that holds ``tree``."""
        ...
