"""The daemon of ``afterd bench day``, in a process of its own, started again whenever it is gone."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path

from afterd.bench.budgets import DAY
from afterd.bench.day_project import Project
from afterd.config import Settings
from afterd.config.kinds import parse_budget
from afterd.daemon.poster import Poster
from afterd.daemon.serve import serve
from afterd.execution.process_tree import walk

OUTSIDE_FOLDER = "outside"
"""Where, below the day's home, what the projects depend on is installed."""
TEMPORARY_FOLDER = "temporary"


class WatchedDaemon:
    """One daemon for the repositories of these projects, each below ``home``."""

    def __init__(self, home: Path, projects: Sequence[Project]) -> None:
        self._home, self._projects = home, tuple(projects)
        self._context = multiprocessing.get_context("spawn")
        self._process: BaseProcess | None = None

    def ensure(self) -> None:
        """Start it where it is not there."""
        if self._process is None or not self._process.is_alive():
            self.end()
            self._process = self._context.Process(target=_serve, args=(self._home, self._projects))
            self._process.start()

    @property
    def pid(self) -> int:
        """The process that does the jobs."""
        return (self._process.pid if self._process else None) or 0

    def limit(self, size: int) -> None:
        """No file of the daemon's or its programs' may grow past so many bytes, as on a full disk."""
        for pid in (self.pid, *walk(self.pid)):
            try:
                _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
                resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, hard))
            except (ProcessLookupError, ValueError):
                continue

    def pause(self) -> None:
        """It hears of nothing for now."""
        self.ensure()
        os.kill(self.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        """After a pause."""
        os.kill(self.pid, signal.SIGCONT)

    def end(self) -> None:
        """As systemd ends it."""
        if self._process is not None:
            self._process.terminate()
            self._process.join(15.0)
            self._process.kill()
            self._process.join()
            self._process = None


def repository_of(home: Path, project: Project) -> Path:
    """Where a project's repository is."""
    return home / f"{project.name}.git"


def _serve(home: Path, projects: Sequence[Project]) -> None:
    os.environ["PYTHONPATH"] = str(home / OUTSIDE_FOLDER)
    tempfile.tempdir = str(home / TEMPORARY_FOLDER)  # on the same disk
    watched = [
        Settings(
            repository_of(home, project),
            build=project.build,
            test=project.test,
            test_timeout=DAY.suite,
            poll=2.0,
            day_budget=parse_budget("24h"),
            self_check=0.0,
        )
        for project in projects
    ]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    serve(watched, Poster(None), once=False, spoken=False)
