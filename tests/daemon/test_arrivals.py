"""News become jobs: once, the newest of a ref, whatever way they came."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from daemon_repositories import TEXT, commit, git, jobs, made, service

from afterd.store.jobs import JobState, unfinished_jobs
from afterd.vcs import hook
from afterd.vcs.repository import open_repository


@pytest.fixture
def where(tmp_path: Path) -> Path:
    return made(tmp_path / "r")


def heads(where: Path) -> list[tuple[str, str]]:
    return [job for job in jobs(where) if job[1] == "queued"]


def test_the_first_look_remembers_refs_and_tests_head_alone(where: Path) -> None:
    git("branch", "other", cwd=where)
    git("checkout", "-q", "-b", "third", cwd=where)
    head = commit(where, {"text": TEXT + "x"})
    with service(where) as found:
        assert found.look()
        assert heads(where) == [(head, "queued")]
        assert not found.look()


def test_newer_commits_supersede_queued_older_ones_of_their_ref(where: Path) -> None:
    with service(where) as found:
        found.look()
        found.work()
        git("branch", "other", cwd=where)
        older = commit(where, {"text": TEXT + "1"})
        found.look()
        git("checkout", "-q", "other", cwd=where)
        elsewhere = commit(where, {"text": TEXT + "2"})
        found.look()
        git("checkout", "-q", "main", cwd=where)
        newer = commit(where, {"text": TEXT + "3"})
        found.look()
    assert jobs(where)[1:] == [(older, "abandoned"), (elsewhere, "queued"), (newer, "queued")]


def test_a_rebase_of_many_commits_is_one_job(where: Path) -> None:
    hook.install(open_repository(where))
    git("checkout", "-q", "-b", "topic", cwd=where)
    for number in range(5):
        commit(where, {f"f{number}": ""})
    git("checkout", "-q", "main", cwd=where)
    commit(where, {"g": ""})
    with service(where) as found:
        found.look()
        before = len(jobs(where))
        git("rebase", "-q", "--exec", "true", "main", "topic", cwd=where)
        found.look()
        assert jobs(where)[before:] == [(git("rev-parse", "topic", cwd=where), "queued")]
    assert not list((where / ".git/afterd/inbox").iterdir())


def test_in_the_middle_of_a_rebase_nothing_is_queued(where: Path) -> None:
    hook.install(open_repository(where))
    git("checkout", "-q", "-b", "topic", cwd=where)
    commit(where, {"f": ""})
    git("checkout", "-q", "main", cwd=where)
    commit(where, {"g": ""})
    with service(where) as found:
        found.look()
        queued = jobs(where)
        with pytest.raises(Exception, match="exit status"):
            git("rebase", "-q", "--exec", "false", "main", "topic", cwd=where)
        found.look()
        assert jobs(where) == queued
        assert list((where / ".git/afterd/inbox").iterdir())
        git("rebase", "--continue", cwd=where)
        found.look()
        assert jobs(where)[-1] == (git("rev-parse", "topic", cwd=where), "queued")


def test_amended_commits_are_one_job(where: Path) -> None:
    hook.install(open_repository(where))
    with service(where) as found:
        found.look()
        found.work()
        for number in range(3):
            commit(where, {"text": TEXT + str(number)}, *(["--amend"] if number else []))
        found.look()
    assert jobs(where)[1:] == [(git("rev-parse", "HEAD", cwd=where), "queued")]


def test_a_commit_on_a_detached_head_is_told_by_the_hook(where: Path) -> None:
    hook.install(open_repository(where))
    with service(where) as found:
        found.look()
        found.work()
        git("checkout", "-q", "--detach", cwd=where)
        of = commit(where, {"text": TEXT + "x"})
        found.look()
    assert jobs(where)[1:] == [(of, "queued")]


def test_a_fetch_and_a_linked_worktree(where: Path, tmp_path: Path) -> None:
    git("clone", "-q", str(where), str(tmp_path / "clone"), cwd=tmp_path)
    with service(tmp_path / "clone") as found:
        found.look()
        found.work()
        fetched = commit(where, {"text": TEXT + "1"})
        git("fetch", "-q", cwd=tmp_path / "clone")
        found.look()
        git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"), cwd=tmp_path / "clone")
        linked = commit(tmp_path / "side", {"text": TEXT + "2"})
        found.look()
    assert jobs(tmp_path / "clone")[1:] == [(fetched, "queued"), (linked, "queued")]


def test_a_push_into_a_bare_repository(where: Path, tmp_path: Path) -> None:
    git("init", "-q", "--bare", "-b", "main", str(tmp_path / "bare"), cwd=tmp_path)
    git("push", "-q", str(tmp_path / "bare"), "main", cwd=where)
    with service(tmp_path / "bare") as found:
        found.look()
        found.work()
        of = commit(where, {"text": TEXT + "1"})
        git("push", "-q", str(tmp_path / "bare"), "main:topic", cwd=where)
        found.look()
        assert [job.state for job in unfinished_jobs(found.store)] == [JobState.QUEUED]
    assert jobs(tmp_path / "bare")[1:] == [(of, "queued")]


def test_refs_that_are_not_watched_are_no_news(where: Path) -> None:
    with service(where, watch=("refs/heads/main",)) as found:
        found.look()
        git("checkout", "-q", "-b", "topic", cwd=where)
        commit(where, {"text": "x"})
        assert not found.look()


def test_an_empty_repository_is_watched_too(tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    git("init", "-q", "-b", "main", cwd=tmp_path / "r")
    with service(tmp_path / "r") as found:
        assert not found.look()
        of = commit(tmp_path / "r", {"text": TEXT})
        assert found.look()
    assert jobs(tmp_path / "r") == [(of, "queued")]


def test_tags_of_trees_and_odd_names_are_passed_over(where: Path) -> None:
    tree = git("rev-parse", "HEAD^{tree}", cwd=where)
    git("update-ref", "refs/heads/tree-é", "HEAD", cwd=where)
    git("tag", "-a", "-m", "t", "annotated", cwd=where)
    git("update-ref", "refs/pull/1/head", "refs/tags/annotated", cwd=where)
    git("update-ref", "refs/pull/2/head", tree, cwd=where)
    with service(where) as found:
        assert found.look()


def test_a_thousand_refs_are_taken_in_within_seconds(where: Path) -> None:
    with service(where) as found:
        found.look()
        found.work()
        tree = git("rev-parse", "HEAD^{tree}", cwd=where)
        parent = git("rev-parse", "HEAD", cwd=where)
        packed = [
            f"{git('commit-tree', '-m', str(n), '-p', parent, tree, cwd=where)} refs/pull/{n}/head"
            for n in range(10)
        ]
        packed += [f"{packed[n % 10][:40]} refs/pull/{n}/head" for n in range(10, 1000)]
        (where / ".git/packed-refs").write_text(
            "\n".join(["# pack-refs with: peeled", *packed, ""])
        )
        began = time.monotonic()
        assert found.look()
        assert time.monotonic() - began < 10
    states = [state for _, state in jobs(where)]
    assert states == ["done", *["waiting"] * 10]
