"""Opening, resolving, ranges: what a user types, and what hostile surroundings do not change."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Mapping
from pathlib import Path

import pygit2
import pytest
from made_repositories import FILE, Made, git, texts
from pygit2.enums import Option

from afterd.errors import RepositoryError, StoreError
from afterd.model.explanation import RevisionRange
from afterd.vcs.diff import changes_between
from afterd.vcs.object_store import open_store
from afterd.vcs.repository import (
    common_directory,
    open_repository,
    parse_range,
    resolve,
    state_directory,
)
from afterd.vcs.state import plain_git_directory
from afterd.vcs.variants import Variants
from afterd.vcs.worktree import Slot


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return Made(tmp_path / "project")


@pytest.fixture
def history(made: Made) -> tuple[Made, list[str]]:
    """Three commits: c0, c1, c2 (HEAD, main)."""
    return made, [made.text(a__c=f"int x = {n};\n") for n in range(3)]


def _checked_out(path: Path) -> Path:
    path.mkdir()
    git(path, "init", "-q")
    (path / "deep").mkdir()
    for number in range(2):
        (path / "deep" / "a.c").write_text(f"int x = {number};\n")
        git(path, "add", ".")
        git(path, "commit", "-qm", "made")
    return path


@pytest.mark.parametrize("below", ["", "deep", "deep/a.c"])
def test_opens_from_anywhere_inside(tmp_path: Path, below: str) -> None:
    project = _checked_out(tmp_path / "p")
    found = open_repository(project / below)
    assert Path(found.path or "").resolve() == (project / ".git").resolve()


def test_linked_worktree_and_its_main_repository_share_their_state(tmp_path: Path) -> None:
    project = _checked_out(tmp_path / "p")
    git(project, "worktree", "add", "-q", "--detach", "../linked", "HEAD~1")
    linked, main = open_repository(tmp_path / "linked"), open_repository(project)
    assert resolve(linked, "HEAD") == resolve(main, "HEAD~1")
    assert state_directory(linked) == state_directory(main)
    assert common_directory(linked).resolve() == (project / ".git").resolve()
    assert "afterd" in (state_directory(main) / "README").read_text()


def test_submodule_and_bare_repository_open(tmp_path: Path) -> None:
    inner, outer = _checked_out(tmp_path / "inner"), _checked_out(tmp_path / "outer")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "sub")
    assert resolve(open_repository(outer / "sub"), "HEAD") == resolve(
        open_repository(inner), "HEAD"
    )
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "-q", "--bare", str(inner), str(bare))
    repository = open_repository(bare)
    assert parse_range(repository, None) == parse_range(open_repository(inner), None)


@pytest.mark.parametrize("name", ["nothing", "file.txt", "no/such/place", "sur\udcffrogate"])
def test_no_repository_is_one_sentence(tmp_path: Path, name: str) -> None:
    (tmp_path / "nothing").mkdir()
    (tmp_path / "file.txt").write_text("x")
    with pytest.raises(RepositoryError, match="is not in a git repository"):
        open_repository(tmp_path / name)


def test_a_format_that_libgit2_cannot_read_is_one_sentence(made: Made) -> None:
    made.text(a__c="x")
    git(made.path, "config", "core.repositoryformatversion", "1")
    git(made.path, "config", "extensions.somethingNew", "true")
    with pytest.raises(RepositoryError, match="cannot be opened"):
        open_repository(made.path)


def test_environment_of_a_hook_is_not_followed(
    tmp_path: Path, history: tuple[Made, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    made, _ = history
    other = _checked_out(tmp_path / "other")
    for name, value in {
        "GIT_DIR": other / ".git",
        "GIT_INDEX_FILE": other / ".git/index",
        "GIT_WORK_TREE": other,
        "GIT_OBJECT_DIRECTORY": other / ".git/objects",
    }.items():
        monkeypatch.setenv(name, str(value))
    assert Path(open_repository(made.path).path or "").parent.name == "project"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a repository away")
def test_somebody_elses_repository_is_refused_whatever_the_process_set(tmp_path: Path) -> None:
    project = _checked_out(tmp_path / "p")
    for path in [project, *project.rglob("*")]:
        os.chown(path, 12345, 12345, follow_symlinks=False)
    pygit2.option(Option.SET_OWNER_VALIDATION, False)  # noqa: FBT003 - libgit2's own signature
    with pytest.raises(RepositoryError, match="dubious ownership"):
        open_repository(project)
    assert pygit2.option(Option.GET_OWNER_VALIDATION)


@pytest.mark.parametrize(
    ("text", "good", "expected"),
    [
        (None, None, (1, 2)),
        ("HEAD", None, (1, 2)),
        ("HEAD~1", None, (0, 1)),
        ("HEAD~2..HEAD", None, (0, 2)),
        ("HEAD~2..", None, (0, 2)),
        ("..HEAD~1", None, (2, 1)),
        ("HEAD~2...main", None, (0, 2)),
        ("HEAD~1..HEAD", "HEAD~2", (0, 2)),
        (None, "HEAD~2", (0, 2)),
        ("main~1", "main~2", (0, 1)),
    ],
)
def test_ranges(
    history: tuple[Made, list[str]], text: str | None, good: str | None, expected: tuple[int, int]
) -> None:
    made, commits = history
    assert parse_range(made.repository, text, good) == RevisionRange(
        *(commits[n] for n in expected)
    )


def test_three_dots_start_at_the_merge_base(made: Made) -> None:
    base = made.text(a__c="0")
    side = made.commit(texts(a__c="side"), base, ref=None)
    main = made.text(a__c="main")
    assert parse_range(made.repository, f"{main}...{side}") == RevisionRange(base, side)
    alone = made.repository.create_commit(
        None, *(made.repository[base].author,) * 2, "x", made.tree(texts(z="z")), []
    )
    with pytest.raises(RepositoryError, match="no common ancestor"):
        parse_range(made.repository, f"{alone}...{side}")


def test_a_merge_is_compared_with_its_first_parent(made: Made) -> None:
    base = made.text(a__c="0")
    side = made.commit(texts(a__c="0", b__c="side"), base, ref=None)
    main = made.text(a__c="1")
    octopus = made.commit(texts(a__c="1", b__c="side"), main, side, base)
    assert parse_range(made.repository, "HEAD") == RevisionRange(main, octopus)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("nonsense", "'nonsense' is not a commit"),
        ("HEAD~9", "'HEAD~9' is not a commit"),
        ("HEAD~3..HEAD", "may not go back so far"),
        ("HEAD:a.c", "is not a commit"),
        ("HEAD~2", "has no parent to compare with: it is the first"),
        ("HEAD..HEAD", "is empty"),
        ("-rf", "is not a commit"),
        ("a b", "is not a commit"),
        ("\udcff", "is not a commit"),
        ("x" * 5000, "is not a commit"),
        ("$(touch x)..HEAD", "is not a commit"),
    ],
)
def test_ranges_that_are_none(history: tuple[Made, list[str]], text: str, sentence: str) -> None:
    with pytest.raises(RepositoryError, match=r"^[^\n]*$") as caught:
        parse_range(history[0].repository, text)
    assert sentence in str(caught.value)


def test_two_commits_with_the_same_files_are_an_empty_range(made: Made) -> None:
    made.text(a__c="1")
    made.text(a__c="1")
    with pytest.raises(RepositoryError, match="same files"):
        parse_range(made.repository, None)


def test_no_commits_yet(made: Made) -> None:
    with pytest.raises(RepositoryError, match="no commits yet"):
        parse_range(made.repository, None)


def test_shallow_clone_says_so(tmp_path: Path) -> None:
    project = _checked_out(tmp_path / "p")
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{project}", "shallow")
    shallow = open_repository(tmp_path / "shallow")
    with pytest.raises(RepositoryError, match="shallow and ends there"):
        parse_range(shallow, None)
    with pytest.raises(RepositoryError, match=r"'HEAD~1' is not a commit.*unshallow"):
        parse_range(shallow, "HEAD~1..HEAD")


def test_missing_objects_are_named(history: tuple[Made, list[str]]) -> None:
    made, commits = history
    blob = str(made.repository[commits[0]].peel(pygit2.Tree)["a.c"].id)
    (made.path / ".git/objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(RepositoryError, match=f"lacks the object {blob}"):
        changes_between(open_repository(made.path), commits[0], commits[2])


def test_history_rewritten_and_collected_is_an_unknown_revision(tmp_path: Path) -> None:
    project = _checked_out(tmp_path / "p")
    gone = git(project, "rev-parse", "HEAD").strip()
    git(project, "commit", "-q", "--amend", "-m", "rewritten")
    git(project, "reflog", "expire", "--expire=now", "--all")
    git(project, "gc", "-q", "--prune=now")
    with pytest.raises(RepositoryError, match="is not a commit"):
        parse_range(open_repository(project), f"{gone}..HEAD")


def test_state_directory_that_cannot_be_made(made: Made) -> None:
    (made.path / ".git/afterd").write_text("in the way")
    with pytest.raises(StoreError, match="cannot be written"):
        state_directory(made.repository)


def test_the_store_sees_objects_that_the_user_borrows(tmp_path: Path) -> None:
    """A clone with alternates of its own: the store reads through both."""
    project = _checked_out(tmp_path / "p")
    git(tmp_path, "clone", "-q", "--shared", "p", "borrower")
    borrower = open_repository(tmp_path / "borrower")
    ends = parse_range(borrower, None)
    variants = Variants(
        borrower, ends.good, ends.bad, changes_between(borrower, ends.good, ends.bad)
    )
    assert variants.tree(frozenset({"c1"})) == variants.good
    assert project.exists()


def test_a_store_removed_behind_our_back_is_made_again(history: tuple[Made, list[str]]) -> None:
    made, commits = history
    store = open_store(made.repository)
    store.create_blob(b"something")
    shutil.rmtree(state_directory(made.repository))
    assert commits[0] in open_store(made.repository)


def test_nothing_a_repository_configures_is_started(tmp_path: Path) -> None:
    """Row 17: seven canaries, none fires, while everything here runs on the repository."""
    project = _checked_out(tmp_path / "p")
    canary = tmp_path / "canary"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\necho fired >> {canary}\ncat\n")
    program.chmod(0o755)
    (project / ".gitattributes").write_text("*.c diff=evil filter=evil merge=evil\n")
    git(project, "add", ".")
    git(project, "commit", "-qm", "attributes")
    for key in (
        *("core.fsmonitor", "diff.external", "diff.evil.textconv", "diff.evil.command"),
        *("filter.evil.clean", "filter.evil.smudge", "core.sshCommand", "alias.status"),
    ):
        git(project, "config", key, str(program))
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("post-commit", "post-checkout", "post-index-change", "reference-transaction"):
        shutil.copy(program, hooks / name)
    git(project, "config", "core.hooksPath", str(hooks))
    canary.unlink(missing_ok=True)

    repository = open_repository(project / "deep")
    (project / "deep/a.c").write_text("int x = 9;\n")
    ends = parse_range(repository, "HEAD~2..HEAD")
    changes = changes_between(repository, ends.good, ends.bad)
    variants = Variants(repository, ends.good, ends.bad, changes)
    slot = Slot(state_directory(repository) / "slots/1", variants.store)
    assert slot.move_to(variants.tree(changes.ids)) == ("deep/a.c",)
    assert slot.move_to(variants.bad) == (".gitattributes", "deep/a.c")
    assert not canary.exists()


def test_nothing_of_the_user_is_written(tmp_path: Path) -> None:
    """Work tree, index, HEAD, refs, objects: byte for byte as before, our own directory aside."""
    project = _checked_out(tmp_path / "p")
    git(project, "worktree", "add", "-q", "--detach", "../linked", "HEAD")
    (project / "deep/a.c").write_text("dirty\n")
    before = _fingerprint(project), _fingerprint(tmp_path / "linked")
    for place in (project, tmp_path / "linked"):
        repository = open_repository(place)
        ends = parse_range(repository, None)
        changes = changes_between(repository, ends.good, ends.bad)
        variants = Variants(repository, ends.good, ends.bad, changes)
        slot = Slot(state_directory(repository) / "slots/1", variants.store)
        slot.move_to(variants.tree(changes.ids))
        slot.hard_reset()
    assert (_fingerprint(project), _fingerprint(tmp_path / "linked")) == before


def _fingerprint(root: Path) -> str:
    """A hash over names, modes, times and contents, without afterd's own directory."""
    total = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        if "afterd" in path.relative_to(root).parts:
            continue
        status = path.lstat()
        total.update(f"{path} {status.st_mode} ".encode())
        if stat.S_ISREG(status.st_mode):
            total.update(f"{status.st_mtime_ns} ".encode() + path.read_bytes())
    return total.hexdigest()


def test_made_trees_are_what_git_itself_writes(tmp_path: Path) -> None:
    """The listing helper of these tests, and the tree writer under it, against the real git."""
    project = _checked_out(tmp_path / "p")
    expected = git(project, "rev-parse", "HEAD^{tree}").strip()
    made = Made(tmp_path / "q")
    assert made.tree({b"deep/a.c": (FILE, b"int x = 1;\n")}) == expected
    names = [b"a", b"a.b", b"a-b", b"a0", b"b/c", b"ab/x", b"a/x"]
    made.tree({name: (FILE, b"x") for name in names if name != b"a"})
    git(made.path, "fsck", "--strict", "--unreachable")


def test_the_plain_git_directory_is_the_one_that_libgit2_finds(made: Made) -> None:
    root = Path(str(made.repository.workdir))
    (root / "deep/er").mkdir(parents=True)
    for folder in (root, root / "deep/er"):
        found = plain_git_directory(folder)
        assert found is not None
        assert found.resolve() == common_directory(open_repository(folder))


@pytest.mark.parametrize("files", [{".git": "gitdir: x"}, {".git/x": ""}, {"HEAD": "ref: x"}, {}])
def test_what_is_no_plain_work_tree_is_left_to_libgit2(
    tmp_path: Path, files: Mapping[str, str]
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert plain_git_directory(tmp_path) is None
