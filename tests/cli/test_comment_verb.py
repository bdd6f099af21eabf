"""``afterd comment`` as it is run: from the repository, from a stranger's file, from an outbox."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pygit2
import pytest
from cli_repository import Run, refused
from fake_forge import BOT, TOKEN, Fault, State, serving

from afterd.forge import ForgeKind
from afterd.report.comment import MARKER
from afterd.store import open_store
from afterd.store.outgoing import Outgoing, OutgoingState, add_outgoing, outgoing_of

pytest_plugins = ["cli_fixtures"]

SPY = """
import json, os, sys
if "afterd.cli.gathered" in " ".join(sys.orig_argv):
    with open({log!r}, "a") as file:
        file.write(json.dumps([dict(os.environ), open("/proc/self/environ").read()]))
"""


@pytest.fixture(autouse=True)
def outside_of_any_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    """The CI service that runs these tests has a project and a summary page of its own."""
    for name in list(os.environ):
        if name.startswith(("GITHUB_", "CI_", "GITEA_", "FORGEJO_")) or name.endswith("_TOKEN"):
            monkeypatch.delenv(name)


@pytest.fixture
def forge(explained: Path) -> Iterator[State]:
    with serving(State(ForgeKind.GITHUB)) as state:
        state.pulls[7]["head"] = str(pygit2.Repository(explained).head.target)
        yield state


def there(state: State) -> dict[str, Any]:
    """The environment of somebody who may comment there."""
    return {
        "AFTERD_FORGE_TOKEN": TOKEN,
        "AFTERD_PROJECT": f"{state.server}/owner/name",
        "AFTERD_FORGE": state.kind,
    }


def test_the_newest_answers_are_posted_and_edited(
    afterd: Run, explained: Path, forge: State, tmp_path: Path
) -> None:
    page = tmp_path / "summary.md"
    done = afterd(
        "comment", "--pr", "7", "-C", str(explained), **there(forge), GITHUB_STEP_SUMMARY=str(page)
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("The comment is written http://127.0.0.1:")
    [body] = forge.bodies()
    assert body.startswith(f"{MARKER}\n<!-- told: ")
    assert body.split("\n")[2] == "## afterd: 1 caused by this change"
    assert page.read_text().startswith("\n## afterd: 1 caused by this change\n")
    assert [run["name"] for run in forge.checks] == ["afterd"]
    again = afterd(
        "comment", "1", "--pr", forge.pulls[7]["head"], "-C", str(explained), **there(forge)
    )
    assert again.stdout.startswith("The comment is there already")
    assert len(forge.comments) == 1


def test_the_token_is_not_with_the_process_that_opens_the_repository(
    afterd: Run, explained: Path, forge: State, tmp_path: Path
) -> None:
    log = tmp_path / "spied"
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(SPY.format(log=str(log)))
    done = afterd("comment", "--pr", "7", "-C", str(explained), **there(forge),
                  GITHUB_TOKEN=TOKEN, PYTHONPATH=str(tmp_path / "site"))  # fmt: skip
    assert done.returncode == 0, done.stderr
    spied = log.read_text()
    assert "PYTHONPATH" in spied  # the spy was there
    assert TOKEN not in spied


def test_a_strangers_file_in_the_trusted_job(
    afterd: Run, explained: Path, forge: State, tmp_path: Path
) -> None:
    answer = tmp_path / "answer.json"
    written = afterd("report", "1", "--format", "json", "-o", str(answer), "-C", str(explained))
    assert written.returncode == 0, written.stderr
    head = forge.pulls[7]["head"]
    nowhere = tmp_path / "no-repository"
    nowhere.mkdir()
    done = afterd("comment", "--from", str(answer), "--pr", head, cwd=nowhere, **there(forge))
    assert done.stdout.startswith("The comment is written")
    other = afterd("comment", "--from", str(answer), "--pr", "e" * 40, cwd=nowhere, **there(forge))
    refused(other, 2, ["The answer is about commit"])
    forge.pulls[7]["head"] = "f" * 40
    moved = afterd("comment", "--from", str(answer), "--pr", "7", cwd=nowhere, **there(forge))
    assert moved.stdout == "The comment is not written: the pull request has other commits now\n"
    forged = json.loads(answer.read_text())
    forged["explanations"][0]["root"][0]["id"] = "c1](javascript:x)"
    answer.write_text(json.dumps(forged))
    refused(
        afterd("comment", "--from", str(answer), "--pr", "7", cwd=nowhere, **there(forge)),
        2,
        ["explanations[0].root[0].id must be a change id", "nothing is posted"],
    )
    assert len(forge.comments) == 1


def test_printed_for_the_summary_page_without_a_token(afterd: Run, explained: Path) -> None:
    done = afterd("comment", "--print", "-C", str(explained))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("## afterd: 1 caused by this change")
    linked = afterd(
        "comment", "--print", "-C", str(explained), "--project", "https://github.com/o/n"
    )
    assert "](https://github.com/o/n/blob/" in linked.stdout


def test_the_project_is_that_of_the_remote(afterd: Run, explained: Path) -> None:
    pygit2.Repository(explained).remotes.create("origin", "https://me:secret@codeberg.org/o/n.git")
    done = afterd("comment", "--print", "-C", str(explained))
    assert "](https://codeberg.org/o/n/src/commit/" in done.stdout
    assert "secret" not in done.stdout


@pytest.mark.parametrize(
    "address", ["/srv/git/n.git", "me@work:o/n", "https://git.example.org/o/n"]
)
def test_a_remote_that_is_no_known_forge_is_printed_without_links(
    afterd: Run, explained: Path, address: str
) -> None:
    """Looked at before it is posted anywhere: a clone of a local path, an alias of ssh, a host of one's own."""
    pygit2.Repository(explained).remotes.create("origin", address)
    done = afterd("comment", "--print", "--pr", "12", "-C", str(explained))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("## afterd: 1 caused by this change")
    assert "](http" not in done.stdout
    posted = afterd("comment", "--pr", "12", "-C", str(explained))
    refused(posted, 2, ["forge" if "o/n" in address else "no address of a project"])


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        ((), 2, ["--pr 12"]),
        (("--pr", "x"), 2, ["--pr takes a number"]),
        (("--pr", "7"), 2, ["Which project it is cannot be told"]),
        (("--pr", "7", "--project", "https://me:secret@nowhere.example/o/n"), 2, ["--forge"]),
        (
            ("--pr", "7", "--project", "https://github.com/o/n"),
            13,
            ["There is no token", "GH_TOKEN"],
        ),
        (("99", "--pr", "7"), 2, ["no explanation 99"]),
        (("--from", "no-such-file", "--pr", "7"), 2, ["cannot be read"]),
        (("3", "--from", "x", "--pr", "7"), 2, ["leave the IDs out"]),
        (("--outgoing", "no-such-file"), 2, ["cannot be read"]),
    ],
)
def test_mistakes_are_sentences(
    afterd: Run, explained: Path, monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...], status: int, words: list[str],
) -> None:  # fmt: skip
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    done = afterd("comment", *arguments, cwd=explained)
    refused(done, status, words)
    assert "secret" not in done.stderr


def test_a_revoked_token_is_a_sentence(afterd: Run, explained: Path, forge: State) -> None:
    wrong = there(forge) | {"AFTERD_FORGE_TOKEN": "revoked-0123"}
    done = afterd("comment", "--pr", "7", "-C", str(explained), **wrong)
    refused(done, 13, ["does not accept the token (Bad credentials)", "docs/errors.md#forge"])
    assert "revoked-0123" not in done.stderr


def test_the_daemons_poster_reads_databases_from_a_pipe_until_it_ends(
    afterd: Run, explained: Path, forge: State, tmp_path: Path
) -> None:
    answer = tmp_path / "answer.json"
    afterd("report", "1", "--format", "json", "-o", str(answer), "-C", str(explained))
    database = explained / ".git" / "afterd" / "afterd.db"
    head = forge.pulls[7]["head"]
    row = Outgoing("k", forge.server, "owner/name", "topic", head, 0, str(answer))
    with open_store(database) as store:
        add_outgoing(store, row)
    reading, writing = os.pipe()
    forge.faults = [Fault("GET", 403, body='{"message": "not yours"}', part="/pulls")]

    def tell() -> None:
        with os.fdopen(writing, "w") as pipe:
            pipe.write(f"{tmp_path / 'no' / 'such.db'}\n{database}\n")

    thread = threading.Thread(target=tell)
    thread.start()
    done = afterd("comment", "--outgoing", f"/dev/fd/{reading}", **there(forge))
    thread.join()
    os.close(reading)
    assert done.returncode == 0
    assert "There is no database" in done.stderr
    assert not (tmp_path / "no").exists()
    assert "does not let this token comment (not yours)" in done.stdout
    with open_store(database) as store:
        [kept] = outgoing_of(store, forge.server, "owner/name", "topic")
    assert kept.state is OutgoingState.FAILED
    assert forge.comments == []
    assert BOT not in done.stdout
