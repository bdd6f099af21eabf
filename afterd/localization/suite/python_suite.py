"""Running a Python suite so that it counts.

The spectrum of a Python program: its suite run once, counted test by test.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from afterd.errors import TestError, TraceError
from afterd.execution.build import Builder
from afterd.execution.recipe import Recipe
from afterd.limits import RANKING
from afterd.localization.rows import CountRows
from afterd.localization.spectrum import NO_COLUMN, Entity, EntityKind, Run, Spectrum, spectrum_of
from afterd.localization.suite.counting import Counting
from afterd.model.location import Location
from afterd.spectra.python import Entity as Counted
from afterd.spectra.python import EntityKind as Kind
from afterd.spectra.python import PythonSpectra, shared_spectra
from afterd.vcs.worktree import Slot
from afterd.workspace import Suite, Workspace, python_request


def python_counts(
    workspace: Workspace, suite: Suite, tree: str, counting: Counting
) -> PythonSpectra:
    """Build ``tree``, run its suite once and count. TraceError where it does not build or run.

    Every process has a copy of the tree of its own, because tests write into it.
    """
    recipe = suite.recipe
    shares = min(counting.jobs, RANKING.shares)
    with ThreadPoolExecutor(shares) as pool:
        trees = list(
            pool.map(lambda share: _built_share(recipe, tree, share, counting), range(shares))
        )
    request = python_request(workspace, recipe, "counted/python-runs", piece=tree)
    counting.progress.stage("running the tests with counters")
    return shared_spectra(request, trees, counting.ran)


def _built_share(recipe: Recipe, tree: str, share: int, counting: Counting) -> Path:
    slot = Slot(counting.state / "counted" / f"python-{share}", counting.objects)
    built = Builder(slot).build(recipe, tree)
    if not built.ok:
        raise TraceError(
            f"The version to be ranked does not build ({built.detail.splitlines()[0]})."
        )
    return slot.path


_OUTCOMES = frozenset([Kind.PREDICATE, Kind.CONDITION])


@dataclass(slots=True)
class _Columns:
    """Columns as they are met; predicates and conditions have one for both outcomes.

    ``functions`` are the functions of lines.
    """

    functions: Mapping[tuple[str, int], str]
    entities: list[Entity] = field(default_factory=list)
    known: dict[tuple[EntityKind, str, int, str], int] = field(default_factory=dict)

    def number(self, kind: EntityKind, file: str, line: int, label: str, **ends: int) -> int:
        """The column of an entity, new or known."""
        key = (kind, file, line, label)
        if key not in self.known:
            self.known[key] = len(self.entities)
            where = Location(file, line, function=self.functions.get((file, line), ""))
            self.entities.append(Entity(kind, where, **ends))  # type: ignore[arg-type] # ends are columns
        return self.known[key]


def python_spectrum(found: PythonSpectra) -> Spectrum:
    """The rows that the tracer counted, as one matrix. TestError where no test was told apart."""
    if not found.tests:
        raise TestError(
            "The Python tests could not be told apart: only pytest and unittest can be ranked."
        )
    columns = _Columns({(each.file, each.line): each.function for each in found.known})
    blocks = _blocks(found.known, columns)
    of = [_column(entity, columns, blocks) for entity in found.known]
    rows, holding = CountRows(), CountRows()
    for counts in found.counts:
        executed: dict[int, int] = {}
        held: dict[int, int] = {}
        for position, count in counts.items():
            column, entity = of[position], found.known[position]
            if column == NO_COLUMN:
                continue
            executed[column] = executed.get(column, 0) + count
            if entity.kind in _OUTCOMES and entity.label.endswith("true"):
                held[column] = held.get(column, 0) + count
        rows.add_mapping(executed)
        holding.add_mapping(held)
    width = len(columns.entities)
    matrix, true = rows.matrix(width), holding.matrix(width)
    statements = {
        (entity.location.file, entity.location.line): column
        for column, entity in enumerate(columns.entities)
        if entity.kind is EntityKind.STATEMENT
    }
    runs = [
        Run(
            test.test,
            not test.passed,
            crashed_in=statements.get(test.raised, NO_COLUMN) if test.raised else NO_COLUMN,
        )
        for test in found.tests
    ]
    return spectrum_of(runs, columns.entities, matrix, true.minimum(matrix))


def _blocks(known: tuple[Counted, ...], columns: _Columns) -> Mapping[str, list[int]]:
    """The first lines of the blocks of each file, ascending; their columns come first."""
    lines: dict[str, set[int]] = {}
    for entity in known:
        if entity.kind is Kind.BLOCK:
            lines.setdefault(entity.file, set()).add(entity.line)
    ordered = {file: sorted(found) for file, found in lines.items()}
    for file, found in ordered.items():
        for line in found:
            columns.number(EntityKind.BLOCK, file, line, "")
    return ordered


def _column(entity: Counted, columns: _Columns, blocks: Mapping[str, list[int]]) -> int:
    """The column of a counted thing; NO_COLUMN for an edge to what is no block."""
    kind, file, line, label = entity.kind, entity.file, entity.line, entity.label

    def block(at: int) -> int:
        return columns.known.get((EntityKind.BLOCK, file, at, ""), NO_COLUMN)

    if kind is Kind.BLOCK:
        return block(line)
    if kind is Kind.EDGE:
        source, target = block(line), block(int(label))
        if NO_COLUMN in (source, target):
            return NO_COLUMN
        return columns.number(EntityKind.EDGE, file, line, label, source=source, target=target)
    if kind in _OUTCOMES:  # both outcomes are one column
        label = label.rpartition(":")[0]
    firsts = blocks.get(file, [])
    at = bisect_right(firsts, line) - 1
    around = block(firsts[at]) if at >= 0 else NO_COLUMN
    return columns.number(EntityKind(kind.value), file, line, label, block=around)
