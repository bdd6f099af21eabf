"""A pair of runs of a C or C++ program."""

from afterd.compare.c.execution import CTracer, LlvmExecution

__all__ = [
    "CTracer",
    "LlvmExecution",
]
