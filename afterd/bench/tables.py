"""Measurements as tables: one description of the columns, three ways to write it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from io import StringIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from afterd.bench.measurement import SLACKS, Measurement, Summary, summaries
from afterd.bench.overhead import Comparison
from afterd.bench.tree_facts import HEADINGS, TOTALS
from afterd.bench.tree_facts import rows as tree_rows
from afterd.bench.tree_facts import totals as tree_totals
from afterd.report.sanitize import prose, visible_text

Row = Sequence[str]
_WIDE = 160


@dataclass(frozen=True, slots=True)
class Grid:
    """A table before it is written; its first ``words`` columns are words, the others numbers."""

    title: str
    headings: Row
    rows: Sequence[Row]
    words: int = 1


def text(grids: Sequence[Grid]) -> str:
    """For the terminal, as wide as it needs to be; empty grids are left out."""
    stream = StringIO()
    console = Console(file=stream, width=_WIDE, highlight=False)
    for grid in grids:
        if grid.rows:
            console.print(_rich_table(grid))
            console.print()
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"


def markdown(grids: Sequence[Grid]) -> str:
    """For a document."""
    return "\n".join(_markdown(grid) for grid in grids if grid.rows)


def document(
    bench: str, machine: Mapping[str, object], rows: Sequence[Measurement | Comparison]
) -> str:
    """JSON for programs: the machine, and every row with the names of its fields."""
    content = {"bench": bench, "machine": machine, "rows": [asdict(row) for row in rows]}
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


@dataclass(frozen=True, slots=True)
class _Column:
    heading: str
    cell: Callable[[Measurement], str]


_COLUMNS = (
    _Column("case", lambda row: row.case),
    _Column("strategy", lambda row: row.strategy),
    _Column("result", lambda row: row.verdict.value),
    _Column("guilty", lambda row: _share_of(row.guilty, row.changes)),
    _Column("root", lambda row: _sum(row.root, row.auxiliary)),
    _Column("tests", lambda row: _share_of(row.tests, row.floor)),
    _Column("builds", lambda row: str(row.builds)),
    _Column("solver", lambda row: str(row.solver_calls)),
    _Column("causes", lambda row: str(row.causes) if row.causes else ""),
    _Column("seconds", lambda row: f"{row.seconds:.1f}"),
    _Column("MB", lambda row: f"{row.memory / 1e6:.0f}" if row.memory else ""),
    _Column("events", lambda row: f"{row.events:,}" if row.events else ""),
)


def measurement_tables(title: str, rows: Sequence[Measurement]) -> list[Grid]:
    """The measurements, what the strategies did over all of them, and what there is to say."""
    headings = [column.heading for column in _COLUMNS]
    cells = [[column.cell(row) for column in _COLUMNS] for row in rows]
    notes = [[row.case, row.strategy, row.note] for row in rows if row.note]
    return [
        Grid(title, headings, cells, words=3),
        _overall(summaries(rows)),
        Grid("Notes", ["case", "strategy", "note"], notes, words=3),
    ]


def trees(title: str, rows: Sequence[Measurement]) -> list[Grid]:
    """What the causal trees are worth, and what there is to say."""
    notes = [[row.case, row.note] for row in rows if row.note]
    return [
        Grid(title, HEADINGS, tree_rows(rows), words=2),
        Grid("All of them", TOTALS, tree_totals(rows)),
        Grid("Notes", ["case", "note"], notes, words=2),
    ]


def comparison_tables(title: str, rows: Sequence[Comparison]) -> list[Grid]:
    """What watching costs."""
    cells = [
        [row.what, f"{row.plain:.3f}", f"{row.watched:.3f}", f"{row.ratio:.1f}", row.note]
        for row in rows
    ]
    headings = ["what", "plain seconds", "by afterd", "times", "note"]
    return [Grid(title, headings, cells)]


def _overall(rows: Sequence[Summary]) -> Grid:
    within = [f"k+{slack}" for slack in SLACKS]
    headings = ["strategy", "asked", "matched", "partial", "missed", "reported/guilty"]
    cells = [
        [
            row.strategy,
            *map(str, (row.asked, row.matched, row.partial, row.missed)),
            f"{row.excess:.2f}",
            *(_share_of(count, row.asked) for count in row.within),
            str(row.tests),
            f"{row.seconds:.0f}",
        ]
        for row in rows
    ]
    return Grid("All cases", [*headings, *within, "tests", "seconds"], cells)


def _share_of(part: int, whole: int) -> str:
    return f"{part}/{whole}"


def _sum(root: int, auxiliary: int) -> str:
    return f"{root}+{auxiliary}" if auxiliary else str(root)


def _rich_table(grid: Grid) -> Table:
    table = Table(title=grid.title, title_justify="left", box=None, pad_edge=False)
    for number, heading in enumerate(grid.headings):
        table.add_column(heading, justify="left" if number < grid.words else "right")
    for row in grid.rows:
        table.add_row(*(Text(visible_text(cell)) for cell in row))
    return table


def _markdown(grid: Grid) -> str:
    rule = ["---" if number < grid.words else "--:" for number in range(len(grid.headings))]
    rows = [grid.headings, rule, *([_escaped_cell(cell) for cell in row] for row in grid.rows)]
    lines = [f"**{grid.title}**", "", *(f"| {' | '.join(row)} |" for row in rows), ""]
    return "\n".join(lines)


def _escaped_cell(cell: str) -> str:
    """Plain where nothing in it means anything to Markdown."""
    plain = all(sign.isalnum() or sign in " ./+-:;,%×()" for sign in cell)
    return cell if plain else prose(cell)
