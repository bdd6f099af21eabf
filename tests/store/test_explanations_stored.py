"""Explanations come back as they went in, whatever is in them."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from explanation_samples import RUNNING_EXAMPLE, TREE, explanations
from hypothesis import HealthCheck, given, settings

from afterd.errors import UsageError
from afterd.model.explanation import CauseNode, Explanation, RevisionRange, Status
from afterd.store.database import Store, open_reader, open_store
from afterd.store.explanations import add_ranking, latest_explanation, listing, load, save
from afterd.store.marks import Mark, MarkKind, add_mark, marks
from afterd.store.retention import prune

GIT = "/home/me/project/.git"


def contract(explanation: Explanation) -> str:
    return json.dumps({"id": explanation.id, "test": explanation.test})


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "afterd.db") as opened:
        yield opened


@given(explanation=explanations)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_explanation_comes_back(store: Store, explanation: Explanation) -> None:
    saved = save(store, GIT, explanation, contract)
    assert load(store, saved.id) == saved == replace(explanation, id=saved.id)
    [row] = store.rows("SELECT contract FROM explanation WHERE id = ?", (saved.id,))
    assert json.loads(str(row["contract"])) == {"id": saved.id, "test": saved.test}


def test_a_ranking_comes_after_its_answer(store: Store) -> None:
    kept = save(store, GIT, replace(RUNNING_EXAMPLE, ranking=()), contract)
    whole = replace(kept, ranking=RUNNING_EXAMPLE.ranking, notes=(*kept.notes, "Ranked later."))
    assert whole.ranking
    add_ranking(store, whole, contract)
    assert load(store, kept.id) == whole


def test_ids_grow_and_are_never_used_twice(store: Store) -> None:
    first = save(store, GIT, RUNNING_EXAMPLE, contract).id
    prune(store, time.time() + 1)
    second = save(store, GIT, RUNNING_EXAMPLE, contract).id
    assert second > first
    with pytest.raises(UsageError, match=f"no explanation {first}"):
        load(store, first)
    assert latest_explanation(store) == second


def test_nothing_was_explained_yet(store: Store) -> None:
    assert listing(store) == []
    with pytest.raises(UsageError, match="Nothing was explained"):
        latest_explanation(store)
    with pytest.raises(UsageError, match="no explanation 7"):
        add_mark(store, 7, Mark(MarkKind.WRONG))


def test_list_shows_the_newest_first(store: Store) -> None:
    for number in range(5):
        save(store, GIT, replace(RUNNING_EXAMPLE, test=f"t{number}"), contract)
    shown = listing(store, limit=2)
    assert [summary.test for summary in shown] == ["t4", "t3"]
    assert shown[0].root == ("c2", "c3")
    assert shown[0].status is Status.EXPLAINED
    assert shown[0].range == RUNNING_EXAMPLE.range


def test_a_reader_sees_what_was_saved_and_cannot_write(store: Store) -> None:
    saved = save(store, GIT, RUNNING_EXAMPLE, contract)
    with open_reader(store.path) as reader:
        assert load(reader, saved.id) == saved
        assert not hasattr(reader, "transaction")


def test_a_tree_deeper_than_the_stack(store: Store) -> None:
    tree: CauseNode = TREE
    for _ in range(3000):
        tree = CauseNode("p", "f", 1, (), (tree,))
    saved = save(store, GIT, replace(RUNNING_EXAMPLE, tree=tree), contract)
    loaded = load(store, saved.id).tree
    depth = 0
    while loaded is not None and loaded.causes:
        loaded, depth = loaded.causes[0], depth + 1
    assert depth == 3001


def test_marks_are_kept_in_order(store: Store) -> None:
    saved = save(store, GIT, RUNNING_EXAMPLE, contract)
    add_mark(store, saved.id, Mark(MarkKind.WRONG, note="\udcff no"))
    add_mark(store, saved.id, Mark(MarkKind.CAUSE, ("c7", "c9")))
    kept = marks(store, saved.id)
    assert [(mark.kind, mark.changes, mark.note) for mark in kept] == [
        (MarkKind.WRONG, (), "\udcff no"),
        (MarkKind.CAUSE, ("c7", "c9"), ""),
    ]
    assert all(mark.created > 0 for mark in kept)


def test_ten_thousand_results_list_fast_and_shrink(store: Store) -> None:
    save(store, GIT, RUNNING_EXAMPLE, contract)
    with store.transaction() as database:
        columns = "range_id, created, afterd, test, status, strategy, reason, minimal, verified, "
        columns += "build_command, test_command, changes_total, changes_pruned, "
        columns += "changes_executed, notes, contract"
        database.execute(
            f"""INSERT INTO explanation ({columns})
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
                SELECT {columns.replace("contract", "hex(zeroblob(500))")} FROM explanation, n"""
        )
        database.execute(
            """INSERT INTO change SELECT e.id, role, position, c.id, file, old_file, old_start,
                   old_count, new_start, new_count, form, kind, symbol, commits, patch, pruned
               FROM change c JOIN explanation e ON e.id <> c.explanation_id"""
        )
    begin = time.perf_counter()
    assert len(listing(store, limit=50)) == 50
    assert time.perf_counter() - begin < 0.2
    before = store.path.stat().st_size
    assert prune(store, time.time() + 1) == 10001
    assert store.path.stat().st_size < before / 10


def test_one_repository_one_range_row(store: Store) -> None:
    for good in ("x", "x", "y"):
        save(store, GIT, replace(RUNNING_EXAMPLE, range=RevisionRange(good, "b")), contract)
    assert store.rows("SELECT count(*) AS n FROM repository") == [{"n": 1}]
    assert store.rows("SELECT count(*) AS n FROM revision_range") == [{"n": 2}]
