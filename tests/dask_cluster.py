"""A real scheduler and real workers on this machine, for the tests of the Dask executor."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path


class Cluster:
    """A scheduler, and workers that are started and killed one by one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / "scheduler.json"
        self._log = (folder / "log").open("wb")
        self.workers: list[subprocess.Popen[bytes]] = []
        self._scheduler = self._start(
            "dask_scheduler", "--port", "0", "--no-dashboard", "--no-show", "--no-jupyter"
        )
        deadline = time.monotonic() + 40
        while not self._file.exists():
            assert self._scheduler.poll() is None, (folder / "log").read_text()
            assert time.monotonic() < deadline
            time.sleep(0.1)

    @property
    def address(self) -> str:
        """As the executor takes it."""
        address: str = json.loads(self._file.read_text())["address"]
        return address

    def add_worker(self, threads: int = 1) -> subprocess.Popen[bytes]:
        """One more worker; it joins when it is ready."""
        worker = self._start(
            "dask_worker", "--no-nanny", "--no-dashboard", "--nthreads", str(threads),
            "--local-directory", str(self._folder / f"worker-{len(self.workers)}"),
        )  # fmt: skip
        self.workers.append(worker)
        return worker

    def close(self) -> None:
        """End everything; kill, because nothing of it is to be kept."""
        for process in (*self.workers, self._scheduler):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self._log.close()

    def _start(self, program: str, *options: str) -> subprocess.Popen[bytes]:
        argv = [sys.executable, "-m", f"distributed.cli.{program}", "--host", "127.0.0.1"]
        return subprocess.Popen(
            [*argv, "--scheduler-file", str(self._file), *options],
            cwd=self._folder, stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log,
            start_new_session=True,
        )  # fmt: skip
