"""A merge of two branches that are green alone and red together: both sides are named."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from pipeline_runs import authored_git

from afterd.config import Settings
from afterd.model.explanation import Explanation, Status
from afterd.pipeline.explain import explain

WRITER = "SCALE = 10\n\n\ndef written(value):\n    return value * SCALE\n"
READER = "from writer import SCALE\n\n\ndef halves(value):\n    size = SCALE // 2\n    return value // size\n"
CHECK = "from reader import halves\nfrom writer import written\n\nassert halves(written(7)) == 14\n"
SCALED = {"writer.py": WRITER.replace("10", "100")}
COUNTED_ON = {"reader.py": READER.replace("SCALE // 2", "5")}
BROKEN = {"reader.py": READER.replace("// size", "// size + 1")}


def _on_branch(path: Path, name: str, files: dict[str, str]) -> None:
    authored_git(path, "checkout", "-q", "-b", name, "main")
    for file, text in files.items():
        (path / file).write_text(text)
    authored_git(path, "commit", "-q", "-a", "-m", name)


def _merged(path: Path, ours: dict[str, str], theirs: dict[str, str]) -> Explanation:
    """The answer on the merge of two branches, compared with its first parent."""
    authored_git(path.parent, "init", "-q", "-b", "main", str(path))
    for file, text in {"writer.py": WRITER, "reader.py": READER, "check.py": CHECK}.items():
        (path / file).write_text(text)
    authored_git(path, "add", "-A")
    authored_git(path, "commit", "-q", "-m", "good")
    _on_branch(path, "side", theirs)
    authored_git(path, "checkout", "-q", "main")
    _on_branch(path, "ours", ours)
    authored_git(path, "merge", "-q", "--no-ff", "-m", "merge", "side")
    [found] = explain(Settings(path, test=(sys.executable, "check.py")))
    return found


@pytest.mark.parametrize(
    ("ours", "theirs", "root"),
    [(SCALED, COUNTED_ON, "reader.py"), (COUNTED_ON, SCALED, "writer.py")],
)
def test_both_sides_of_a_merge_that_is_red_are_named(
    tmp_path: Path, ours: dict[str, str], theirs: dict[str, str], root: str
) -> None:
    found = _merged(tmp_path / "repository", ours, theirs)
    assert found.status is Status.EXPLAINED
    assert [change.file for change in found.root] == [root]
    said = found.notes[0]
    assert said.startswith("Both sides of this merge pass alone")
    assert "writer.py:1" in said
    assert "reader.py:5" in said


def test_a_side_that_is_red_alone_is_the_only_culprit(tmp_path: Path) -> None:
    found = _merged(tmp_path / "repository", {"writer.py": f"{WRITER}\n# more\n"}, BROKEN)
    assert found.status is Status.EXPLAINED
    assert not any("Both sides" in note for note in found.notes)
