"""Two runs compared: pairs, and what may be asked of any of them."""

from afterd.compare.pair import (
    CautiousExecution,
    Pair,
    Runs,
    RunT,
    Tracer,
    UntracedExecution,
    differences,
)

__all__ = [
    "CautiousExecution",
    "Pair",
    "RunT",
    "Runs",
    "Tracer",
    "UntracedExecution",
    "differences",
]
