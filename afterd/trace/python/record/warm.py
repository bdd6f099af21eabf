"""The warm server: imports what lies outside the tree once, and forks for each run.

One connection on a Unix socket, one JSON object a line each way:

- ``{"op": "prepare", "modules": [[name, file], …], "foreign": […], "files": […], "rewritten": […]}``
  imports modules ahead (see ``preloading``), compiles files and rewrites others; answers ``{"unsafe", "left_out"}``;
- ``{"op": "run", …}`` forks, see ``fork_run.Run``; answers ``{"status", "ended", "cpu", "inner"}``, where
  ``ended`` is empty unless the run had to be ended: "timeout" or "output".

The fork leaves ``serve`` by returning from it, without the connection.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
import time
from pathlib import Path
from typing import Any

from .fork_run import CodeCache, Program, Run, execute
from .importing import Territory
from .preloading import Preloading
from .reaping import become_reaper, ending_of, exit_code, sweep
from .recorded_fork import Recorded
from .rewriting import Rewritten

VARIABLE = "AFTERD_WARM"
_LOOK = 0.2  # seconds between two looks at the size of the output


class Server:
    """Serves one client until it hangs up. ``program`` is what every fork runs."""

    def __init__(self, tree: str, program: Program) -> None:
        self.territory = Territory(Path(tree))
        self.program = program
        self.codes = CodeCache()
        self.rewritten = Rewritten()

    def serve(self, path: str) -> Run | None:
        """Listen at ``path``, answer, end; in a fork: what it is to run."""
        folder, name = os.path.split(path)
        with socket.socket(socket.AF_UNIX) as listener:
            place = os.open(folder, os.O_PATH)
            try:  # by way of the folder: of a socket's path the kernel takes 107 bytes
                listener.bind(f"/proc/self/fd/{place}/{name}")
            finally:
                os.close(place)
            listener.listen(1)
            connection, _ = listener.accept()
        with connection, connection.makefile("rwb") as stream:
            for line in stream:
                request = json.loads(line)
                if request.pop("op") == "prepare":
                    answer = self.prepare(**request)
                else:
                    recorded = request.pop("recorded", None)
                    run = Run(**request, recorded=Recorded(**recorded) if recorded else None)
                    child = os.fork()
                    if not child:
                        return run
                    answer = _ended_fork(child, run)
                stream.write(json.dumps(answer).encode() + b"\n")
                stream.flush()
        return None

    def prepare(
        self,
        modules: list[tuple[str, str]],
        foreign: list[str],
        files: list[str],
        rewritten: list[str],
    ) -> dict[str, Any]:
        """Import, compile and rewrite ahead."""
        gc.disable()  # there is nothing to be found
        preloading = Preloading(self.territory, frozenset(foreign))
        preloading.load(dict(modules))
        for file in files:
            try:
                self.codes.compile(Path(file).read_bytes(), file)
            except (OSError, SyntaxError, ValueError):
                continue  # whoever imports it will say so
        self.rewritten.rewrite(rewritten)
        gc.collect()
        gc.freeze()  # a fork's collections would walk, and copy, all that is here
        gc.enable()
        return {"unsafe": preloading.unsafe, "left_out": preloading.left_out}


def _ended_fork(child: int, run: Run) -> dict[str, Any]:
    """Wait for the fork and end all that it leaves behind."""
    status, ended, cpu = _wait(child, run)
    _kill_group(child)
    sweep()
    return {
        "status": exit_code(status),
        "ended": ended,
        "cpu": cpu,
        "inner": _inner_seconds(run.directory),
    }


def _wait(child: int, run: Run) -> tuple[int, str, float]:
    """The fork's wait status, whether it was killed (its time is up, its output too long), and the
    seconds of processor time that it used.
    """
    deadline = time.monotonic() + run.timeout
    pidfd = ending_of(child)
    ended = ""
    try:
        while not ended:
            left = deadline - time.monotonic()
            if select.select([pidfd], [], [], max(0.0, min(left, _LOOK)))[0]:
                break
            if left <= 0:
                ended = "timeout"
            elif _bytes_written(run.directory) > run.output:
                ended = "output"
        if ended:
            _kill_group(child)
            os.kill(child, signal.SIGKILL)
    finally:
        os.close(pidfd)
    _, status, used = os.wait4(child, 0)
    if not ended and _bytes_written(run.directory) > run.output:
        ended = "output"
    return status, ended, used.ru_utime + used.ru_stime


def _bytes_written(directory: str) -> int:
    """Bytes of output so far; the fork makes its files first, but not at once."""
    sizes = 0
    for name in ("stdout", "stderr"):
        try:
            sizes += os.stat(os.path.join(directory, name)).st_size  # noqa: PTH116, PTH118 # polled
        except FileNotFoundError:
            continue
    return sizes


def _inner_seconds(directory: str) -> float | None:
    """What the run took by itself, without the fork and what goes with it."""
    try:
        return float(Path(directory, "seconds").read_text())
    except (OSError, ValueError):
        return None


def _kill_group(child: int) -> None:
    try:
        os.killpg(child, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def main() -> None:
    """``AFTERD_WARM`` holds the tree, the socket and what is to be run, as JSON."""
    given = json.loads(os.environ.pop(VARIABLE))
    for name, value in given["environment"].items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    become_reaper()
    program = Program(**given["program"])
    program.announce()
    server = Server(given["tree"], program)
    run = server.serve(given["socket"])
    if run is not None:
        execute(program, run, server.territory, server.codes, server.rewritten)


if __name__ == "__main__":
    main()
