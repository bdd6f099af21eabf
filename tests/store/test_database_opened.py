"""What is opened, what is refused, and that a refused file is left as it was (rows 6 to 8)."""

from __future__ import annotations

import hashlib
import random
import shutil
import sqlite3
from pathlib import Path

import pytest
from explanation_samples import RUNNING_EXAMPLE

from afterd.errors import AfterdError, ExitStatus, StoreError
from afterd.store import reserve
from afterd.store.database import Connect, Store, connect, open_reader, open_store
from afterd.store.explanations import listing, load, save
from afterd.store.schema import SCHEMA_VERSION


def filled(path: Path) -> Path:
    with open_store(path) as store:
        for _ in range(5):
            save(store, "/git", RUNNING_EXAMPLE, lambda _: "{}")
    return path


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_settings_of_the_file(tmp_path: Path) -> None:
    with open_store(tmp_path / "deep" / "afterd.db") as store:
        assert store.rows("PRAGMA journal_mode") == [{"journal_mode": "wal"}]
        assert store.rows("PRAGMA synchronous") == [{"synchronous": 2}]
        assert store.rows("PRAGMA foreign_keys") == [{"foreign_keys": 1}]
        assert store.rows("PRAGMA auto_vacuum") == [{"auto_vacuum": 2}]


def test_a_newer_schema_is_refused_untouched_naming_both(tmp_path: Path) -> None:
    path = filled(tmp_path / "afterd.db")
    with sqlite3.connect(path) as raw:
        raw.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    raw.close()
    before = digest(path)
    for opening in (open_store, open_reader):
        with pytest.raises(StoreError) as caught:
            opening(path)
        assert f"version {SCHEMA_VERSION + 1}" in str(caught.value)
        assert f"version {SCHEMA_VERSION}." in str(caught.value)
        assert caught.value.exit_status is ExitStatus.CANNOT_RUN
    assert digest(path) == before


def test_what_is_not_ours_is_refused_untouched(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign.db"
    with sqlite3.connect(foreign) as raw:
        raw.execute("CREATE TABLE theirs (x)")
    raw.close()
    folder = tmp_path / "folder.db"
    folder.mkdir()
    before = digest(foreign)
    for opening in (open_store, open_reader):
        with pytest.raises(StoreError, match=f"{foreign} belongs to another program"):
            opening(foreign)
    assert digest(foreign) == before
    with pytest.raises(StoreError, match=str(folder)):
        open_store(folder)


def test_no_database_yet(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="Nothing was explained"):
        open_reader(tmp_path / "afterd.db")
    assert not list(tmp_path.iterdir())


def test_a_state_folder_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be made"):
        open_store(tmp_path / "file" / "afterd.db")


@pytest.mark.parametrize("seed", range(50))
def test_a_flipped_byte_ends_in_a_sentence_or_an_answer(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    base = tmp_path_factory.getbasetemp() / "flip" / "afterd.db"
    if not base.exists():
        filled(base)
    path = tmp_path_factory.mktemp("flipped") / "afterd.db"
    content = bytearray(base.read_bytes())
    place = random.Random(seed).randrange(len(content) if seed % 2 else 8192)
    content[place] ^= 1 << seed % 8
    path.write_bytes(content)
    try:
        with open_store(path) as store:
            for summary in listing(store):
                load(store, summary.id)
    except AfterdError as error:
        assert str(path) in str(error) or "no explanation" in str(error)  # noqa: PT017 - either end is right


def limited(pages: int) -> Connect:
    def connect_limited(uri: str) -> sqlite3.Connection:
        connection = connect(uri)
        connection.execute(f"PRAGMA max_page_count = {pages}")
        return connection

    return connect_limited


def fill(store: Store) -> None:
    for _ in range(100):
        save(store, "/git", RUNNING_EXAMPLE, lambda _: "{}" * 999)


def test_a_full_disk_loses_nothing_and_frees_the_reserve(tmp_path: Path) -> None:
    path = filled(tmp_path / "afterd.db")
    kept = path.with_name("afterd.db.reserve")
    assert kept.stat().st_size == reserve.SIZE
    pages = path.stat().st_size // 4096 + 3
    with open_store(path, connect=limited(pages)) as store:
        with pytest.raises(AfterdError, match="No space is left") as caught:
            fill(store)
        assert caught.value.slug == "space"
        assert not kept.exists()
        whole = [load(store, summary.id) for summary in listing(store, 999)]
        assert len(whole) >= 5
        assert store.rows("PRAGMA integrity_check") == [{"integrity_check": "ok"}]
    with open_store(path) as store:
        save(store, "/git", RUNNING_EXAMPLE, lambda _: "{}" * 999)
        assert len(listing(store, 999)) == len(whole) + 1
    assert kept.exists()


def test_without_plenty_of_room_no_reserve_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(reserve, "PLENTY", usage.free * 2)
    reserve.keep(tmp_path / "reserve")
    assert not reserve.release(tmp_path / "reserve")
