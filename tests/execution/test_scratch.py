"""The directory of a process's temporary files: gone with it, and after it was killed."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from afterd.execution.scratch import scratch

HOLDER = """\
import sys, tempfile
from afterd.execution.scratch import scratch

with scratch():
    print(tempfile.mkdtemp(), flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def holder(where: Path) -> tuple[subprocess.Popen[str], Path]:
    """A process with a scratch directory, and a directory that it made in it."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER],
        env={"TMPDIR": str(where)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_temporary_files_lie_in_it_and_go_with_it(where: Path) -> None:
    with scratch() as path:
        assert path.parent == where
        assert Path(tempfile.mkdtemp()).parent == path
    assert tempfile.gettempdir() == str(where)
    assert list(where.iterdir()) == []


def test_what_a_killed_process_left_goes_and_what_a_living_one_has_stays(where: Path) -> None:
    killed, left = holder(where)
    alive, kept = holder(where)
    assert left.is_dir()
    assert left.is_relative_to(where)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    with scratch():
        assert not left.parent.exists()
        assert kept.is_dir()
    alive.communicate()
    assert alive.returncode == 0
    assert list(where.iterdir()) == []


def test_nothing_that_is_not_such_a_directory_is_touched(where: Path) -> None:
    (where / "afterd.old").mkdir()
    (where / "afterd-scratch.file").write_text("")
    (where / "target").mkdir()
    (where / "afterd-scratch.link").symlink_to("target")
    (where / "afterd-bench-1").mkdir()
    before = sorted(where.iterdir())
    with scratch():
        pass
    assert sorted(where.iterdir()) == before
