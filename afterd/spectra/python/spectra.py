"""Per-test spectra of a Python program, counted by the instrumented code itself."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from typing import Any

from afterd.spectra.python.entities import Count, Entity, EntityKind, entities
from afterd.trace.python.read import Trace
from afterd.trace.python.record.counting import TRUTH_BITS
from afterd.trace.python.stage import PythonTraceRequest, record

Place = tuple[EntityKind, str, int, str]


@dataclass(frozen=True, slots=True)
class TestRun:
    """One test of a run: its id as the runner has it, and whether it passed.

    ``raised`` is the innermost line of the tree (file, line) that its exception came through.
    """

    __test__ = False  # pytest collects classes named Test*
    test: str
    passed: bool
    raised: tuple[str, int] | None = None


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
    """All tests of a run and what they executed.

    ``known`` are the entities there are, one a place (kind, file, line, label); ``counts[i]`` says of
    ``tests[i]`` how often it executed which of them, by their position. ``collected`` is the number of
    tests of which these are a share.
    """

    tests: tuple[TestRun, ...]
    counts: tuple[Mapping[int, int], ...]
    known: tuple[Entity, ...]
    collected: int = 0

    @property
    def rows(self) -> Iterator[SpectrumRow]:
        """The counts, a row each."""
        for run, counts in zip(self.tests, self.counts, strict=True):
            for position, count in counts.items():
                entity = self.known[position]
                place = (entity.kind, entity.file, entity.line, entity.label)
                yield SpectrumRow(run.test, *place, count)


def results(request: PythonTraceRequest) -> Path:
    """The directory in which a counting run leaves what it counted."""
    return request.directory / "spectra" / f"counts-{request.share}"


def counted_spectra(
    request: PythonTraceRequest, tree: Path, cancelled: Event | None = None
) -> PythonSpectra:
    """Run ``request.command`` in ``tree`` (usually many tests) and count. Raises TraceError."""
    out = results(request)
    within = replace(request, directory=out.parent)
    recorded = record(within, tree, out.name, mode="count", cancelled=cancelled)
    raw = max(recorded.traces, key=lambda raw: len(raw.header["tests"]))
    trace = Trace(raw, out.parent / "cache")
    every = [entity for module in trace.all_modules() for entity in entities(module)]
    positions: dict[Place, int] = {}
    known: list[Entity] = []
    for entity in every:
        if positions.setdefault(_place(entity), len(known)) == len(known):
            known.append(entity)
    parts = _parts(every)
    facts = raw.header["tests"]
    counts = tuple(
        _executions_by_position(fact["counts"], every, parts, positions) for fact in facts
    )
    raised = _raising_frames(raw.header["failures"], {entity.file for entity in known}, tree)
    tests = tuple(TestRun(f["test"], f["passed"], raised.get(f["test"])) for f in facts)
    return PythonSpectra(tests, counts, tuple(known), raw.header["collected"])


def _raising_frames(
    failures: Sequence[Mapping[str, Any]], files: Collection[str], tree: Path
) -> Mapping[str, tuple[str, int]]:
    """Per test the innermost frame in a traced module of its first failure."""
    root = str(tree.resolve()) + "/"
    found: dict[str, tuple[str, int]] = {}
    for failure in failures:
        own = [(name.removeprefix(root), line) for name, line, _ in failure["frames"]]
        inner = [(file, line) for file, line in own if file in files]
        if inner:
            found.setdefault(failure["test"], inner[-1])
    return found


def _place(entity: Entity) -> Place:
    return entity.kind, entity.file, entity.line, entity.label


def _parts(every: Sequence[Entity]) -> Mapping[int, Sequence[int]]:
    """Which entities a counted key is part of."""
    parts: dict[int, list[int]] = {}
    for number, entity in enumerate(every):
        for count in entity.counts:
            parts.setdefault(_key(count), []).append(number)
    return parts


def _executions_by_position(
    flat: Sequence[int],
    every: Sequence[Entity],
    parts: Mapping[int, Sequence[int]],
    positions: Mapping[Place, int],
) -> Mapping[int, int]:
    """The executions of one test by position."""
    totals: dict[int, int] = {}
    for key, count in zip(flat[::2], flat[1::2], strict=True):
        for number in parts.get(key, ()):
            totals[number] = totals.get(number, 0) + count
    merged: dict[int, int] = {}
    for number, total in totals.items():  # pytest makes several statements of one assert
        position = positions[_place(every[number])]
        merged[position] = max(total, merged.get(position, 0))
    return merged


def _key(count: Count) -> int:
    """The runtime's key of a count: see ``runtime.counting``."""
    outcome = 0 if count.truth is None else 1 if count.truth else 2
    return count.site << TRUTH_BITS | outcome
