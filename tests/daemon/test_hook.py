"""The hook with a real git: quick, silent, chained, restored; in worktrees, rebases and amends."""

from __future__ import annotations

import os
import stat
import subprocess
import time
from pathlib import Path
from statistics import median

import pytest

from afterd.errors import UsageError
from afterd.vcs import hook
from afterd.vcs.repository import open_repository


def git(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    plain = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    plain |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": str(cwd / "no-such-file")}
    for role in ("AUTHOR", "COMMITTER"):
        plain |= {f"GIT_{role}_NAME": "A", f"GIT_{role}_EMAIL": "a@example.org"}
    return subprocess.run(
        ["git", *arguments],
        cwd=cwd,
        env=plain | environment,
        capture_output=True,
        text=True,
        check=True,
    )


def commit(where: Path, text: str, *options: str, **environment: str) -> str:
    (where / "file").write_text(text)
    git("add", "file", cwd=where)
    done = git("commit", "-q", "-m", text.strip(), *options, cwd=where, **environment)
    assert (done.stdout, done.stderr) == ("", "")
    return git("rev-parse", "HEAD", cwd=where).stdout.strip()


@pytest.fixture
def where(tmp_path: Path) -> Path:
    path = tmp_path / "a 'quoted' ünïcode \"name\""
    path.mkdir()
    git("init", "-q", "-b", "main", cwd=path)
    commit(path, "0\n")
    return path


def dropped(where: Path) -> set[str]:
    return {path.name for path in (where / ".git/afterd/inbox").iterdir()}


def test_each_commit_is_dropped_and_amended_ones_too(where: Path) -> None:
    hook.install(open_repository(where))
    made = {commit(where, "1\n"), commit(where, "2\n"), commit(where, "3\n", "--amend")}
    assert dropped(where) == made


def test_in_a_linked_worktree_the_index_of_neither_is_touched(where: Path, tmp_path: Path) -> None:
    hook.install(open_repository(where))
    git("worktree", "add", "-q", str(tmp_path / "linked"), "-b", "topic", cwd=where)
    index = (where / ".git/index").read_bytes()
    made = commit(tmp_path / "linked", "1\n")
    assert dropped(where) == {made}
    assert (where / ".git/index").read_bytes() == index


def test_in_a_submodule(where: Path, tmp_path: Path) -> None:
    git("-c", "protocol.file.allow=always", "clone", "-q", str(where), str(tmp_path / "outer"),
        cwd=tmp_path)  # fmt: skip
    outer = tmp_path / "outer"
    git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(where), "inner",
        cwd=outer)  # fmt: skip
    hook.install(open_repository(outer / "inner"))
    made = commit(outer / "inner", "1\n")
    assert (outer / ".git/modules/inner/afterd/inbox" / made).exists()


def test_a_rebase_names_each_commit_once(where: Path) -> None:
    git("checkout", "-q", "-b", "topic", cwd=where)
    for number in range(4):
        (where / f"f{number}").write_text("x")
        git("add", ".", cwd=where)
        git("commit", "-q", "-m", f"t{number}", cwd=where)
    git("checkout", "-q", "main", cwd=where)
    commit(where, "main\n")
    hook.install(open_repository(where))
    git("rebase", "-q", "main", "topic", cwd=where)
    new = git("rev-list", "main..topic", cwd=where).stdout.split()
    assert len(new) == 4
    assert dropped(where) <= set(new)
    assert new[0] in dropped(where)


@pytest.mark.parametrize("executable", [True, False])
def test_an_existing_hook_is_chained_and_restored(where: Path, executable: bool) -> None:
    repository = open_repository(where)
    theirs = where / ".git/hooks/post-commit"
    theirs.parent.mkdir(exist_ok=True)
    theirs.write_text("#!/bin/sh\necho ran $0 >>log; exit 7\n")
    theirs.chmod(0o755 if executable else 0o644)
    before = theirs.read_bytes(), stat.S_IMODE(theirs.stat().st_mode)
    for _ in range(3):
        done = hook.install(repository)
        assert done.chained
        assert not done.shared
    made = commit(where, "1\n")
    assert dropped(where) == {made}
    assert (where / "log").exists() == executable
    hook.uninstall(repository)
    assert (theirs.read_bytes(), stat.S_IMODE(theirs.stat().st_mode)) == before
    assert sorted(path.name for path in theirs.parent.glob("post-commit*")) == ["post-commit"]
    with pytest.raises(UsageError, match="not afterd's hook"):
        hook.uninstall(repository)


def test_without_one_before_nothing_is_left(where: Path) -> None:
    repository = open_repository(where)
    before = sorted((where / ".git/hooks").glob("*"))
    assert not hook.install(repository).chained
    hook.uninstall(repository)
    assert sorted((where / ".git/hooks").glob("*")) == before


def test_another_hook_on_top_of_ours_is_not_overwritten(where: Path) -> None:
    repository = open_repository(where)
    theirs = where / ".git/hooks/post-commit"
    theirs.parent.mkdir(exist_ok=True)
    theirs.write_text("#!/bin/sh\n")
    hook.install(repository)
    theirs.write_text("#!/bin/sh\n# newer\n")
    with pytest.raises(UsageError, match="Move one of the two away"):
        hook.install(repository)
    assert theirs.read_text() == "#!/bin/sh\n# newer\n"


def test_a_shared_hooks_directory_is_used(where: Path, tmp_path: Path) -> None:
    git("config", "core.hooksPath", str(tmp_path / "shared"), cwd=where)
    done = hook.install(open_repository(where))
    assert done.path == tmp_path / "shared" / "post-commit"
    assert done.shared
    made = commit(where, "1\n")
    assert dropped(where) == {made}


def test_a_hooks_directory_in_the_work_tree_is_refused(where: Path) -> None:
    git("config", "core.hooksPath", ".githooks", cwd=where)
    with pytest.raises(UsageError, match="inside the work tree"):
        hook.install(open_repository(where))
    assert not (where / ".githooks").exists()


def test_a_bare_repository_has_no_commits_of_its_own(tmp_path: Path) -> None:
    git("init", "-q", "--bare", str(tmp_path / "bare"), cwd=tmp_path)
    with pytest.raises(UsageError, match="bare"):
        hook.install(open_repository(tmp_path / "bare"))


@pytest.mark.parametrize("trouble", ["no inbox", "a file", "read-only", "no PATH", "no HOME"])
def test_trouble_is_not_felt(where: Path, trouble: str) -> None:
    hook.install(open_repository(where))
    box = where / ".git/afterd/inbox"
    if trouble in ("no inbox", "a file"):
        box.rmdir()
    if trouble == "a file":
        box.write_text("")
    if trouble == "read-only":
        box.chmod(0o500)
    try:
        (where / "file").write_text(trouble)
        git("add", "file", cwd=where)
        environment = {"no PATH": {"PATH": ""}, "no HOME": {"HOME": ""}}.get(trouble, {})
        command = git("--exec-path", cwd=where).stdout.strip() + "/git"
        done = subprocess.run(
            [command, "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "-m", "m"],
            cwd=where,
            env={**os.environ, **environment},
            capture_output=True,
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    finally:
        if box.is_dir():
            box.chmod(0o700)


def test_it_is_over_before_anybody_notices(where: Path) -> None:
    """The budget is 30 ms; a busy machine is given some more, and the median decides."""
    installed = hook.install(open_repository(where))
    seconds = []
    for _ in range(15):
        began = time.perf_counter()
        subprocess.run([installed.path], cwd=where, check=True)
        seconds.append(time.perf_counter() - began)
    assert median(seconds) < 0.03
