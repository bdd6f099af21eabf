"""Causal trees as rows: nodes numbered depth first, each with its parent's number.

Without recursion, because a tree may be deeper than Python's stack.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from afterd.model.explanation import CauseNode, TreeStep
from afterd.store.database import Reader
from afterd.store.rows import from_row, to_row

if TYPE_CHECKING:
    from sqlite_utils import Database


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
