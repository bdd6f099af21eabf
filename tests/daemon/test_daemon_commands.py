"""The verbs around the daemon, in this process; several repositories; pre-commit's description."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from daemon_repositories import (
    TEXT,
    commit,
    git,
    jobs,
    made,
    once,
    opened,
    settings,
    verdict_where_tests,
    verdicts,
)

from afterd.cli.daemon import command as daemon
from afterd.cli.hook import command as hook
from afterd.daemon.log import rotate_file
from afterd.daemon.poster import Poster, secrets_in
from afterd.daemon.serve import serve
from afterd.store import open_store
from afterd.store.outgoing import mark_sent, outgoing_of
from afterd.vcs.hook import script

ROOT = Path(__file__).parents[2]


def afterd_process(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command as a user types it."""
    plainly = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    command = [sys.executable, "-m", "afterd", *arguments]
    return subprocess.run(
        command, env=plainly, capture_output=True, text=True, check=False, timeout=240
    )


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


def test_what_a_posted_comment_says_already_is_not_put_out(tmp_path: Path) -> None:
    where = made(tmp_path / "r")
    git("remote", "add", "origin", "https://github.com/owner/name", cwd=where)
    once(where)
    reading, writing = os.pipe()
    put_out = []
    for files in ({"text": "x\n"}, {"other": "still red\n"}, {"text": TEXT}):
        commit(where, files)
        serve([settings(where)], Poster(os.dup(writing)), once=True, spoken=False)
        with open_store(where / ".git/afterd/afterd.db") as store:
            rows = outgoing_of(store, "https://github.com", "owner/name", "main")
            put_out.append([row.state for row in rows])
            mark_sent(store, rows[-1].id, "https://github.com/owner/name/pull/7#issuecomment-1")
    os.close(writing)
    os.close(reading)
    assert list(map(len, put_out)) == [1, 1, 2]  # red, still red, mended


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


def test_daemon_run_takes_the_repository_as_other_verbs_do(tmp_path: Path) -> None:
    where = made(tmp_path / "r", {"text": TEXT, "afterd.toml": 'test = "true"\n'})
    done = afterd_process("daemon", "run", "--once", "--quiet", "-C", str(where))
    assert done.returncode == 0, done.stderr
    assert [state for _, state in jobs(where)] == ["done"]


def test_a_bad_setting_is_said_by_who_starts_the_daemon(tmp_path: Path) -> None:
    where = made(tmp_path / "r", {"text": TEXT, "afterd.toml": 'tset = "true"\n'})
    for verb in ("run", "start"):
        done = afterd_process("daemon", verb, "-C", str(where))
        assert done.returncode == 2, done.stderr
        assert "tset" in done.stderr


def test_what_the_daemon_prints_beside_its_log_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "daemon.out"
    with path.open("ab") as writer:
        writer.write(b"x" * (2 << 20))
        writer.flush()
        rotate_file(path)
        writer.write(b"later")
    assert path.read_bytes() == b"later"
    assert path.with_name("daemon.out.1").stat().st_size == 2 << 20


def test_a_version_that_cannot_be_tested_is_undetermined(tmp_path: Path) -> None:
    verdict = verdict_where_tests(tmp_path / "r", "exit 125")
    assert (verdict.kind, "125" in verdict.reason) == ("undetermined", True)
