"""Explanations in the database: saved whole in one transaction, loaded as they were.

Causal trees as rows: nodes numbered depth first, each with its parent's number.

Without recursion, because a tree may be deeper than Python's stack.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from afterd import __version__
from afterd.errors import UsageError
from afterd.model.change import Change
from afterd.model.explanation import (
    CauseNode,
    Explanation,
    Failure,
    RankedLine,
    RevisionRange,
    RunCounts,
    Status,
    TreeStep,
)
from afterd.store.database import Reader, Store
from afterd.store.repositories import repository_id
from afterd.store.rows import Row, from_row, to_row
from afterd.store.text import Cell, stored_text

if TYPE_CHECKING:
    from sqlite_utils import Database

_APART = ("id", "range", "failure", "root", "auxiliary", "tree", "ranking", "runs")


@dataclass(frozen=True, slots=True)
class Summary:
    """A line of ``afterd list``; ``created`` in seconds since 1970, ``root`` as change ids."""

    id: int
    created: float
    test: str
    status: Status
    range: RevisionRange
    root: tuple[str, ...]


def explained_since(
    reader: Reader, repository: str, wanted: RevisionRange, moment: float
) -> list[Explanation]:
    """The explanations of a range that were stored at a moment (Unix time) or later, newest first."""
    with reader.snapshot():
        rows = reader.rows(
            """SELECT e.id FROM explanation e JOIN revision_range g ON g.id = e.range_id
               JOIN repository r ON r.id = g.repository_id
               WHERE r.path = ? AND g.good = ? AND g.bad = ? AND e.created >= ?
               ORDER BY e.id DESC""",
            (stored_text(repository), wanted.good, wanted.bad, moment),
        )
        return [load(reader, int(str(row["id"]))) for row in rows]


def explained_ranges(reader: Reader, repository: str, test: str) -> list[RevisionRange]:
    """The ranges whose answer for this test was seen to hold: it fails at the bad end, and passes at the good."""
    with reader.snapshot():
        rows = reader.rows(
            """SELECT g.good, g.bad FROM explanation e JOIN revision_range g ON g.id = e.range_id
               JOIN repository r ON r.id = g.repository_id
               WHERE r.path = ? AND e.test = ? AND e.status = ? AND e.verified = 1
               ORDER BY e.id DESC""",
            (stored_text(repository), stored_text(test), Status.EXPLAINED.value),
        )
        return [from_row(RevisionRange, row) for row in rows]


def save(
    store: Store,
    repository: str,
    explanation: Explanation,
    contract: Callable[[Explanation], str],
) -> Explanation:
    """Store an explanation and return it with its id.

    ``repository`` is the absolute path of the common git directory; ``contract`` writes the
    explanation, which has its id by then, as the JSON object of the design's section 8.
    """
    with store.transaction() as database:
        range_id = _range_id(database, repository, explanation.range)
        row = to_row(explanation, omit=_APART) | {
            "range_id": range_id,
            "created": time.time(),
            "afterd": __version__,
            "contract": "",
        }
        identifier = _inserted_row(database, row)
        saved = replace(explanation, id=identifier)
        _save_parts(database, saved)
        database.execute(
            "UPDATE explanation SET contract = ? WHERE id = ?",
            (stored_text(contract(saved)), identifier),
        )
    return saved


def add_ranking(
    store: Store, explanation: Explanation, contract: Callable[[Explanation], str]
) -> None:
    """Add to an explanation that is stored its ranking, and the notes on that."""
    with store.transaction() as database:
        table = database.table("explanation")
        row = to_row(explanation, omit=_APART)
        table.update(
            explanation.id, {"notes": row["notes"], "contract": stored_text(contract(explanation))}
        )
        _save_ranking(database, explanation)


def load(reader: Reader, identifier: int) -> Explanation:
    """The explanation as it was saved; raises UsageError when there is none with this id."""
    with reader.snapshot():
        row = _only_row(reader, identifier)
        key = (identifier,)
        failures = reader.rows("SELECT * FROM failure WHERE explanation_id = ?", key)
        runs = reader.rows("SELECT * FROM run_counts WHERE explanation_id = ?", key)
        ranked = reader.rows(
            "SELECT * FROM ranking WHERE explanation_id = ? ORDER BY position", key
        )
        return from_row(
            Explanation,
            row,
            range=from_row(RevisionRange, row),
            failure=from_row(Failure, failures[0]) if failures else None,
            root=_changes(reader, identifier, "root"),
            auxiliary=_changes(reader, identifier, "auxiliary"),
            tree=load_tree(reader, identifier),
            ranking=tuple(from_row(RankedLine, line) for line in ranked),
            runs=from_row(RunCounts, runs[0]) if runs else RunCounts(),
        )


def root_of(reader: Reader, identifier: int) -> tuple[Change, ...]:
    """The guilty changes of an explanation; empty where it has none, or there is no such explanation."""
    return _changes(reader, identifier, "root")


def latest_explanation(reader: Reader) -> int:
    """The id of the newest explanation; raises UsageError when there is none."""
    rows = reader.rows("SELECT max(id) AS id FROM explanation")
    if not isinstance(rows[0]["id"], int):
        raise UsageError("Nothing was explained in this repository yet. Run `afterd explain`.")
    return rows[0]["id"]


def listing(reader: Reader, limit: int = 20) -> list[Summary]:
    """The newest explanations, newest first."""
    with reader.snapshot():
        rows = reader.rows(
            """SELECT e.id, e.created, e.test, e.status, r.good, r.bad,
                      (SELECT json_group_array(id) FROM
                          (SELECT id FROM change WHERE explanation_id = e.id AND role = 'root'
                           ORDER BY position)) AS root
               FROM explanation e JOIN revision_range r ON r.id = e.range_id
               ORDER BY e.id DESC LIMIT ?""",
            (limit,),
        )
        return [from_row(Summary, row, range=from_row(RevisionRange, row)) for row in rows]


def explained_ids(reader: Reader, repository: str, bad: str, tests: Collection[str]) -> list[int]:
    """The newest explanation of each of the tests as it failed at a version, newest first."""
    rows = reader.rows(
        """SELECT max(e.id) AS id FROM explanation e
           JOIN revision_range r ON r.id = e.range_id JOIN repository p ON p.id = r.repository_id
           WHERE p.path = ? AND r.bad = ? AND e.test IN (SELECT value FROM json_each(?))
           GROUP BY e.test ORDER BY id DESC""",
        (repository, bad, json.dumps(sorted(tests))),
    )
    return [row["id"] for row in rows if isinstance(row["id"], int)]


def _inserted_row(database: Database, row: dict[str, Cell]) -> int:
    key = database.table("explanation").insert(row).last_pk
    assert isinstance(key, int)
    return key


def _save_parts(database: Database, saved: Explanation) -> None:
    key = {"explanation_id": saved.id}
    if saved.failure is not None:
        database.table("failure").insert(key | to_row(saved.failure))
    database.table("run_counts").insert(key | to_row(saved.runs))
    for role, changes in (("root", saved.root), ("auxiliary", saved.auxiliary)):
        database.table("change").insert_all(
            key | {"role": role, "position": position} | to_row(change)
            for position, change in enumerate(changes)
        )
    _save_ranking(database, saved)
    if saved.tree is not None:
        save_tree(database, saved.id, saved.tree)


def _save_ranking(database: Database, saved: Explanation) -> None:
    key = {"explanation_id": saved.id}
    database.table("ranking").insert_all(
        key | {"position": position} | to_row(line) for position, line in enumerate(saved.ranking)
    )


def _only_row(reader: Reader, identifier: int) -> Row:
    rows = reader.rows(
        "SELECT e.*, r.good, r.bad FROM explanation e "
        "JOIN revision_range r ON r.id = e.range_id WHERE e.id = ?",
        (identifier,),
    )
    if not rows:
        raise UsageError(
            f"There is no explanation {identifier}. `afterd list` shows those there are."
        )
    return rows[0]


def _changes(reader: Reader, identifier: int, role: str) -> tuple[Change, ...]:
    rows = reader.rows(
        "SELECT * FROM change WHERE explanation_id = ? AND role = ? ORDER BY position",
        (identifier, role),
    )
    return tuple(from_row(Change, row) for row in rows)


def _range_id(database: Database, repository: str, revisions: RevisionRange) -> int:
    owner = repository_id(database, repository)
    key = (owner, revisions.good, revisions.bad)
    database.execute(
        "INSERT INTO revision_range (repository_id, good, bad) VALUES (?, ?, ?) "
        "ON CONFLICT DO NOTHING",
        key,
    )
    found = database.execute(
        "SELECT id FROM revision_range WHERE repository_id = ? AND good = ? AND bad = ?", key
    )
    return int(found.fetchone()[0])


def save_tree(database: Database, identifier: int, tree: CauseNode) -> None:
    """Write the nodes and steps of an explanation's tree."""
    pending: list[tuple[CauseNode, int | None]] = [(tree, None)]
    number = 0
    while pending:
        node, parent = pending.pop()
        key = {"explanation_id": identifier, "node": number}
        columns = to_row(node, omit=("steps", "causes"))
        database.table("cause").insert(key | {"parent": parent} | columns)
        database.table("step").insert_all(
            key | {"position": position} | to_row(step) for position, step in enumerate(node.steps)
        )
        pending.extend((cause, number) for cause in reversed(node.causes))
        number += 1


def load_tree(reader: Reader, identifier: int) -> CauseNode | None:
    """The tree of an explanation; a child has a higher number than its parent."""
    key = (identifier,)
    steps: dict[object, list[TreeStep]] = defaultdict(list)
    for row in reader.rows(
        "SELECT * FROM step WHERE explanation_id = ? ORDER BY node, position", key
    ):
        steps[row["node"]].append(from_row(TreeStep, row))
    children: dict[object, list[CauseNode]] = defaultdict(list)
    for row in reader.rows("SELECT * FROM cause WHERE explanation_id = ? ORDER BY node DESC", key):
        causes = tuple(reversed(children.pop(row["node"], [])))
        node = from_row(CauseNode, row, steps=tuple(steps[row["node"]]), causes=causes)
        children[row["parent"]].append(node)
    return children[None][0] if children[None] else None
