"""Spectra of C and C++: counters that afterd-cc puts in, and what they count.

``plan`` says which counters a function has, ``weave`` puts them in, ``runtime.c`` keeps them in a file
that outlives the process, ``counts`` reads that, and ``program`` makes entities of it.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from afterd.spectra.c.build import USUAL, WIDTHS, prepared_store
    from afterd.spectra.c.counts import Process, processes, summed_counts
    from afterd.spectra.c.crash import crashed_in
    from afterd.spectra.c.program import CountedProgram, counted_program
    from afterd.spectra.c.session import CountedBuild, CountedRun, counted_build, counted_run

__all__ = [
    "USUAL",
    "WIDTHS",
    "CountedBuild",
    "CountedProgram",
    "CountedRun",
    "Process",
    "counted_build",
    "counted_program",
    "counted_run",
    "crashed_in",
    "prepared_store",
    "processes",
    "summed_counts",
]


def __getattr__(name: str) -> object:
    """A module is imported when it is asked for: afterd-cc needs none of them, and imported scipy for each file."""
    if name in __all__:
        for module in ("build", "counts", "crash", "session", "program"):
            found = vars(importlib.import_module(f"{__name__}.{module}"))
            if name in found:
                return found[name]
    raise AttributeError(name)
