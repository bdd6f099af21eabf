"""A few minutes of the replayed day: a real daemon, killed meanwhile, and every verdict compared."""

from __future__ import annotations

from afterd.bench.day import Day, day_replayed


def test_a_short_day_with_kills_has_no_wrong_verdict() -> None:
    account = day_replayed(Day(commits=3, seed=2, kills=2))
    assert account.wrong == ()
    assert account.pushed.total() == 3
    assert account.tested.keys() == {"prices", "fees"}
    assert account.tested.total() >= 3  # pushes that follow each other on one branch supersede
    assert sum(account.killed.values()) >= 1
    assert account.cpu > 0
    assert len(account.delays) >= 1
