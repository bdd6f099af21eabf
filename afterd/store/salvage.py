"""What can be read of a damaged database, and makes sense.

Table by table: the rows of a numbered table in halves around the pages that cannot be read, those of
others from both ends. The parts of an explanation (its root, its tree) are written anew from the JSON that
stands beside it; an explanation without is left out, for half a root is a wrong answer.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from afterd.store.text import Cell, loaded_text, stored_text

_PARTS = ("failure", "change", "cause", "step", "ranking", "run_counts")
_QUESTIONS = 100_000

Rows = Iterator[tuple[object, ...]]
Told = dict[str, Any]


@dataclass(slots=True)
class Salvage:
    """What came over, and from which tables something did not."""

    kept: dict[str, int] = field(default_factory=dict)
    lost: set[str] = field(default_factory=set)


def read_only(copy: Path) -> sqlite3.Connection:
    """A connection to a copy (so it may write its log); text that is no text comes as bytes."""
    opened = sqlite3.connect(copy, isolation_level=None)
    opened.text_factory = lambda data: data.decode(errors="strict")
    return opened


def salvaged_rows(copy: Path, into: sqlite3.Connection) -> Salvage:
    """Copy what a damaged file still says into an empty database of the present schema."""
    salvage = Salvage()
    tables = [name for (name,) in into.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid"
    )]  # fmt: skip
    into.execute("BEGIN IMMEDIATE")
    with closing(read_only(copy)) as damaged:
        for table in tables:
            if table not in _PARTS:
                _copy_table(damaged, into, table, salvage)
    _make_whole(into, salvage)
    if salvage.lost & {"job", "ref_tip", "repository"}:
        into.execute("DELETE FROM ref_tip")
    for table in tables:
        salvage.kept[table] = into.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # noqa: S608 - our schema's
    into.execute("COMMIT")
    return salvage


def _copy_table(
    damaged: sqlite3.Connection, into: sqlite3.Connection, table: str, salvage: Salvage
) -> None:
    """Copy the rows that can be read and that the schema takes."""
    own = [row[1] for row in into.execute(f"PRAGMA table_info({table})")]
    try:
        theirs = {row[1] for row in damaged.execute(f"PRAGMA table_info({table})")}
    except sqlite3.DatabaseError:
        theirs = set()
    columns = [name for name in own if name in theirs]
    if not columns:
        salvage.lost.add(table)
        return
    names = ", ".join(f'"{name}"' for name in columns)
    marks = ", ".join("?" * len(columns))
    for row in _rows(damaged, table, names, salvage):
        try:
            into.execute(f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({marks})", row)  # noqa: S608 - our schema's
        except sqlite3.Error:  # NULL where none may be: a page that was overwritten
            salvage.lost.add(table)


def _rows(damaged: sqlite3.Connection, table: str, names: str, salvage: Salvage) -> Rows:
    select = f"SELECT {names} FROM {table}"  # noqa: S608 - our schema's own words
    try:
        yield from damaged.execute(select)
    except (sqlite3.DatabaseError, UnicodeDecodeError):
        salvage.lost.add(table)
    else:
        return
    if _is_numbered(damaged, table):
        yield from _in_halves(
            damaged, f"{select} WHERE rowid BETWEEN", *_number_bounds(damaged, table)
        )
    else:
        key = [row[1] for row in damaged.execute(f"PRAGMA table_info({table})") if row[5]]
        yield from _readable_rows(
            damaged, f"{select} ORDER BY {', '.join(f'{name} DESC' for name in key)}"
        )


def _readable_rows(damaged: sqlite3.Connection, select: str) -> Rows:
    """The rows before the first one that cannot be read."""
    with suppress(sqlite3.DatabaseError, UnicodeDecodeError):
        yield from damaged.execute(select)


def _in_halves(damaged: sqlite3.Connection, select: str, first: int, last: int) -> Rows:
    """The rows of a span of numbers; a half that cannot be read is halved again.

    A bound may be what a damaged page says: so many questions, and no more.
    """
    waiting = [(first, last)]
    for _ in range(_QUESTIONS):
        if not waiting:
            return
        low, high = waiting.pop()
        try:
            found = damaged.execute(f"{select} {low} AND {high}").fetchall()
        except (sqlite3.DatabaseError, UnicodeDecodeError):
            middle = (low + high) // 2
            waiting += [(middle + 1, high), (low, middle)] if low < high else []
        else:
            yield from found


def _is_numbered(damaged: sqlite3.Connection, table: str) -> bool:
    try:
        damaged.execute(f"SELECT rowid FROM {table} WHERE rowid = 0").fetchall()  # noqa: S608 - our schema's
    except sqlite3.OperationalError:
        return False
    except sqlite3.DatabaseError:
        return True
    return True


def _number_bounds(damaged: sqlite3.Connection, table: str) -> tuple[int, int]:
    """The least and the greatest number that can be read from either end."""
    ends: list[int] = []
    for order in ("ASC", "DESC"):
        query = f"SELECT rowid FROM {table} ORDER BY rowid {order} LIMIT 1"  # noqa: S608 - our schema's
        ends += [int(str(row[0])) for row in _readable_rows(damaged, query)][:1]
    query = "SELECT seq FROM sqlite_sequence WHERE name = ?"
    with suppress(sqlite3.DatabaseError):
        ends += [row[0] for row in damaged.execute(query, (table,))]
    return (min(1, *ends), max(ends)) if len(ends) > 1 else (1, max(ends, default=0))


def _make_whole(into: sqlite3.Connection, salvage: Salvage) -> None:
    """Write the parts that an explanation lost anew from its JSON; drop what belongs to nothing."""
    for row in into.execute("SELECT id, range_id, status, contract FROM explanation").fetchall():
        try:
            _write_parts(into, *row)
        except (ValueError, KeyError, TypeError, sqlite3.Error):
            salvage.lost.add("explanation")
            into.execute("DELETE FROM explanation WHERE id = ?", row[:1])
    while orphans := into.execute("PRAGMA foreign_key_check").fetchall():
        for table, number, *_ in orphans:
            salvage.lost.add(table)
            if number is None:  # a table without row numbers: all of its orphans at once
                into.execute(
                    f"DELETE FROM {table} WHERE explanation_id NOT IN (SELECT id FROM explanation)"  # noqa: S608 - our schema's
                    if table in _PARTS
                    else f"DELETE FROM {table}"  # noqa: S608 - our schema's
                )
            elif table in ("verdict", "outgoing"):  # it stays true without its explanation
                _let_go(into, table, number)
            else:
                into.execute(f"DELETE FROM {table} WHERE rowid = ?", (number,))  # noqa: S608 - our schema's


def _let_go(into: sqlite3.Connection, table: str, number: int) -> None:
    gone = "(explanation_id IS NOT NULL AND explanation_id NOT IN (SELECT id FROM explanation))"
    touched = into.execute(
        f"UPDATE {table} SET explanation_id = NULL WHERE rowid = ? AND {gone}",  # noqa: S608 - our schema's
        (number,),
    ).rowcount
    if not touched:
        into.execute(f"DELETE FROM {table} WHERE rowid = ?", (number,))  # noqa: S608 - our schema's


def _write_parts(
    into: sqlite3.Connection, identifier: int, range_id: int, status: str, contract: str | bytes
) -> None:
    """Write the rows of an explanation beside its own, as its JSON tells them.

    Raises ValueError, KeyError or TypeError where that is not what afterd writes.
    """
    told = json.loads(loaded_text(contract))
    if told["status"] != status:
        raise ValueError("it contradicts itself")
    ends = told["range"]
    into.execute(
        "INSERT OR IGNORE INTO revision_range SELECT ?, min(id), ?, ? FROM repository",
        (range_id, ends["good"], ends["bad"]),
    )
    for table in _PARTS:
        into.execute(f"DELETE FROM {table} WHERE explanation_id = ?", (identifier,))  # noqa: S608 - ours
    for table, row in _parts(told):
        cells = {"explanation_id": identifier, **row}
        names, marks = ", ".join(cells), ", ".join("?" * len(cells))
        into.execute(
            f"INSERT INTO {table} ({names}) VALUES ({marks})",  # noqa: S608 - our own words
            [_cell(name, value) for name, value in cells.items()],
        )


def _cell(name: str, value: Any) -> Cell:  # noqa: ANN401 - of JSON
    if value is None:  # what is unknown is null there
        return 0 if name == "line" else "" if name != "parent" else None
    if isinstance(value, list | dict):
        return json.dumps(value)
    return stored_text(value) if isinstance(value, str) else value


def _parts(told: Told) -> Iterator[tuple[str, Told]]:
    """The rows of the tables of parts, without the explanation's id; the inverse of the JSON contract."""
    if told["failure"] is not None:
        yield "failure", told["failure"]
    for role in ("root", "auxiliary"):
        for position, change in enumerate(told[role]):
            spans = {
                f"{side}_{name}": change[side][i]
                for side in ("old", "new")
                for i, name in enumerate(("start", "count"))
            }
            rest = {name: value for name, value in change.items() if name not in ("old", "new")}
            yield "change", {"role": role, "position": position, "pruned": "", **spans, **rest}
    for position, line in enumerate(told["ranking"]):
        yield "ranking", {"position": position, **line}
    seconds = {f"seconds_{stage}": spent for stage, spent in told["runs"]["seconds"].items()}
    yield "run_counts", {n: v for n, v in told["runs"].items() if n != "seconds"} | seconds
    yield from _tree_parts(told["tree"])


def _tree_parts(tree: Told | None) -> Iterator[tuple[str, Told]]:
    """Nodes numbered depth first, as ``causes.save_tree`` does."""
    waiting: list[tuple[Told, int | None]] = [(tree, None)] if tree else []
    number = 0
    while waiting:
        node, parent = waiting.pop()
        named = {name: node[name] for name in ("predicate", "file", "line", "evidence")}
        yield "cause", {"node": number, "parent": parent, **named}
        for position, step in enumerate(node["steps"]):
            yield "step", {"node": number, "position": position, **step}
        waiting += [(cause, number) for cause in reversed(node["causes"])]
        number += 1
