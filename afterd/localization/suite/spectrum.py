"""What tracers counted, as the spectrum that techniques rank."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from afterd.localization.rows import CountRows
from afterd.localization.spectrum import NO_COLUMN, Run, Spectrum, spectrum_of
from afterd.model.entity import Entity
from afterd.spectra.c import CountedProgram, Process, crashed_in, summed_counts


@dataclass(frozen=True, slots=True)
class CountedTest:
    """One run of a test and the processes of it that counted."""

    name: str
    failed: bool
    processes: Sequence[Process]
    detail: str = ""


def spectrum_of_processes(program: CountedProgram, tests: Sequence[CountedTest]) -> Spectrum:
    """The spectrum of a counted C or C++ program; the processes of one test are one run."""
    rows, runs = CountRows(), list[Run]()
    for test in tests:
        counts = summed_counts(list(test.processes), program.size)
        counters = np.flatnonzero(counts)
        rows.add(counters, counts[counters])
        started = [process.invocation for process in test.processes] if test.failed else []
        invocations = tuple(dict.fromkeys(i for i in started if i is not None))
        crash = _crash(program, test.processes)
        runs.append(Run(test.name, test.failed, test.detail, crash, invocations))
    counted = rows.matrix(program.size)
    executed = sparse.csr_array(counted @ program.executed)
    held = sparse.csr_array(counted @ program.held)
    # A counter that stopped at its largest value can make a difference of two negative.
    executed.data = np.maximum(executed.data, 0)
    held.data = np.maximum(held.data, 0)
    return spectrum_of(runs, program.entities, executed, held.minimum(executed))


def _crash(program: CountedProgram, processes: Sequence[Process]) -> int:
    """Where the first process that died of a signal did."""
    for process in processes:
        if process.signal:
            return crashed_in(program.frames, summed_counts([process], program.size))
    return NO_COLUMN


def narrowed_spectrum(spectrum: Spectrum, keep: Callable[[Entity], bool]) -> Spectrum:
    """The spectrum of fewer entities: those that ``keep`` holds of (whole functions, or files)."""
    kept = np.array([keep(entity) for entity in spectrum.entities], np.bool_)
    columns = np.flatnonzero(kept)
    number = np.full(kept.size + 1, NO_COLUMN)
    number[columns] = np.arange(columns.size)  # the last one answers for NO_COLUMN

    def moved(entity: Entity) -> Entity:
        ends = (int(number[end]) for end in (entity.block, entity.source, entity.target))
        block, source, target = ends
        return replace(entity, block=block, source=source, target=target)

    return spectrum_of(
        [replace(run, crashed_in=int(number[run.crashed_in])) for run in spectrum.runs],
        [moved(spectrum.entities[column]) for column in columns],
        spectrum.executed[:, columns],
        spectrum.held[:, columns],
    )
