"""A build that takes long before the first test is run: how far it is is told."""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path
from typing import Final

import pytest
from pipeline_runs import afterd, repository

from afterd.execution.executors.builds_told import build_told
from afterd.model.progress import Silent
from afterd.report.live import PlainProgress

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="no make")


@pytest.fixture
def waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A command of a makefile that waits, once the folder ``awaited`` is there, until objects were told."""
    awaited, told = tmp_path / "awaited", tmp_path / "told"
    advanced, stage = PlainProgress.advanced, PlainProgress.stage

    def noted(self: PlainProgress, done: int, what: str) -> None:
        advanced(self, done, what)
        if awaited.exists() and "object files" in what:
            told.touch()

    def staged(self: PlainProgress, name: str, detail: str = "") -> None:
        stage(self, name, detail)
        if name == "confirming the bad version":
            awaited.mkdir(exist_ok=True)

    monkeypatch.setattr(PlainProgress, "advanced", noted)
    monkeypatch.setattr(PlainProgress, "stage", staged)
    return (
        f"tries=0; touch a.o b.o; while [ -e {awaited} ] && [ ! -e {told} ] && [ $$tries -lt 600 ];"
        " do tries=$$((tries + 1)); sleep 0.1; done"
    )


def test_objects_are_counted_while_it_builds(tmp_path: Path, waiting: str) -> None:
    """Four minutes of silence stood where libxmp was built."""
    (tmp_path / "awaited").mkdir()
    makefile = f"all:\n\t{waiting}\ncheck: all\n\tgrep -q 2 amount\n"
    files = {".gitignore": "*.o\n", "Makefile": makefile, "amount": "2\n"}
    where = repository(tmp_path / "r", files, {"amount": "2\n\n"})
    done = afterd("explain", "HEAD~1..HEAD", cwd=where)
    assert done.status == 0, done.err + done.out
    assert "2 object files built for it" in done.err


def test_the_builds_of_both_ends_are_told_too(tmp_path: Path, waiting: str) -> None:
    """The last word was that the good version is confirmed, for minutes where it is built anew."""
    makefile = f"all:\n\ttest -e b.o || {{ {waiting}; }}\ncheck:\n\tgrep -q 2 amount\n"
    files = {".gitignore": "*.o\n", "Makefile": makefile, "amount": "2\n"}
    where = repository(tmp_path / "r", files, {"amount": "3\n"})
    done = afterd("explain", "HEAD~1..HEAD", "--build", "make", "--", "make", "check", cwd=where)
    assert done.status == 0, done.err + done.out
    told = done.err.split("confirming the bad version")[-1]
    assert "2 object files built for it" in told


class Heard(Silent):
    """What was told, and when two things were."""

    def __init__(self) -> None:
        self.told: Final = dict[str, int]()
        self.enough: Final = threading.Event()

    def advanced(self, done: int, what: str) -> None:
        self.told[what] = done
        if len(self.told) == 2:
            self.enough.set()


def test_what_is_made_now_counts_and_nothing_that_was_there(tmp_path: Path) -> None:
    """A package keeps the time that it was packed with, and an object of an earlier build is none of this one."""
    (tmp_path / "0/node_modules/old").mkdir(parents=True)
    (tmp_path / "0/old.o").touch()
    heard = Heard()
    (later := tmp_path / "later").touch()
    while later.stat().st_ctime_ns <= (tmp_path / "0/old.o").stat().st_ctime_ns:
        later.touch()  # until the clock of files has gone on
    with build_told(heard, tmp_path):
        for name in ("a.o", "b.rlib", "node_modules/x.o"):
            (tmp_path / "0" / name).touch()
        (tmp_path / "0/node_modules/x").mkdir()
        os.utime(tmp_path / "0/node_modules/x", (1, 1))
        assert heard.enough.wait(30)
    assert heard.told["object files built for it"] == 2
    assert heard.told["packages installed for it"] == 2
