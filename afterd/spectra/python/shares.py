"""The tests of a Python suite counted in several processes at the same time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path
from threading import Event

from afterd.spectra.python.entities import Entity
from afterd.spectra.python.spectra import PythonSpectra, counted_spectra, results
from afterd.trace.python.record.progress import tallied_tests
from afterd.trace.python.stage import PythonTraceRequest

Ran = Callable[[int, int], None]
"""Hears how many tests were run, and of how many."""

_LOOK_SECONDS = 0.1


def shared_spectra(request: PythonTraceRequest, trees: Sequence[Path], ran: Ran) -> PythonSpectra:
    """Run the suite, a share in each of ``trees`` (copies of one version), and count.

    The tests are in the suite's order, as if one process had run them. Where the processes did not
    collect the same tests, one of them runs all. Raises TraceError.
    """
    parts = _counted_shares(request, trees, ran)
    if not _are_shares(parts):
        parts = _counted_shares(request, trees[:1], ran)
    return merged_spectra(parts)


def _counted_shares(
    request: PythonTraceRequest, trees: Sequence[Path], ran: Ran
) -> Sequence[PythonSpectra]:
    requests = [replace(request, share=at, shares=len(trees)) for at in range(len(trees))]
    cancelled = Event()
    with ThreadPoolExecutor(len(trees)) as pool:
        futures = [
            pool.submit(counted_spectra, each, tree, cancelled)
            for each, tree in zip(requests, trees, strict=True)
        ]
        waiting = set(futures)
        try:
            while waiting:
                ended, waiting = wait(waiting, _LOOK_SECONDS)
                tallies = [tallied_tests(results(each)) for each in requests]
                ran(sum(done for done, _ in tallies), sum(tests for _, tests in tallies))
                for future in ended:
                    future.result()
        except BaseException:  # an interrupt, too, must not wait for the rest
            cancelled.set()
            raise
    return [future.result() for future in futures]


def _are_shares(parts: Sequence[PythonSpectra]) -> bool:
    """Whether each process ran other tests, of the same suite."""
    names = [{run.test for run in part.tests} for part in parts]
    distinct = len(set().union(*names)) == sum(map(len, names))
    return distinct and len({part.collected for part in parts}) == 1


def merged_spectra(parts: Sequence[PythonSpectra]) -> PythonSpectra:
    """The tests of all parts, over the entities that any of them knows."""
    numbers: dict[tuple[str, ...], int] = {}
    known: list[Entity] = []

    def number(entity: Entity) -> int:
        place = (entity.kind.value, entity.file, str(entity.line), entity.label)
        if numbers.setdefault(place, len(known)) == len(known):
            known.append(entity)
        return numbers[place]

    moves = [[number(entity) for entity in part.known] for part in parts]
    return PythonSpectra(
        tuple(run for part in parts for run in part.tests),
        tuple(
            {move[at]: count for at, count in counts.items()}
            for move, part in zip(moves, parts, strict=True)
            for counts in part.counts
        ),
        tuple(known),
        parts[0].collected,
    )
