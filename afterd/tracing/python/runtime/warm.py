"""The warm server: imports what no variant changes once, and forks for each run.

One connection on a Unix socket, one JSON object a line each way:

- ``{"op": "prepare", "modules": […], "files": […]}`` imports modules (a failing one is left out)
  and compiles files; answers ``{"unsafe": reason or "", "missing": […]}``;
- ``{"op": "run", …}`` forks, see ``Run``; answers ``{"status", "signal", "seconds", "timeout"}``.

A fork is unsafe where other threads run: they would not exist in the child, their locks would.
"""

from __future__ import annotations

import atexit
import base64
import gc
import importlib
import json
import os
import random
import runpy
import select
import signal
import socket
import sys
import tempfile
import threading
import time
import traceback
from dataclasses import dataclass
from functools import cache
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from .importing import Territory
from .overlay import CodeCache, lay_over

Field = Any  # of a request: the dataclass Run says which
VARIABLE = "AFTERD_WARM"


@dataclass(frozen=True)
class Run:
    """A run: ``target`` is module or script, ``name`` which; texts are base64, None for deleted."""

    target: str
    name: str
    argv: list[str]
    cwd: str
    environment: dict[str, str]
    texts: dict[str, str | None]
    directory: str
    timeout: float
    report_modules: bool = False


class Server:
    """Serves one client until it hangs up."""

    def __init__(self, tree: str) -> None:
        self.tree = tree
        self.territory = Territory(Path(tree))
        self.codes = CodeCache()

    def serve(self, path: str) -> None:
        """Listen at ``path``, answer, end."""
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path)
            listener.listen(1)
            connection, _ = listener.accept()
        with connection, connection.makefile("rwb") as stream:
            for line in stream:
                request = json.loads(line)
                operation = request.pop("op")
                answer = self.prepare(**request) if operation == "prepare" else self.run(**request)
                stream.write(json.dumps(answer).encode() + b"\n")
                stream.flush()

    def prepare(self, modules: list[str], files: list[str]) -> dict[str, Any]:
        """Import and compile ahead."""
        missing = []
        for name in modules:
            if name.partition(".")[0] in rewritten_packages():
                continue
            try:
                importlib.import_module(name)
            except BaseException:  # noqa: BLE001 # the program's environment may do anything
                missing.append(name)
        for file in files:
            try:
                self.codes.compile(Path(file).read_bytes(), file)
            except (OSError, SyntaxError, ValueError):
                missing.append(file)
        gc.collect()
        gc.freeze()
        return {"unsafe": unsafe(), "missing": missing}

    def run(self, **fields: Field) -> dict[str, Any]:
        """Fork, wait, report."""
        request = Run(**fields)
        started = time.monotonic()
        child = os.fork()
        if not child:
            self._child(request)
        status, timed_out = _wait(child, request.timeout)
        _kill_group(child)
        return {
            "inner": _inner_seconds(request.directory),
            "status": os.waitstatus_to_exitcode(status),
            "seconds": time.monotonic() - started,
            "timeout": timed_out,
        }

    def _child(self, request: Run) -> None:
        code = 70
        try:
            os.setsid()
            _redirect(request.directory)
            _settle(request)
            texts = {
                path: None if text is None else base64.b64decode(text)
                for path, text in request.texts.items()
            }
            lay_over(self.territory, self.codes.compile, texts)
            before = time.monotonic()
            code = _execute(request)
            spent = time.monotonic() - before
            Path(request.directory, "seconds").write_text(str(spent))
        finally:
            if request.report_modules:
                _report_modules(self.territory, request.directory)
            os._exit(code & 0xFF)


@cache
def rewritten_packages() -> frozenset[str]:
    """All that comes with pytest's plugins: it rewrites their asserts when it imports them itself,
    and warns about what was imported before.
    """
    found: set[str] = set()
    for distribution in distributions():
        if any(point.group == "pytest11" for point in distribution.entry_points):
            files = distribution.files or []
            found.update(file.parts[0].partition(".")[0] for file in files)
    return frozenset(found)


def unsafe() -> str:
    """Why this process must not fork; empty when it may."""
    names = [
        thread.name for thread in threading.enumerate() if thread is not threading.main_thread()
    ]
    if names:
        return f"an imported module started the thread {names[0]}"
    try:
        threads = len(os.listdir("/proc/self/task"))  # noqa: PTH208 # only their number
    except OSError:
        return ""
    return f"imported native code runs {threads - 1} threads of its own" if threads > 1 else ""


def _settle(request: Run) -> None:
    """What a fresh process would have: directory, environment, temporary files, randomness."""
    os.chdir(request.cwd)
    os.environ.clear()
    os.environ.update(request.environment)
    os.environ["TMPDIR"] = str(Path(request.directory, "tmp"))
    tempfile.tempdir = None
    random.seed()
    sys.argv[:] = request.argv
    sys.path[0] = request.cwd if request.target == "module" else str(Path(request.name).parent)
    importlib.invalidate_caches()


def _redirect(directory: str) -> None:
    for descriptor, name in ((1, "stdout"), (2, "stderr")):
        file = os.open(f"{directory}/{name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(file, descriptor)
        os.close(file)


def _execute(request: Run) -> int:
    """Run to the end as the interpreter would, and say its exit status."""
    code = 0
    try:
        if request.target == "module":
            runpy.run_module(request.name, run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(request.name, run_name="__main__")
    except SystemExit as end:
        code = _exit_status(end.code)
    except BaseException:  # noqa: BLE001 # what the interpreter prints and exits 1 for
        _show_uncaught()
        code = 1
    try:
        threading._shutdown()  # type: ignore[attr-defined] # noqa: SLF001 # waits as the interpreter does
        atexit._run_exitfuncs()  # noqa: SLF001 # the interpreter's own
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:  # noqa: BLE001 # a closed stream at exit
        code = code or 120
    return code


def _show_uncaught() -> None:
    """Print the exception as the interpreter would for a script of its own.

    Not by the interpreter's hook: up to 3.12 it reads source lines from the disk, where a module
    that was laid over has another text.
    """
    kind, error, seen = sys.exc_info()
    own = (str(Path(__file__).parent), "<frozen runpy>", runpy.__file__)
    while seen is not None and seen.tb_frame.f_code.co_filename.startswith(own):
        seen = seen.tb_next
    assert kind is not None
    assert error is not None
    if sys.excepthook is sys.__excepthook__:
        traceback.print_exception(kind, error, seen)
    else:
        sys.excepthook(kind, error, seen)


def _exit_status(code: object) -> int:
    if code is None:
        return 0
    if isinstance(code, int):
        return code
    print(code, file=sys.stderr)  # noqa: T201 # as the interpreter does
    return 1


def _report_modules(territory: Territory, directory: str) -> None:
    """What was imported: names from outside the tree, files of the tree."""
    outside, inside = [], []
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and territory.owns(file):
            inside.append(file)
        elif name != "__main__":
            outside.append(name)
    Path(directory, "modules.json").write_text(json.dumps({"outside": outside, "inside": inside}))


def _wait(child: int, timeout: float) -> tuple[int, bool]:
    """The child's wait status; the group is killed when time is up."""
    deadline = time.monotonic() + timeout
    pidfd = os.pidfd_open(child) if hasattr(os, "pidfd_open") else None
    timed_out = False
    while True:
        left = deadline - time.monotonic()
        if pidfd is not None and left > 0:
            select.select([pidfd], [], [], left)
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        if left <= 0:
            timed_out = True
            _kill_group(child)
            _, status = os.waitpid(child, 0)
            break
        if pidfd is None:
            time.sleep(0.002)
    if pidfd is not None:
        os.close(pidfd)
    return status, timed_out


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
    """``AFTERD_WARM`` holds the tree and the socket, a line each."""
    tree, _, path = os.environ.pop(VARIABLE).partition("\n")
    Server(tree).serve(path)


if __name__ == "__main__":
    main()
