"""``docs/database.md`` from the schema's text: ``python -m afterd.store.document`` prints it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from afterd.store.schema import SCHEMA, SCHEMA_VERSION

_TABLE = re.compile(
    r"^-- (?P<comment>[^\n]+)\nCREATE TABLE (?P<name>\w+) \(\n(?P<body>(?: .*\n)+)\)", re.MULTILINE
)
_COLUMN = re.compile(
    r"^    (?P<name>[a-z]\w*) (?P<type>[A-Z]+)[^-\n]*?(?:-- (?P<comment>.*))?$", re.MULTILINE
)

_INTRODUCTION = f"""\
# The database

One SQLite file, `afterd.db`, in the state directory (`$(git rev-parse --git-common-dir)/afterd/`).
Read it with any SQLite tool; afterd is the only writer. This page is made from
`afterd/store/schema.py` by `python -m afterd.store.document`, and a test compares the two.

- The schema is version {SCHEMA_VERSION} (`PRAGMA user_version`). An older file is migrated when it
  is opened; a newer one is refused untouched, naming both versions.
- Journal mode WAL, `synchronous=FULL`. Every write is one `BEGIN IMMEDIATE` transaction under an
  advisory lock (`afterd.db.lock`), so that one connection writes and checkpoints at a time.
- A damaged, truncated or empty file is set aside as `afterd.db.damaged-TIME` when it is opened (or the
  next time, where the damage is met later), once and with a sentence: what can be read is in the new
  file, answers are written anew from their JSON, or left out. `afterd.db.head` is a copy of the pages
  that say where tables begin, for that.
- `afterd.db.reserve` keeps 4 MiB free; it is given back when the disk is full.
- Copy the file with `sqlite3 afterd.db ".backup copy.db"` or `VACUUM INTO`, never with `cp` while
  afterd runs.
- Text that is not valid UTF-8 is a blob (UTF-8 with surrogates). Times are seconds since 1970, UTC;
  commits and trees are full hexadecimal ids.
"""


@dataclass(frozen=True, slots=True)
class Column:
    """A column as its line in the schema says it."""

    name: str
    type: str
    comment: str


@dataclass(frozen=True, slots=True)
class Table:
    """A table with the comment above it."""

    name: str
    comment: str
    columns: tuple[Column, ...]


def tables(schema: str = SCHEMA) -> tuple[Table, ...]:
    """The tables of a schema's text with their comments; a missing comment is empty."""
    return tuple(
        Table(
            match["name"],
            match["comment"],
            tuple(
                Column(column["name"], column["type"], column["comment"] or "")
                for column in _COLUMN.finditer(match["body"])
            ),
        )
        for match in _TABLE.finditer(schema)
    )


def page() -> str:
    """The whole page as Markdown."""
    return "\n".join([_INTRODUCTION, *(_section(table) for table in tables())])


def _section(table: Table) -> str:
    return "\n".join([f"## {table.name}", "", table.comment, "", *_lines(table), ""])


def _lines(table: Table) -> Iterator[str]:
    yield "| column | type | meaning |"
    yield "|---|---|---|"
    for column in table.columns:
        yield f"| {column.name} | {column.type} | {column.comment} |"


if __name__ == "__main__":
    sys.stdout.write(page())
