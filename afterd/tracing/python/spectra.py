"""Per-test spectra of a Python program, counted by the instrumented code itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from afterd.tracing.python.entities import Count, Entity, EntityKind, entities
from afterd.tracing.python.request import PythonTraceRequest
from afterd.tracing.python.runner import record
from afterd.tracing.python.runtime.counting import TRUTH_BITS
from afterd.tracing.python.trace import Trace
from afterd.tracing.python.tracefile import Raw


@dataclass(frozen=True, slots=True)
class TestRun:
    """One test of a run: its id as the runner has it, and whether it passed."""

    __test__ = False  # pytest collects classes named Test*
    test: str
    passed: bool


@dataclass(frozen=True, slots=True)
class SpectrumRow:
    """How often a test executed an entity; entities that it did not execute have no row.

    ``kind`` is statement, block, edge (``label`` is the target's line), predicate (``label`` true
    or false) or condition (``label`` is its position in the predicate and its outcome). Edges and
    blocks are named by the line of their first statement.
    """

    test: str
    kind: EntityKind
    file: str
    line: int
    label: str
    count: int


@dataclass(frozen=True, slots=True)
class PythonSpectra:
    """All tests of a run and what they executed; ``known`` are the entities there are."""

    tests: tuple[TestRun, ...]
    rows: tuple[SpectrumRow, ...]
    known: tuple[Entity, ...]


def spectra(request: PythonTraceRequest, tree: Path) -> PythonSpectra:
    """Run ``request.command`` in ``tree`` (usually many tests) and count. Raises TraceError."""
    recorded = record(
        replace(request, directory=request.directory / "spectra"), tree, "counts", mode="count"
    )
    raw = recorded.traces[0]
    trace = Trace(raw, request.directory / "spectra" / "cache")
    known = tuple(entity for module in trace.all_modules() for entity in entities(module))
    tests = tuple(TestRun(fact["test"], fact["passed"]) for fact in raw.header["tests"])
    return PythonSpectra(tests, tuple(_rows(raw, known)), known)


def _rows(raw: Raw, known: tuple[Entity, ...]) -> Iterator[SpectrumRow]:
    for fact in raw.header["tests"]:
        flat = fact["counts"]
        counts = dict(zip(flat[::2], flat[1::2], strict=True))
        merged: dict[tuple[EntityKind, str, int, str], int] = {}
        for entity in known:
            total = sum(counts.get(_key(count), 0) for count in entity.counts)
            place = (entity.kind, entity.file, entity.line, entity.label)
            if total:  # pytest makes several statements of one assert; they share its line
                merged[place] = max(total, merged.get(place, 0))
        for place, total in merged.items():
            yield SpectrumRow(fact["test"], *place, total)


def _key(count: Count) -> int:
    """The runtime's key of a count: see ``runtime.counting``."""
    outcome = 0 if count.truth is None else 1 if count.truth else 2
    return count.site << TRUTH_BITS | outcome
