"""Trust is where a commit came from; it is bound to the commit and not upgraded by content."""

from __future__ import annotations

from pathlib import Path

import pytest
from daemon_repositories import TEXT, commit, git, jobs, made, once, opened, settings

from afterd.daemon.approval import approve
from afterd.daemon.refs import watched_tips
from afterd.daemon.trust import Origins, Trust, is_trusted
from afterd.store.database import DATABASE_NAME, open_store
from afterd.vcs.repository import open_repository, state_directory


def trust(where: Path, of: str, **given: object) -> Trust:
    repository, wanted = open_repository(where), settings(where, **given)
    return Origins(repository, watched_tips(repository, wanted), wanted).trust(of)


@pytest.fixture
def upstream(tmp_path: Path) -> Path:
    return made(tmp_path / "upstream")


@pytest.fixture
def clone(upstream: Path, tmp_path: Path) -> Path:
    git("clone", "-q", str(upstream), str(tmp_path / "clone"), cwd=tmp_path)
    return tmp_path / "clone"


def test_the_same_commit_from_three_sides(upstream: Path, clone: Path) -> None:
    of = commit(upstream, {"text": "broken\n"})
    git("fetch", "-q", "origin", "main:refs/pull/7/head", cwd=clone)
    git("update-ref", "-d", "refs/remotes/origin/main", cwd=clone)
    assert trust(upstream, of) is Trust.LOCAL
    assert trust(clone, of) is Trust.FORK
    git("fetch", "-q", "origin", cwd=clone)
    assert trust(clone, of) is Trust.COLLABORATOR
    assert trust(clone, of, trusted_authors=("A@Example.org",)) is Trust.COLLABORATOR
    assert trust(clone, of, trusted_authors=("b@example.org",)) is Trust.UNKNOWN


@pytest.mark.parametrize(
    "command",
    [
        ("checkout", "-q", "-b", "topic", "FETCH_HEAD"),
        ("merge", "-q", "--ff-only", "FETCH_HEAD"),
        ("reset", "-q", "--hard", "FETCH_HEAD"),
        ("rebase", "-q", "FETCH_HEAD"),
        ("cherry-pick", "--ff", "FETCH_HEAD"),
    ],
    ids=lambda command: command[0],
)
def test_a_strangers_commit_in_a_local_branch_is_a_strangers(
    upstream: Path, clone: Path, command: tuple[str, ...]
) -> None:
    git("checkout", "-q", "-b", "evil", cwd=upstream)
    of = commit(upstream, {"text": "x\n"}, "-m", "commit: looks like a reflog entry")
    git("fetch", "-q", str(upstream), "evil", cwd=clone)
    git(*command, cwd=clone)
    assert git("rev-parse", "HEAD", cwd=clone) == of
    assert trust(clone, of) is Trust.FORK


@pytest.mark.parametrize(
    "steps",
    [
        [("commit", "-q", "--allow-empty", "-m", "x")],
        [("commit", "-q", "--amend", "-m", "y")],
        [("revert", "--no-edit", "HEAD")],
        [("checkout", "-q", "-b", "t", "HEAD~1"), ("commit", "-q", "--allow-empty", "-m", "t"),
         ("merge", "-q", "--no-edit", "main")],
        [("checkout", "-q", "-b", "t", "HEAD~1"), ("commit", "-q", "--allow-empty", "-m", "t"),
         ("rebase", "-q", "--keep-empty", "main")],
    ],
    ids=["commit", "amend", "revert", "merge", "rebase"],
)  # fmt: skip
def test_what_git_made_here(upstream: Path, steps: list[tuple[str, ...]]) -> None:
    commit(upstream, {"text": "four\n"})
    for step in steps:
        git(*step, cwd=upstream)
    assert trust(upstream, git("rev-parse", "HEAD", cwd=upstream)) is Trust.LOCAL


@pytest.mark.parametrize(
    ("ref", "bare", "trusted", "expected"),
    [
        ("refs/heads/main", False, (), False),
        ("refs/heads/main", True, (), True),
        ("refs/remotes/origin/main", False, (), True),
        ("refs/remotes/stranger/main", False, (), False),
        ("refs/remotes/origin/pr/7", False, (), False),
        ("refs/remotes/origin/pull/7/head", False, (), False),
        ("refs/pull/7/head", True, (), False),
        ("refs/merge-requests/7/head", True, (), False),
        ("refs/remotes/team/x", False, ("refs/remotes/team/*",), True),
        ("refs/remotes/origin/x", False, ("refs/remotes/team/*",), False),
    ],
)
def test_refs(
    ref: str, bare: bool, trusted: tuple[str, ...], expected: bool, tmp_path: Path
) -> None:
    assert is_trusted(ref, bare, settings(tmp_path, trusted=trusted)) is expected


def test_approval_is_of_a_commit_not_of_its_branch(upstream: Path, clone: Path) -> None:
    once(clone)
    git("checkout", "-q", "-b", "pull", cwd=upstream)
    first = commit(upstream, {"text": TEXT + "a\n", "afterd.toml": "trusted = ['refs/*']\n"})
    git("fetch", "-q", "origin", "pull:refs/pull/1/head", cwd=clone)
    git("update-ref", "-d", "refs/remotes/origin/pull", cwd=clone)
    once(clone)
    assert jobs(clone)[1:] == [(first, "waiting")]
    with open_store(state_directory(open_repository(clone)) / DATABASE_NAME) as store:
        assert approve(store, first)
    once(clone)
    assert jobs(clone)[1:] == [(first, "done")]
    second = commit(upstream, {"text": TEXT + "b\n"})
    git("fetch", "-q", "origin", "pull:refs/pull/1/head", cwd=clone)
    git("update-ref", "-d", "refs/remotes/origin/pull", cwd=clone)
    once(clone)
    assert jobs(clone)[2:] == [(second, "waiting")]
    with opened(clone) as reader:
        [row] = reader.rows("SELECT count(*) AS n FROM run r JOIN job j ON j.id = r.job_id "
                            "WHERE j.key LIKE ?", (f"%{second}",))  # fmt: skip
        assert row["n"] == 0


def test_a_waiting_commit_that_is_merged_upstream_runs(upstream: Path, clone: Path) -> None:
    once(clone)
    git("checkout", "-q", "-b", "pull", cwd=upstream)
    of = commit(upstream, {"text": TEXT + "a\n"})
    git("fetch", "-q", "origin", "pull:refs/pull/1/head", cwd=clone)
    git("update-ref", "-d", "refs/remotes/origin/pull", cwd=clone)
    once(clone)
    assert jobs(clone)[1:] == [(of, "waiting")]
    git("checkout", "-q", "main", cwd=upstream)
    git("merge", "-q", "--ff-only", "pull", cwd=upstream)
    git("fetch", "-q", "origin", "main", cwd=clone)
    once(clone)
    assert jobs(clone)[1:] == [(of, "done")]
