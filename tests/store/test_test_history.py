"""What was seen of a test stays, with its contradictions."""

from __future__ import annotations

from pathlib import Path

from afterd.model.outcome import Verdict
from afterd.store.database import open_store
from afterd.store.history import Observation, observations, observe


def test_runs_of_a_commit_are_kept_in_order(tmp_path: Path) -> None:
    seen = [
        Observation("c" * 40, "t\udcff", "digest", verdict, 0.5)
        for verdict in (Verdict.PASS, Verdict.FAIL, Verdict.PASS)
    ]
    with open_store(tmp_path / "afterd.db") as store:
        for observation in seen:
            observe(store, "/one/.git", observation)
        observe(store, "/two/.git", seen[0])
        observe(store, "/one/.git", Observation("d" * 40, "other", "digest", Verdict.UNRESOLVED))
        assert observations(store, "/one/.git", "t\udcff") == seen
        assert observations(store, "/none/.git", "t\udcff") == []
