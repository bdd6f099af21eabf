"""The outbox posted: once, again after faults, never after somebody said no."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from explanation_samples import RUNNING_EXAMPLE
from fake_forge import BOT, HEAD, TOKEN, Fault, State, serving

from afterd.forge import ForgeKind
from afterd.model.explanation import Explanation, RunCounts
from afterd.publishing.outbox import post_due
from afterd.report.comment import MARKER
from afterd.report.json import document
from afterd.store import Store, open_store
from afterd.store.outgoing import Outgoing, OutgoingState, add_outgoing, due_postings, outgoing_of


@pytest.fixture
def forge(monkeypatch: pytest.MonkeyPatch) -> Iterator[State]:
    monkeypatch.setenv("AFTERD_FORGE_TOKEN", TOKEN)
    with serving(State(ForgeKind.GITEA)) as state:
        yield state


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "afterd.db"


@pytest.fixture
def store(database: Path) -> Iterator[Store]:
    with open_store(database) as opened:
        yield opened


def left(
    store: Store,
    forge: State,
    key: str = "k",
    commit: str = HEAD,
    number: int = 0,
    shown: Explanation = RUNNING_EXAMPLE,
) -> None:
    """A row and its artefact, as the daemon leaves them."""
    path = store.path.with_name(f"{key}.json")
    path.write_text(json.dumps({**document([shown], "/p"), "commit": commit}))
    add_outgoing(
        store, Outgoing(key, forge.server, "owner/name", "topic", commit, number, str(path))
    )


def rows(store: Store, forge: State) -> list[Outgoing]:
    return outgoing_of(store, forge.server, "owner/name", "topic")


def posted(database: Path) -> list[str]:
    said: list[str] = []
    post_due(database, said.append, "gitea")
    return said


def test_posted_on_the_pull_request_with_that_head(
    store: Store, forge: State, database: Path
) -> None:
    forge.pulls[9] = {"head": "d" * 40, "open": True}
    left(store, forge)
    [said] = posted(database)
    assert said.startswith("owner/name bbbbbbbbbb: written http://127.0.0.1:")
    [row] = rows(store, forge)
    assert row.state is OutgoingState.SENT
    assert row.url.endswith("#issuecomment-1")
    assert (
        f"](http://127.0.0.1:{forge.server.rpartition(':')[2]}/owner/name/src/commit/{HEAD}/sum.c#L5)"
        in forge.bodies()[0]
    )
    assert posted(database) == []
    assert len(forge.comments) == 1


@pytest.mark.parametrize(
    ("shown", "said", "named"),
    [
        (replace(RUNNING_EXAMPLE, root=RUNNING_EXAMPLE.root[:1]), "edited in place", True),
        (replace(RUNNING_EXAMPLE, id=2, runs=RunCounts(tests=70)), "there already", False),
    ],
)
def test_a_newer_commit_edits_the_comment_where_there_is_news(
    store: Store, forge: State, database: Path, shown: Explanation, said: str, *, named: bool
) -> None:
    left(store, forge)
    posted(database)
    newer = "c" * 40
    forge.pulls[7]["head"] = newer
    left(store, forge, "k2", newer, shown=shown)
    [line] = posted(database)
    assert said in line
    assert [newer[:10] in body for body in forge.bodies()] == [named]
    assert rows(store, forge)[-1].state is OutgoingState.SENT


def test_a_comment_that_somebody_deleted_stays_deleted(
    store: Store, forge: State, database: Path
) -> None:
    left(store, forge)
    posted(database)
    forge.comments.clear()
    forge.pulls[7]["head"] = "c" * 40
    left(store, forge, "k2", "c" * 40)
    [said] = posted(database)
    assert "somebody deleted it" in said
    assert forge.comments == []
    assert rows(store, forge)[-1].state is OutgoingState.FAILED


def test_a_branch_of_the_same_name_later_has_a_comment_of_its_own(
    store: Store, forge: State, database: Path
) -> None:
    left(store, forge)
    posted(database)
    forge.comments.clear()  # those of pull request 7 are not those of 8
    newer = "c" * 40
    forge.pulls = {7: {"head": HEAD, "open": False}, 8: {"head": newer, "open": True}}
    left(store, forge, "k2", newer)
    [said] = posted(database)
    assert "written http" in said


def test_a_limit_is_waited_for_in_the_outbox(store: Store, forge: State, database: Path) -> None:
    forge.faults = [Fault("GET", 429, {"Retry-After": "900"})]
    left(store, forge)
    [said] = posted(database)
    assert "takes no more requests" in said
    assert posted(database) == []
    [row] = rows(store, forge)
    assert (row.state, row.attempts) == (OutgoingState.QUEUED, 1)
    assert 800 < row.not_before - time.time() <= 900
    assert [each.id for each in due_postings(store, time.time() + 901)] == [row.id]


def test_no_pull_request_yet_is_looked_for_again(
    store: Store, forge: State, database: Path
) -> None:
    forge.pulls.clear()
    left(store, forge)
    [said] = posted(database)
    assert "no open pull request of owner/name whose head is bbbbbbbbbb" in said
    assert rows(store, forge)[0].state is OutgoingState.QUEUED


@pytest.mark.parametrize("broken", ["gone", "other commit", "hostile"])
def test_an_artefact_that_is_not_the_daemons_is_never_posted(
    store: Store, forge: State, database: Path, broken: str
) -> None:
    left(store, forge)
    path = database.with_name("k.json")
    match broken:
        case "gone":
            path.unlink()
        case "other commit":
            path.write_text(json.dumps({**json.loads(path.read_text()), "commit": "e" * 40}))
        case _:
            path.write_text('{"schema": 1, "explanations": [{"id": "<b>"}]}')
    [said] = posted(database)
    assert "\n" not in said
    assert forge.requests == []
    state = rows(store, forge)[0].state
    assert state is (OutgoingState.QUEUED if broken == "other commit" else OutgoingState.FAILED)


def test_a_second_poster_leaves_the_first_alone(store: Store, forge: State, database: Path) -> None:
    left(store, forge)
    said: list[str] = []

    def meanwhile(sentence: str) -> None:
        said.append(sentence)
        left(store, forge, "k2", "c" * 40)
        assert posted(database) == []  # the first still holds the lock

    post_due(database, meanwhile, "gitea")
    assert len(said) == 1
    assert len(forge.comments) == 1


def test_killed_between_the_answer_and_the_row(store: Store, forge: State, database: Path) -> None:
    left(store, forge)
    forge.add(BOT, f"{MARKER}\nwhat the one that died had posted")
    [said] = posted(database)
    assert "edited in place" in said
    assert len(forge.comments) == 1


def test_secrets_of_this_process_are_blotted_out(
    store: Store, forge: State, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEPLOY_SECRET", "hunter2-hunter2")
    left(store, forge)
    leaking = replace(RUNNING_EXAMPLE, reason=f"it printed hunter2-hunter2 and {TOKEN}")
    path = database.with_name("k.json")
    path.write_text(json.dumps(document([leaking], "/p")))
    posted(database)
    assert "hunter2" not in forge.bodies()[0]
    assert TOKEN not in forge.bodies()[0]
    assert "it printed" in forge.bodies()[0]
