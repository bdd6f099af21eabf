"""Two runs compared: pairs, and what may be asked of any of them."""

from afterd.compare.cautious import CautiousExecution
from afterd.compare.pair import Pair, Runs, RunT, Tracer, differences
from afterd.compare.untraced import UntracedExecution

__all__ = [
    "CautiousExecution",
    "Pair",
    "RunT",
    "Runs",
    "Tracer",
    "UntracedExecution",
    "differences",
]
