"""The cache in the database keeps what the one in memory keeps, across sessions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from explanation_samples import ANY_TEXT
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from afterd.execution.cache import BUILD_ONLY, MemoryCache, OutcomeCache, OutcomeKey
from afterd.model.outcome import (
    FailureKind,
    FailureSignature,
    Outcome,
    Unresolved,
    Verdict,
)
from afterd.store.database import Store, open_store
from afterd.store.outcomes import StoredOutcomes

NAMES = ("tree", "test", "command", "environment")
KEY = OutcomeKey("t" * 40, "test_a", "c", "e")

keys = st.builds(
    OutcomeKey,
    st.sampled_from(["t1", "t2"]),
    st.sampled_from(["", "test_a", "tést\udcff", BUILD_ONLY]),
    st.sampled_from(["c1", "c2"]),
    st.sampled_from(["e1", "e2"]),
)
outcomes = st.builds(
    Outcome,
    verdict=st.sampled_from(Verdict),
    reason=st.none() | st.sampled_from(Unresolved),
    detail=ANY_TEXT,
    signature=st.none()
    | st.builds(
        FailureSignature,
        kind=st.sampled_from(FailureKind),
        message=ANY_TEXT,
        file=ANY_TEXT,
        symbol=ANY_TEXT,
        process=ANY_TEXT,
        test=ANY_TEXT,
    ),
    build_seconds=st.floats(0, 1e6),
    test_seconds=st.floats(0, 1e6),
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(tmp_path_factory.mktemp("cache") / "afterd.db") as opened:
        yield opened


@given(kept=st.lists(st.tuples(keys, outcomes), max_size=6), asked=st.lists(keys, max_size=4))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_it_behaves_as_the_one_in_memory(
    store: Store, kept: list[tuple[OutcomeKey, Outcome]], asked: list[OutcomeKey]
) -> None:
    with store.transaction() as database:
        database.execute("DELETE FROM outcome")
        database.execute("DELETE FROM build")
    caches: list[OutcomeCache] = [StoredOutcomes(store), MemoryCache()]
    for cache in caches:
        for key, outcome in kept:
            cache.put(key, outcome)
    for key in [*asked, *(key for key, _ in kept)]:
        assert caches[0].get(key) == caches[1].get(key)


def test_outcomes_outlive_the_session(tmp_path: Path) -> None:
    outcome = Outcome(Verdict.UNRESOLVED, Unresolved.TIMEOUT, "no answer", test_seconds=300.0)
    with open_store(tmp_path / "afterd.db") as store:
        StoredOutcomes(store).put(KEY, outcome)
    with open_store(tmp_path / "afterd.db") as store:
        assert StoredOutcomes(store).get(KEY) == outcome


def test_a_signature_of_an_older_version_is_read(store: Store) -> None:
    """It has no lines in which an output differed."""
    cache = StoredOutcomes(store)
    signature = FailureSignature(FailureKind.OUTPUT, test="t", differing="-0041043e3d85")
    cache.put(KEY, Outcome(Verdict.FAIL, signature=signature))
    with store.transaction() as database:
        # The other rows are of the property test, which shares this store: some have no signature.
        query = (
            "UPDATE outcome SET signature = json_remove(signature, '$.differing') WHERE tree = ?"
        )
        database.execute(query, [KEY.tree])
    kept = cache.get(KEY)
    assert kept is not None
    assert kept.signature == FailureSignature(FailureKind.OUTPUT, test="t")


def test_builds_stand_apart(store: Store) -> None:
    cache = StoredOutcomes(store)
    cache.put(OutcomeKey("tree", BUILD_ONLY, "b", "e"), Outcome(Verdict.PASS, build_seconds=2.0))
    assert cache.get(OutcomeKey("tree", "", "b", "e")) is None
    [row] = store.rows("SELECT build_seconds FROM build WHERE tree = 'tree'")
    assert row == {"build_seconds": 2.0}


def test_secrets_are_not_kept(store: Store) -> None:
    cache = StoredOutcomes(store, mask=lambda text: text.replace("s3cret", "***"))
    cache.put(KEY, Outcome(Verdict.PASS, detail="login s3cret ok"))
    kept = cache.get(KEY)
    assert kept is not None
    assert kept.detail == "login *** ok"
    signature = FailureSignature(FailureKind.ASSERTION, "token s3cret refused")
    other = OutcomeKey("u", "t", "c", "e")
    cache.put(other, Outcome(Verdict.FAIL, signature=signature))
    assert cache.get(other) is None
