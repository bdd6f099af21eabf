"""A patch that is not committed (``--diff``) is explained like a commit, and can be seen again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pipeline_runs import afterd, git, repository, snapshot

TEST = "grep -q three text.txt"


@pytest.fixture
def uncommitted(tmp_path: Path) -> Path:
    """A green commit upon a green one, with an edit in the work tree that breaks the test."""
    path = repository(
        tmp_path / "r", {"text.txt": "one\ntwo\nthree\n", "other.txt": "a\n"}, {"new.txt": "n\n"}
    )
    (path / "text.txt").write_text("one\ntwo\nbroken\n")
    (path / "other.txt").write_text("b\n")
    (tmp_path / "edit.diff").write_text(git("diff", cwd=path))
    return path


@pytest.mark.parametrize("upon", [(), ("--good", "HEAD"), ("HEAD..",), ("HEAD",)])
def test_from_the_patch_to_its_revert(uncommitted: Path, upon: tuple[str, ...]) -> None:
    before = snapshot(uncommitted)
    arguments = ("--diff", "../edit.diff", "--test", TEST, "--format", "json")
    done = afterd("explain", *upon, *arguments, cwd=uncommitted)
    assert done.status == 0, done.err
    document = json.loads(done.out)
    [found] = document["explanations"]
    assert document["range"]["good"] == git("rev-parse", "HEAD", cwd=uncommitted).strip()
    assert [change["file"] for change in found["root"]] == ["text.txt"]
    replayed = afterd("replay", "1", cwd=uncommitted)
    assert replayed.out.startswith("The test passes"), replayed.err
    patch = afterd("patch", "1", cwd=uncommitted)
    assert snapshot(uncommitted) == before
    git("apply", cwd=uncommitted, given=patch.out)
    assert (uncommitted / "text.txt").read_text() == "one\ntwo\nthree\n"
    assert (uncommitted / "other.txt").read_text() == "b\n"


def test_the_commit_that_it_stands_on_is_red_too(uncommitted: Path) -> None:
    """The last green commit is looked for behind it, as behind any red left end."""
    git("checkout", "-q", ".", cwd=uncommitted)
    (uncommitted / "text.txt").write_text("one\ntwo\n")
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    git(*who, "commit", "-qam", "Break it", cwd=uncommitted)
    (uncommitted / "other.txt").write_text("c\n")
    diff = uncommitted.parent / "later.diff"
    diff.write_text(git("diff", cwd=uncommitted))
    done = afterd("explain", "--diff", str(diff), "--test", TEST, cwd=uncommitted)
    assert done.status == 0, done.err
    assert "the last green commit is" in " ".join(done.out.split())


@pytest.mark.parametrize("content", ["", "no patch\n"])
def test_a_patch_that_is_none(uncommitted: Path, content: str) -> None:
    (uncommitted.parent / "edit.diff").write_text(content)
    done = afterd("explain", "--diff", "../edit.diff", "--test", TEST, cwd=uncommitted)
    done.refused(2, "not a unified diff")
