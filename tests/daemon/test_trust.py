"""Trust is where a commit came from; it is bound to the commit and not upgraded by content."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest
from daemon_repositories import TEXT, commit, git, jobs, made, once, opened, plain, settings

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


ME, STRANGER = "me@example.org", "stranger@example.org"


def person(email: str, seconds: float = 0.0) -> dict[str, str]:
    """A committer, at this moment or so many seconds from it."""
    date = f"@{int(time.time() + seconds)} +0000"
    return {"GIT_COMMITTER_EMAIL": email, "GIT_AUTHOR_EMAIL": email, "GIT_COMMITTER_DATE": date}


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A clone of somebody's own, with a branch that went another way than upstream's."""
    upstream = made(tmp_path / "shared")
    git("clone", "-q", str(upstream), str(tmp_path / "work"), cwd=tmp_path)
    work = tmp_path / "work"
    commit(upstream, {"theirs": "x\n"}, **person(STRANGER))
    git("checkout", "-q", "-b", "side", cwd=work)
    commit(work, {"side": "1\n"}, **person(ME))
    git("checkout", "-q", "main", cwd=work)
    commit(work, {"mine": "1\n"}, **person(ME, -9))
    commit(work, {"mine": "2\n"}, "--fixup=HEAD", **person(ME, -8))
    git("format-patch", "-q", "-1", "side", cwd=work)
    git("update-ref", "-d", "refs/remotes/origin/main", cwd=work)
    return work


PLUMBING = "git update-ref {options} HEAD $(echo made | git commit-tree -p HEAD HEAD^{{tree}})"
OURS = {
    "commit": "echo 3 >mine; git commit -qam x",
    "commit with a date": "git commit -q --allow-empty -m x --date=2001-01-01T00:00",
    "amend": "git commit -q --amend -m y",
    "amend without a new message": "echo 3 >mine; git commit -qa --amend --no-edit",
    "revert": "git revert --no-edit HEAD",
    "cherry-pick": "git cherry-pick side",
    "cherry-pick of two": "git cherry-pick side main~1 -Xours --keep-redundant-commits || git cherry-pick --skip",
    "am": "git am -q 0001-work.patch",
    "am with the author's date": "git am -q --committer-date-is-author-date 0001-work.patch",
    "merge": "git merge -q --no-edit side",
    "merge that is no fast-forward": "git checkout -q side~1; git merge -q --no-ff --no-edit side",
    "squash": "git merge -q --squash side; git commit -qm squashed",
    "pull": "git pull -q --no-rebase --no-edit ../shared main",
    "pull --rebase": "git pull -q --rebase ../shared main",
    "rebase": "git rebase -q side",
    "rebase -i with a fixup": "GIT_SEQUENCE_EDITOR=: git rebase -q -i --autosquash HEAD~2",
    "rebase --exec": "git rebase -q --exec true side",
    "rebase with the author's date": "git rebase -q --committer-date-is-author-date side",
    "rebase that stopped": "git rebase -q --exec 'test -e go' side || { touch go; git rebase --continue; }",
    "stash pop": "echo 3 >mine; git stash -q; git stash pop -q; git commit -qam x",
    "a worktree": "git worktree add -q ../linked side; cd ../linked; git commit -q --allow-empty -m x",
    "a detached HEAD": "git checkout -q --detach; git commit -q --allow-empty -m x",
    "a tool with a word of its own": "GIT_REFLOG_ACTION='my tool' git commit -q --allow-empty -m x",
    "a tool that rebases": "GIT_REFLOG_ACTION=sync git rebase -q side",
    "a tool that cherry-picks": "GIT_REFLOG_ACTION=stack git cherry-pick side",
    "plumbing, as of an IDE": PLUMBING.format(options="-m 'commit by an IDE'"),
    "plumbing without a word": PLUMBING.format(options=""),
    "plumbing, seen later, as of jj": "commit=$(echo made | git commit-tree -p HEAD HEAD^{tree});"
    ' GIT_COMMITTER_DATE="@$(($(date +%s) + 300)) +0000"'
    " git update-ref -m 'export from jj' HEAD $commit",
    "an empty message": "git commit -q --allow-empty --allow-empty-message -m ''",
    "a message like that of a move": "git commit -q --allow-empty -m 'checkout: moving from a to b'",
}
THEIRS = {
    "checkout": "git checkout -q -b topic FETCH_HEAD",
    "checkout, detached": "git checkout -q FETCH_HEAD",
    "checkout by a tool": "GIT_REFLOG_ACTION=tool git checkout -q FETCH_HEAD",
    "switch": "git switch -q -c topic FETCH_HEAD",
    "merge that is a fast-forward": "git merge -q --ff-only FETCH_HEAD",
    "merge by a tool": "GIT_REFLOG_ACTION=tool git merge -q --ff-only FETCH_HEAD",
    "pull": "git pull -q --ff-only ../shared evil",
    "pull --rebase": "git pull -q --rebase ../shared evil",
    "reset": "git reset -q --hard FETCH_HEAD",
    "reset by a tool": "GIT_REFLOG_ACTION=tool git reset -q --hard FETCH_HEAD",
    "rebase": "git rebase -q FETCH_HEAD",
    "rebase by a tool": "GIT_REFLOG_ACTION=tool git rebase -q FETCH_HEAD",
    "rebase -i": "GIT_SEQUENCE_EDITOR=: git rebase -q -i FETCH_HEAD",
    "cherry-pick": "git cherry-pick --ff FETCH_HEAD",
    "cherry-pick by a tool": "GIT_REFLOG_ACTION=tool git cherry-pick --ff FETCH_HEAD",
    "a branch that is moved": "git checkout -q -b topic; git branch -q -f main FETCH_HEAD; git checkout -q main",
    "a worktree": "git worktree add -q ../linked FETCH_HEAD; cd ../linked",
    "clone": "git clone -q ../shared ../another -b evil; cd ../another; git remote rename origin o",
    "plumbing": "git update-ref HEAD FETCH_HEAD",
    "bisect": "git fetch -q ../shared evil; git bisect start FETCH_HEAD HEAD >/dev/null || :;"
    " git bisect reset FETCH_HEAD -q 2>/dev/null || git checkout -q FETCH_HEAD",
}


def shell(script: str, where: Path, **environment: str) -> Path:
    """Run what a person types; the repository that HEAD was moved in."""
    ran = subprocess.run(
        ["sh", "-ec", f"{script}\npwd"], cwd=where, env=plain(where) | environment,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return Path(ran.stdout.splitlines()[-1])


@pytest.mark.parametrize("script", OURS.values(), ids=list(OURS))
def test_the_ways_in_which_people_make_commits(work: Path, script: str) -> None:
    before = git("rev-parse", "HEAD", cwd=work)
    names = {"GIT_COMMITTER_EMAIL": ME, "GIT_AUTHOR_EMAIL": ME, "GIT_EDITOR": "true"}
    where = shell(script, work, **names)
    head = git("rev-parse", "HEAD", cwd=where)
    assert head != before
    assert trust(where, head) is Trust.LOCAL


@pytest.mark.parametrize("forged", [False, True], ids=["honest", "forged"])
@pytest.mark.parametrize("script", THEIRS.values(), ids=list(THEIRS))
def test_the_ways_in_which_strangers_commits_come_in(
    tmp_path: Path, script: str, forged: bool
) -> None:
    """Also where the stranger writes our name under them, and one of our times."""
    shared = made(tmp_path / "shared")
    git("clone", "-q", str(shared), str(tmp_path / "work"), cwd=tmp_path)
    git("checkout", "-q", "-b", "evil", cwd=shared)
    who = person(ME, -3600) if forged else person(STRANGER)
    of = commit(shared, {"text": "x\n"}, "-m", "commit: looks like a reflog entry", **who)
    work = tmp_path / "work"
    git("fetch", "-q", "../shared", "evil", cwd=work)
    names = {"GIT_COMMITTER_EMAIL": ME, "GIT_AUTHOR_EMAIL": ME, "GIT_EDITOR": "true"}
    where = shell(script, work, **names)
    git("update-ref", "-d", "refs/remotes/origin/evil", cwd=work)
    assert git("rev-parse", "HEAD", cwd=where) == of
    assert trust(where, of) is Trust.FORK


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
