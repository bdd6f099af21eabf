"""Idle time: a past answer is verified again, and people correct what that says of the others."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from daemon_repositories import commit, made, opened, service, settings, verdicts
from explanation_samples import RUNNING_EXAMPLE

from afterd.daemon.self_check import calibration, plan
from afterd.model.outcome import Verdict
from afterd.store import Store, open_store
from afterd.store.explanations import save
from afterd.store.marks import Mark, MarkKind, add_mark
from afterd.store.self_checks import (
    Record,
    SelfCheck,
    keep_self_check,
    next_to_check,
    record,
    self_checks,
)

HELD = (Verdict.PASS, Verdict.FAIL, True)
REFUTED = (Verdict.FAIL, Verdict.FAIL, False)
UNTOLD = (Verdict.UNRESOLVED, Verdict.FAIL, None)


def test_an_idle_daemon_verifies_an_answer_again(tmp_path: Path) -> None:
    where = made(tmp_path / "r", {"text": "one\nthree\n", "other": "a\n"})
    with service(where) as found:
        found.look()
        found.work()
        red = commit(where, {"text": "one\n3\n", "other": "b\n"})
        found.look()
        assert not found.plan_self_check(), "there is other work"
        found.work()
        assert found.plan_self_check()
        assert found.work()
        assert not found.plan_self_check(), "the last one was just now"
    [verdict] = verdicts(where, red)
    with opened(where) as reader:
        [check] = self_checks(reader, verdict.explanation_id or 0)
        assert (check.reverted, check.put_back, check.held) == HELD
        assert record(reader) == Record(held=1, failed=0, untold=0, marked=0, refuted=0)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path / "afterd.db")


def saved(store: Store) -> int:
    return save(store, "/git", RUNNING_EXAMPLE, lambda _: "{}").id


def test_the_answer_that_was_checked_longest_ago_is_next(store: Store, tmp_path: Path) -> None:
    with store:
        one, two = saved(store), saved(store)
        assert next_to_check(store) == two
        keep_self_check(store, SelfCheck(two, *HELD))
        assert next_to_check(store) == one
        time.sleep(0.01)
        keep_self_check(store, SelfCheck(one, *HELD))
        assert next_to_check(store) == two
        add_mark(store, two, Mark(MarkKind.WRONG))
        assert next_to_check(store) == one
        wanted = settings(tmp_path)
        assert not plan(store, wanted)
        assert plan(store, wanted, lambda: time.time() + wanted.self_check + 1)
        [job] = store.rows("SELECT payload, priority FROM job")
        assert json.loads(str(job["payload"])) == {"explanation": one}
        assert int(str(job["priority"])) < 0


def test_an_answer_counts_once_by_its_newest_mark_or_check(store: Store) -> None:
    with store:
        identifiers = [saved(store) for _ in range(6)]
        seen = [(0, REFUTED), (0, HELD), (1, HELD), (1, REFUTED), (2, UNTOLD), (3, HELD), (4, HELD)]
        for place, check in seen:
            keep_self_check(store, SelfCheck(identifiers[place], *check))
        root = tuple(change.id for change in reversed(RUNNING_EXAMPLE.root))
        add_mark(store, identifiers[3], Mark(MarkKind.CAUSE, root))
        add_mark(store, identifiers[4], Mark(MarkKind.CAUSE, root))
        add_mark(store, identifiers[4], Mark(MarkKind.CAUSE, ("c99",)))
        add_mark(store, identifiers[5], Mark(MarkKind.WRONG))
        assert record(store) == Record(held=1, failed=1, untold=1, marked=3, refuted=2)


def test_calibration_is_a_posterior() -> None:
    """Jeffreys' interval for 9 of 10, as R's qbeta(c(.025, .975), 9.5, 1.5) gives it."""
    found = calibration(Record(held=8, failed=1, untold=3, marked=1, refuted=0))
    assert (found.held, found.of) == (9, 10)
    assert found.rate == pytest.approx(9.5 / 11)
    assert (found.low, found.high) == pytest.approx((0.6187, 0.9889), abs=1e-3)
    nothing = calibration(Record(0, 0, 0, 0, 0))
    assert (nothing.of, nothing.rate) == (0, 0.5)
