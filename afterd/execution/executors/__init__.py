"""Where variants are built and tested: on this machine, or on others."""

from afterd.execution.executors.local import LocalExecutor
from afterd.execution.executors.protocol import Attempt, Executor, Job

__all__ = ["Attempt", "Executor", "Job", "LocalExecutor"]
