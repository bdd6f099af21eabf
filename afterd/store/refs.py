"""Where the watched refs were when the daemon last looked."""

from __future__ import annotations

from collections.abc import Mapping

from afterd.store.database import Reader, Store
from afterd.store.repositories import repository_id
from afterd.store.text import loaded, stored


def ref_tips(reader: Reader, repository: str) -> dict[str, str]:
    """The commit of each ref by the ref's full name; empty before the first look."""
    rows = reader.rows(
        "SELECT t.name, t.commit_id FROM ref_tip t JOIN repository r ON r.id = t.repository_id "
        "WHERE r.path = ?",
        (stored(repository),),
    )
    return {loaded(row["name"]): loaded(row["commit_id"]) for row in rows}


def keep_ref_tips(store: Store, repository: str, tips: Mapping[str, str]) -> None:
    """Remember where the refs are now; those that are gone are forgotten."""
    with store.transaction() as database:
        owner = repository_id(database, repository)
        database.execute("DELETE FROM ref_tip WHERE repository_id = ?", (owner,))
        database.table("ref_tip").insert_all(
            {"repository_id": owner, "name": stored(name), "commit_id": commit}
            for name, commit in tips.items()
        )
