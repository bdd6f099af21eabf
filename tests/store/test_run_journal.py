"""The journal of a job: its runs by number, as they were; what they cost; gone with the job."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from afterd.execution.cache import BUILD_ONLY, OutcomeKey
from afterd.execution.executors.protocol import Attempt
from afterd.model.outcome import FailureKind, FailureSignature, Outcome, Unresolved, Verdict
from afterd.store import Store, open_store
from afterd.store.jobs import JobQueue
from afterd.store.journal import StoredJournal, attempts_of, spent_since

KEY = OutcomeKey("t" * 40, "make check", "c", "e")
FAILED = Attempt(
    Outcome(
        Verdict.FAIL,
        None,
        "one\udcff",
        FailureSignature(FailureKind.EXIT, "exit status 1", process="make"),
        1.5,
        0.25,
        cpu=0.75,
    ),
    builds=1,
    tests=1,
)
UNBUILT = Attempt(Outcome(Verdict.UNRESOLVED, Unresolved.BUILD, "cc: not found"), missing="cc")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "afterd.db") as opened:
        yield opened


@pytest.fixture
def job(store: Store) -> int:
    return JobQueue(store).enqueue("k", "commit", "{}")


def test_the_runs_of_one_thing_are_told_apart_by_number(store: Store, job: int) -> None:
    journal = StoredJournal(store, job)
    passed = replace(FAILED, outcome=Outcome(Verdict.PASS))
    for number, attempt in enumerate((FAILED, passed)):
        assert journal.get(KEY, number) is None
        journal.put(KEY, number, attempt)
    journal.put(replace(KEY, test=BUILD_ONLY), 0, UNBUILT)
    assert [journal.get(KEY, number) for number in (0, 1, 2)] == [FAILED, passed, None]
    assert journal.get(replace(KEY, test=BUILD_ONLY), 0) == UNBUILT
    assert attempts_of(store, job, KEY) == [FAILED, passed]
    assert StoredJournal(store, job + 1).get(KEY, 0) is None


def test_what_runs_cost(store: Store, job: int) -> None:
    StoredJournal(store, job).put(KEY, 0, FAILED)
    assert spent_since(store, 0.0) == spent_since(store, 0.0, job) == (1.75, 1)
    assert spent_since(store, 0.0, but_for=KEY.test) == (0.0, 0)
    assert spent_since(store, 0.0, job + 1) == spent_since(store, time.time() + 1) == (0.0, 0)


def test_a_secret_is_masked_or_the_run_is_not_kept(store: Store, job: int) -> None:
    journal = StoredJournal(store, job, lambda text: text.replace("hunter2", "***"))
    said = replace(FAILED, outcome=replace(FAILED.outcome, detail="hunter2"))
    journal.put(KEY, 0, said)
    kept = journal.get(KEY, 0)
    assert kept is not None
    assert kept.outcome.detail == "***"
    signature = FailureSignature(FailureKind.EXCEPTION, "ValueError: hunter2")
    journal.put(KEY, 1, replace(FAILED, outcome=replace(FAILED.outcome, signature=signature)))
    assert journal.get(KEY, 1) is None
