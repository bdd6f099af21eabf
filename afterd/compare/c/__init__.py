"""A pair of runs of a C or C++ program."""

from afterd.compare.c.execution import CTracer, LlvmExecution
from afterd.compare.c.paired import built_for

__all__ = [
    "CTracer",
    "LlvmExecution",
    "built_for",
]
