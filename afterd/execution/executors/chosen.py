"""The executor that the settings name; a cluster's client is imported only when it is used."""

from __future__ import annotations

import importlib
from pathlib import Path

from afterd.errors import ConfigurationError
from afterd.execution.executors.benches import BenchExecutor
from afterd.execution.executors.local import LocalExecutor

LOCAL = "local"
_DASK = "dask://"


def chosen(setting: str, objects: Path, local: LocalExecutor) -> BenchExecutor:
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
