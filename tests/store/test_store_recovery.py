"""A damaged database is set aside, what can be read of it is kept, and it is said once."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from explanation_samples import RUNNING_EXAMPLE, explanations
from hypothesis import given, settings

from afterd.errors import StoreError
from afterd.model.explanation import Explanation
from afterd.report.json import contract
from afterd.store.database import Store, open_reader, open_store
from afterd.store.explanations import listing, load, save
from afterd.store.faults import damage_mark
from afterd.store.jobs import JobQueue
from afterd.store.repositories import keep_ref_tips, ref_tips

MANY = 300
PAGE = 4096


def filled(path: Path, many: int = MANY) -> Path:
    with open_store(path) as store, store.transaction():
        for number in range(1, many + 1):
            made = replace(RUNNING_EXAMPLE, test=f"test {number}")
            save(store, "/git", made, lambda each: json.dumps(contract(each)))
            JobQueue(store).enqueue(f"commit:{number}", "commit", '{"ref": "x"}')
        keep_ref_tips(store, "/git", {"refs/heads/main": "c" * 40})
    return path


def overwritten(path: Path, first: int, count: int, byte: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(first * PAGE)
        file.write((byte * PAGE)[:PAGE] * count)


def broken(path: Path, how: str) -> None:
    pages = path.stat().st_size // PAGE
    match how:
        case "empty":
            os.truncate(path, 0)
        case "half":
            os.truncate(path, pages // 2 * PAGE)
        case "torn":
            os.truncate(path, path.stat().st_size - 1000)
        case "no first page":
            overwritten(path, 0, 1, b"\0")
        case "another first page":
            overwritten(path, 0, 1, b"hello, this is a text file\n")
        case "holes":
            for place in random.Random(3).sample(range(20, pages), pages // 20):
                overwritten(path, place, 1, b"\xff")


def used(store: Store) -> list[str]:
    """The tests of all explanations, each loaded whole."""
    return [load(store, summary.id).test for summary in listing(store, 10**6)]


LEAST = {
    "empty": 0,
    "half": 20,
    "torn": 290,
    "no first page": 299,
    "another first page": 250,
    "holes": 100,
}


@pytest.mark.parametrize("how", LEAST)
def test_what_can_be_read_is_kept(tmp_path: Path, how: str) -> None:
    path = filled(tmp_path / "afterd.db")
    broken(path, how)
    before = path.read_bytes()
    said: list[str] = []
    for _ in range(
        3
    ):  # damage below the surface is met when it is read: the next one sets it aside
        try:
            with open_store(path, say=said.append) as store:
                kept = used(store)
                jobs = store.rows("SELECT count(*) AS n FROM job")[0]["n"]
                refs = ref_tips(store, "/git")
                assert store.rows("PRAGMA integrity_check") == [{"integrity_check": "ok"}]
                assert store.rows("PRAGMA foreign_key_check") == []
                save(store, "/git", RUNNING_EXAMPLE, lambda each: json.dumps(contract(each)))
                break
        except (StoreError, AssertionError):
            assert len(said) == 0
    [sentence] = said
    [aside] = [
        each
        for each in tmp_path.glob("afterd.db.damaged-*")
        if each.name[-4:] not in ("-wal", "-shm")
    ]
    assert aside.name in sentence
    assert aside.read_bytes() == before
    assert len(kept) >= LEAST[how], sentence
    assert set(kept) <= {f"test {number}" for number in range(1, MANY + 1)}
    assert f"{len(kept)} explanations and {jobs} jobs" in sentence or how == "empty"
    assert refs in ({}, {"refs/heads/main": "c" * 40})
    assert isinstance(jobs, int)
    assert jobs == MANY or not refs, "where refs were is forgotten with a lost job"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with open_store(path, say=said.append) as store:
        assert len(used(store)) == len(kept) + 1
    assert len(said) == 1, "said once"


def test_a_reader_sets_it_aside_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = filled(tmp_path / "afterd.db", 5)
    broken(path, "torn")
    with open_reader(path) as reader:
        assert len(listing(reader)) >= 3
    assert "is kept as afterd.db.damaged-" in capsys.readouterr().err


def test_what_is_only_in_the_log_is_kept(tmp_path: Path) -> None:
    """Killed before a checkpoint, and then the first page is lost: the log has it."""
    path = filled(tmp_path / "afterd.db", 3)
    with open_store(path) as store:
        save(
            store,
            "/git",
            replace(RUNNING_EXAMPLE, test="late"),
            lambda each: json.dumps(contract(each)),
        )
        for name in ("afterd.db", "afterd.db-wal", "afterd.db.head"):
            (tmp_path / "killed" / name).parent.mkdir(exist_ok=True)
            (tmp_path / "killed" / name).write_bytes((tmp_path / name).read_bytes())
    killed = tmp_path / "killed" / "afterd.db"
    overwritten(killed, 0, 1, b"\0")
    said: list[str] = []
    with open_store(killed, say=said.append) as store:
        assert sorted(used(store)) == ["late", "test 1", "test 2", "test 3"]
    assert not said


def test_a_file_that_somebody_has_open_is_not_taken_away(tmp_path: Path) -> None:
    path = filled(tmp_path / "afterd.db", 3)
    with open_store(path) as store:
        damage_mark(path).touch()
        for opening in (open_store, open_reader):
            with pytest.raises(StoreError, match="another afterd has it open"):
                opening(path)
        assert len(used(store)) == 3
    said: list[str] = []
    with open_store(path, say=said.append) as store, open_store(path) as other:
        assert used(other) == used(store)
    assert len(said) == 1


def test_an_answer_comes_back_as_it_was_or_not_at_all(tmp_path: Path) -> None:
    """Its parts are written anew from the JSON beside it; without that half a root would be wrong."""
    path = filled(tmp_path / "afterd.db", 3)
    with open_store(path) as store:
        before = load(store, 1), load(store, 2)
    with sqlite3.connect(path) as raw:
        raw.execute("DELETE FROM change WHERE explanation_id = 2 AND position = 1")
        raw.execute("DELETE FROM revision_range")
        raw.execute("UPDATE explanation SET contract = '{}' WHERE id = 3")
    raw.close()
    os.truncate(path, path.stat().st_size - 1)
    said: list[str] = []
    with open_store(path, say=said.append) as store:
        assert (load(store, 1), load(store, 2)) == before
        assert len(listing(store)) == 2
    assert "explanation" in said[0]


@given(explanations)
@settings(max_examples=10)
def test_any_answer_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, any_at_all: Explanation
) -> None:
    path = tmp_path_factory.mktemp("any") / "afterd.db"
    with open_store(path) as store:
        saved = save(store, "/git", any_at_all, lambda each: json.dumps(contract(each)))
    damage_mark(path).touch()
    with open_store(path, say=lambda _: None) as store:
        found = load(store, saved.id)
    told = [json.loads(json.dumps(contract(each))) for each in (found, saved)]
    assert told[0] == told[1]


def test_killed_while_it_is_made_it_is_made_again(tmp_path: Path) -> None:
    path = tmp_path / "afterd.db"
    path.with_name("afterd.db.new").write_bytes(b"half")
    said: list[str] = []
    with open_store(path, say=said.append) as store:
        assert listing(store) == []
    assert not said
