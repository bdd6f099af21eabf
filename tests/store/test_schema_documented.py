"""The schema is a document: commented, versioned, and the page made from it has not drifted."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlite_utils import Database

from afterd.errors import StoreError
from afterd.store.added_columns import add_budget_column
from afterd.store.database import open_store
from afterd.store.document import page, tables
from afterd.store.migrations import STEPS, migrate, statements
from afterd.store.schema import APPLICATION_ID, SCHEMA, SCHEMA_VERSION

ROOT = Path(__file__).parents[2]
RELEASED = sorted(
    (Path(__file__).parent / "released").glob("*.sql"), key=lambda path: int(path.stem)
)


def made_from(script: str) -> Database:
    database = Database(memory=True)
    for statement in statements(script):
        database.execute(statement)
    return database


def columns(database: Database) -> dict[str, list[tuple[object, ...]]]:
    """What SQLite made of a schema, free of comments and layout."""
    names = database.execute("SELECT name, type FROM sqlite_schema").fetchall()
    return {
        f"{kind} {name}": database.execute(f"PRAGMA {kind}_xinfo({name})").fetchall()
        for name, kind in names
        if not name.startswith("sqlite_")
    }


def test_the_page_is_the_schema() -> None:
    assert (ROOT / "docs/database.md").read_text() == page(), "run python -m afterd.store.document"


def test_every_table_and_column_is_there_with_a_comment() -> None:
    described = {table.name: table for table in tables()}
    database = made_from(SCHEMA)
    assert set(described) == set(database.table_names()) - {"sqlite_sequence"}
    for name, table in described.items():
        assert [column.name for column in table.columns] == [
            column.name for column in database.table(name).columns
        ]
        assert table.comment
        assert all(column.comment for column in table.columns), name


def test_the_text_of_each_version_is_kept() -> None:
    assert [int(path.stem) for path in RELEASED] == list(range(1, SCHEMA_VERSION + 1))
    assert RELEASED[-1].read_text() == SCHEMA.lstrip(), "the schema changed: raise SCHEMA_VERSION"
    assert set(STEPS) == set(range(2, SCHEMA_VERSION + 1))


@pytest.mark.parametrize("released", RELEASED, ids=lambda path: path.stem)
def test_each_released_schema_opens(tmp_path: Path, released: Path) -> None:
    path = tmp_path / "afterd.db"
    old = Database(path)
    for statement in statements(released.read_text()):
        old.execute(statement)
    old.execute("INSERT INTO repository (path) VALUES ('kept')")
    old.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    old.execute(f"PRAGMA user_version = {released.stem}")
    old.close()
    with open_store(path) as store:
        assert store.rows("SELECT path FROM repository") == [{"path": "kept"}]
        assert store.rows("PRAGMA user_version") == [{"user_version": SCHEMA_VERSION}]
        with store.transaction() as database:
            assert columns(database) == columns(made_from(SCHEMA))


def test_of_older_answers_the_reason_tells_that_their_budget_was_spent() -> None:
    """Version 11 had no column for it."""
    old = made_from(next(path for path in RELEASED if path.stem == "11").read_text())
    old.execute("PRAGMA foreign_keys = OFF")
    told = {
        name: ""
        for _, name, kind, required, default, _ in old.execute("PRAGMA table_info(explanation)")
        if required and default is None
    }
    for reason in ("The budget was spent before.", "No set of changes passes."):
        old.table("explanation").insert(
            told | {"range_id": 1, "status": "inconclusive", "reason": reason}
        )
    add_budget_column(old)
    assert old.execute("SELECT out_of_budget FROM explanation ORDER BY id").fetchall() == [
        (1,),
        (0,),
    ]


def test_steps_run_in_order_and_only_those_that_are_due(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("afterd.store.migrations.SCHEMA_VERSION", 4)
    database = made_from(SCHEMA)
    database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    database.execute("PRAGMA user_version = 2")
    ran: list[int] = []
    steps = {number: lambda _database, n=number: ran.append(n) for number in (2, 3, 4)}
    migrate(database, Path("x"), steps)
    migrate(database, Path("x"), steps)
    assert ran == [3, 4]
    assert database.execute("PRAGMA user_version").fetchone() == (4,)


def test_a_step_that_fails_leaves_the_old_version(tmp_path: Path) -> None:
    path = tmp_path / "afterd.db"
    open_store(path).close()
    database = Database(path)
    database.execute("PRAGMA user_version = 0")
    database.close()
    with pytest.raises(StoreError, match="already exists"):
        open_store(path)
    assert Database(path).execute("PRAGMA user_version").fetchone() == (0,)
