"""Spectra of C and C++: counters that afterd-cc puts in, and what they count.

``plan`` says which counters a function has, ``weave`` puts them in, ``runtime.c`` keeps them in a file
that outlives the process, ``counts`` reads that, and ``program`` makes entities of it.
"""

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
