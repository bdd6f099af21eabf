"""The verbs around the daemon, in this process; several repositories; pre-commit's description."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from daemon_repositories import TEXT, commit, git, jobs, made, once, opened, settings, verdicts

from afterd.cli.daemon import command as daemon
from afterd.cli.hook import command as hook
from afterd.daemon.poster import Poster, secrets_in
from afterd.daemon.serve import serve
from afterd.vcs.hook import script

ROOT = Path(__file__).parents[2]


def say(group: object, *arguments: str) -> Result:
    done = CliRunner().invoke(group, arguments, catch_exceptions=False)  # type: ignore[arg-type] # a click group
    assert done.exit_code == 0, done.output
    return done


def test_a_waiting_commit_is_shown_and_approved(tmp_path: Path) -> None:
    upstream = made(tmp_path / "upstream")
    where = tmp_path / "clone"
    git("clone", "-q", str(upstream), str(where), cwd=tmp_path)
    once(where)
    git("checkout", "-q", "-b", "pull", cwd=upstream)
    of = commit(upstream, {"text": TEXT + "x"})
    git("fetch", "-q", str(upstream), "pull:refs/pull/1/head", cwd=where)
    once(where)
    shown = say(daemon, "status", "-C", str(where)).output
    assert "No daemon watches" in shown
    assert of[:12] in shown
    assert "waiting" in shown
    assert "afterd daemon approve COMMIT" in shown
    assert "in the queue" in say(daemon, "approve", of[:10], "-C", str(where)).output
    once(where)
    assert jobs(where)[-1] == (of, "done")
    assert "will run when it is seen" in say(daemon, "approve", of, "-C", str(where)).output
    found = json.loads(say(daemon, "status", "--format", "json", "-C", str(where)).output)
    assert (found["queue"], found["jobs"]) == ([], {"done": 2})
    assert "no test fails" in say(daemon, "logs", "-n", "5", "-C", str(where)).output
    assert "No daemon" in say(daemon, "stop", "-C", str(where)).output


def test_the_hook_is_put_in_place_and_taken_away(tmp_path: Path) -> None:
    where = made(tmp_path / "r")
    assert "is in place" in say(hook, "install", "-C", str(where)).output
    assert "is gone" in say(hook, "uninstall", "-C", str(where)).output


def test_one_daemon_for_several_repositories(tmp_path: Path) -> None:
    places = [made(tmp_path / name) for name in ("a", "b")]
    for where in places:
        once(where)
    red = [commit(where, {"text": "x\n"}) for where in places]
    serve([settings(where) for where in places], Poster(None), once=True, spoken=False)
    for where, of in zip(places, red, strict=True):
        assert [verdict.kind for verdict in verdicts(where, of)] == ["caused"]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("git@github.com:owner/name.git", ("https://github.com", "owner/name")),
        ("https://user:secret@git.example.org/group/sub/name", ("https://git.example.org", "group/sub/name")),
        ("/somewhere/on/this/disk", None),
    ],
)  # fmt: skip
def test_what_is_put_out_names_its_project(
    tmp_path: Path, url: str, expected: tuple[str, str] | None
) -> None:
    where = made(tmp_path / "r")
    git("remote", "add", "origin", url, cwd=where)
    once(where)
    reading, writing = os.pipe()
    for files in ({"text": "x\n"}, {"other": "still red\n"}, {"text": TEXT}, {"other": "green\n"}):
        commit(where, files)
        serve([settings(where)], Poster(os.dup(writing)), once=True, spoken=False)
    os.close(writing)
    told = os.read(reading, 10_000).decode().splitlines()
    os.close(reading)
    with opened(where) as reader:
        rows = reader.rows("SELECT forge, project, branch, state FROM outgoing ORDER BY id")
    if expected is None:
        assert (rows, told) == ([], [])
        return
    assert {(row["forge"], row["project"], row["branch"]) for row in rows} == {(*expected, "main")}
    assert [row["state"] for row in rows] == ["dropped", "dropped", "dropped", "queued"]
    assert set(told) == {str(where / ".git/afterd/afterd.db")}
    assert "secret" not in str(rows)


def test_green_commits_of_a_branch_that_was_never_red_are_not_put_out(tmp_path: Path) -> None:
    where = made(tmp_path / "r")
    git("remote", "add", "origin", "https://github.com/owner/name", cwd=where)
    once(where)
    commit(where, {"other": "x\n"})
    reading, writing = os.pipe()
    serve([settings(where)], Poster(writing), once=True, spoken=False)
    assert os.read(reading, 10) == b""
    os.close(reading)


def test_a_poster_that_ended_is_noticed() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    poster = Poster(writing)
    assert not poster.tell(Path("x"))
    assert not poster.is_there


def test_secrets_are_known_by_their_names() -> None:
    environment = dict.fromkeys(["PATH", "GITHUB_TOKEN", "AFTERD_FORGE_TOKEN", "AFTERD_JOBS"], "x")
    assert secrets_in(environment) == ["GITHUB_TOKEN", "AFTERD_FORGE_TOKEN"]


def test_what_pre_commit_reads() -> None:
    text = (ROOT / ".pre-commit-hooks.yaml").read_text()
    assert re.search(r"^  stages: \[post-commit\]$", text, re.MULTILINE)
    [entry] = re.findall(r"^  entry: (.*)$", text, re.MULTILINE)
    assert os.access(ROOT / entry, os.X_OK)
    assert (ROOT / entry).read_bytes() == script()
