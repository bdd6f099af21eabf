"""A pair of runs of a C or C++ program."""

from afterd.compare.c.execution import CTracer, LlvmExecution
from afterd.compare.c.outputs import TREES

__all__ = [
    "TREES",
    "CTracer",
    "LlvmExecution",
]
