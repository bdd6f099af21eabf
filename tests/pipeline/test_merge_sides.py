"""A merge of two branches that are green alone and red together: both sides are named."""

from __future__ import annotations

import sys
from io import StringIO
from pathlib import Path

import pytest
from pipeline_runs import authored_git
from rich.console import Console

from afterd.config import Settings
from afterd.model.explanation import Explanation, Status
from afterd.pipeline.explain import explain
from afterd.report.markdown import render
from afterd.report.terminal import TerminalReport

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


def _merged(
    path: Path, ours: dict[str, str], theirs: dict[str, str], revisions: str = "HEAD~1..HEAD"
) -> Explanation:
    """The answer on the merge of two branches, compared with its first parent, or as ``revisions`` say."""
    authored_git(path.parent, "init", "-q", "-b", "main", str(path))
    for file, text in {"writer.py": WRITER, "reader.py": READER, "check.py": CHECK}.items():
        (path / file).write_text(text)
    authored_git(path, "add", "-A")
    authored_git(path, "commit", "-q", "-m", "good")
    _on_branch(path, "side", theirs)
    authored_git(path, "checkout", "-q", "main")
    _on_branch(path, "ours", ours)
    authored_git(path, "merge", "-q", "--no-ff", "-m", "merge", "side")
    [found] = explain(Settings(path, test=(sys.executable, "check.py"), range=revisions))
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
    said = found.reason
    assert said.startswith("Both sides of this merge pass alone")
    assert "writer.py:1" in said
    assert "reader.py:5" in said
    screen = StringIO()
    Console(file=screen, width=200).print(TerminalReport(found))
    pages = (screen.getvalue(), render([found]))
    for page in pages:
        assert page.index("Both sides") < page.index("Seen")


def test_both_are_named_where_the_merge_is_compared_with_what_they_began_at(
    tmp_path: Path,
) -> None:
    """As the daemon does, where what was pushed between was superseded."""
    found = _merged(tmp_path / "repository", SCALED, COUNTED_ON, "main..ours")
    assert found.status is Status.EXPLAINED
    assert found.reason.startswith("Both sides of this merge pass alone")
    assert "writer.py:1" in found.reason
    assert "reader.py:5" in found.reason


def test_a_side_that_is_red_alone_is_the_only_culprit(tmp_path: Path) -> None:
    found = _merged(tmp_path / "repository", {"writer.py": f"{WRITER}\n# more\n"}, BROKEN)
    assert found.status is Status.EXPLAINED
    assert "Both sides" not in found.reason
    beside = _merged(tmp_path / "other", BROKEN, {"writer.py": f"{WRITER}\n# more\n"}, "main..ours")
    assert beside.status is Status.EXPLAINED
    assert "Both sides" not in beside.reason
