"""A clone that lacks the contents of files, as a partial one does."""

from __future__ import annotations

import json
from pathlib import Path

from pipeline_runs import afterd, git, repository

GOOD = {
    "money.py": "def total(a, b):\n    return a + b\n",
    "test_money.py": "from money import total\n\n\ndef test_total():\n    assert total(2, 3) == 5\n",
    "docs/large.txt": "large\n",
    "docs/larger.txt": "larger\n",
}
BAD = {"money.py": "def total(a, b):\n    return a - b\n"}


def _without(path: Path, *contents: str) -> None:
    """As if the clone had never had what these revisions' files hold."""
    for name in contents:
        identifier = git("rev-parse", name, cwd=path).strip()
        (path / ".git" / "objects" / identifier[:2] / identifier[2:]).unlink()


def test_what_the_range_does_not_touch_is_not_needed(tmp_path: Path) -> None:
    repository(tmp_path / "r", GOOD, BAD)
    _without(tmp_path / "r", "HEAD:docs/large.txt", "HEAD:docs/larger.txt")
    done = afterd("explain", "--format", "json", cwd=tmp_path / "r")
    assert done.status == 0, done.err
    [found] = json.loads(done.out)["explanations"]
    assert [change["id"] for change in found["root"]] == ["c1"]
    [said] = [remark for remark in found["remarks"] if "lacks" in remark]
    assert said.endswith("tested without them: docs/large.txt, docs/larger.txt.")


def test_what_it_does_touch_is_named(tmp_path: Path) -> None:
    repository(tmp_path / "r", GOOD, BAD)
    _without(tmp_path / "r", "HEAD~1:money.py")
    done = afterd("explain", cwd=tmp_path / "r")
    assert done.status == 2
    assert "(a content of money.py)" in done.err
    assert "git fetch --refetch --no-filter" in done.err


def test_an_older_commit_that_cannot_be_read_is_passed_over(tmp_path: Path) -> None:
    """The left end is red: the commit before it had another content of a file, which the clone lacks."""
    red = {"money.py": "def total(a, b):\n    return a * b\n"}
    older = {"docs/large.txt": "other\n"}
    repository(tmp_path / "r", GOOD, older, red, BAD)
    _without(tmp_path / "r", "HEAD~2:docs/large.txt", "HEAD:docs/larger.txt")
    done = afterd("explain", "--format", "json", cwd=tmp_path / "r")
    [found] = json.loads(done.out)["explanations"]
    assert "lacks the object" not in done.err
    assert found["status"] == "explained", found
