"""The outbox: once a key, a newer commit takes an older one's place, tried again when due."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from afterd.store import Store, open_store
from afterd.store.outgoing import (
    Outgoing,
    OutgoingState,
    add_outgoing,
    due_postings,
    mark_failed,
    mark_sent,
    outgoing_of,
    retry,
)

ONE = Outgoing("k1", "https://example.org", "a/b", "topic", "1" * 40, 0, "/x/k1.json")
TWO = replace(ONE, key="k2", commit_id="2" * 40, body="/x/k2.json")
ELSEWHERE = replace(ONE, key="k3", branch="other")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "afterd.db") as opened:
        yield opened


def states(store: Store) -> dict[str, OutgoingState]:
    rows = outgoing_of(store, ONE.forge, ONE.project, ONE.branch)
    return {row.key: row.state for row in rows}


def test_a_key_is_added_once_even_after_it_was_sent(store: Store) -> None:
    add_outgoing(store, ONE)
    add_outgoing(store, ONE)
    [row] = due_postings(store)
    assert replace(row, id=0) == ONE
    mark_sent(store, row.id, "https://example.org/c/1")
    add_outgoing(store, ONE)
    assert due_postings(store) == []
    [row] = outgoing_of(store, ONE.forge, ONE.project, ONE.branch)
    assert (row.state, row.url, row.attempts) == (OutgoingState.SENT, "https://example.org/c/1", 1)


def test_a_newer_commit_drops_the_older_one_of_its_branch_alone(store: Store) -> None:
    for row in (ONE, ELSEWHERE, TWO):
        add_outgoing(store, row)
    assert [row.key for row in due_postings(store)] == ["k3", "k2"]
    assert states(store) == {"k1": OutgoingState.DROPPED, "k2": OutgoingState.QUEUED}


def test_tried_again_when_it_is_due(store: Store) -> None:
    add_outgoing(store, ONE)
    [row] = due_postings(store)
    retry(store, row.id, 60, "502")
    assert due_postings(store) == []
    [again] = due_postings(store, time.time() + 61)
    assert (again.reason, again.attempts) == ("502", 1)
    mark_failed(store, row.id, "the token was revoked")
    assert due_postings(store, time.time() + 999) == []
