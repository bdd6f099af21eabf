"""A pair of runs of a Python program."""

from afterd.compare.python.execution import (
    PythonExecution,
    PythonTracer,
    executed_lines,
    executed_spans,
    loaded_files,
)

__all__ = [
    "PythonExecution",
    "PythonTracer",
    "executed_lines",
    "executed_spans",
    "loaded_files",
]
