"""The walk of docs/daemon.md, command by command, as a new user makes it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "daemon.md"


def test_the_walk_works_and_leaves_nothing_behind(tmp_path: Path) -> None:
    blocks = re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    home, temporary = tmp_path / "home", tmp_path / "tmp"
    for folder in (home, temporary):
        folder.mkdir()
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AFTERD_")}
    environment = {**kept, "HOME": str(home), "TMPDIR": str(temporary), "PATH": path}
    script = (
        "(git init -q looked-at && cd looked-at && afterd doctor) >looked-at.txt || true\nset -e\n"
    )
    script += "\n".join(blocks)
    try:
        done = subprocess.run(
            ["timeout", "300", "bash", "-c", script],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    finally:  # where the walk broke off
        ending = [sys.executable, "-m", "afterd", "daemon", "stop", "-C", str(tmp_path / "fees")]
        subprocess.run(ending, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "amount + discount" in done.stdout, "the answer shows the change"
    assert "caused by this change" in done.stdout, "so does the comment"
    assert "The daemon, process" in done.stdout

    assert "solver" in (tmp_path / "looked-at.txt").read_text()

    git = tmp_path / "fees" / ".git"
    state = git / "afterd"  # `daemon stop` above looked for one
    assert not state.exists() or {path.name for path in state.iterdir()} <= {"README", "pytest.ini"}
    assert [each.name for each in git.rglob("*afterd*") if each != state] == []
    assert not (git / "hooks/post-commit").exists()
    assert list(temporary.iterdir()) == []
    assert list(home.iterdir()) == []
    status = ["git", "-C", str(git.parent), "status", "--porcelain", "--ignored"]
    left = subprocess.run(status, capture_output=True, text=True, check=True).stdout.split("\n")
    assert set(left) <= {"", "!! __pycache__/", "?? __pycache__/"}
