"""Cheap re-execution: a warm process, forked for each variant of the program's own modules.

The first run is a probe: it shows what the test imports. What lies outside the tree is then
imported once, the tree's modules are compiled once, and each variant costs a fork. Where a fork is
not safe, ``WarmPython.cold`` says why, and whoever asks runs a fresh process as before.
"""

from __future__ import annotations

import base64
import json
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from afterd.execution import sandbox
from afterd.execution.process import Command, Ending, ProcessResult
from afterd.limits import ProcessLimits
from afterd.tracing.python.command import PythonCommand, python_command
from afterd.tracing.python.runtime.warm import VARIABLE
from afterd.tracing.python.staging import PACKAGE, stage

_START = 20.0  # seconds until the server listens
_SERVER_LIFE = 6 * 3600.0


class WarmPython:
    """A warm server for one test command in one directory.

    ``command`` is as the sandbox takes it: arguments, directory, complete environment. ``tree`` is
    the source tree it runs in, which must stay as it is while the server lives. Use it as a
    context manager, from one thread at a time.
    """

    def __init__(self, command: Command, tree: Path, staging: Path, limits: ProcessLimits) -> None:
        self.command = command
        self.tree = tree.resolve()
        self.limits = limits
        self.cold = ""
        self.added = 0.0  # seconds of the last run that were not the test's own
        self._python: PythonCommand | None = python_command(
            command.argv, command.environment, command.cwd
        )
        self._staging = staging
        self._cancelled = threading.Event()
        self._server: threading.Thread | None = None
        self._stream: Any = None
        self._directory = Path(tempfile.mkdtemp(prefix="afterd-warm-"))

    def __enter__(self) -> Self:
        """Start the server, probe, prepare; on any obstacle ``cold`` says what it was."""
        if self._python is None:
            self.cold = f"{self.command.argv[0]} does not start Python directly"
        else:
            try:
                self._start(self._python)
                self._prepare()
            except OSError as error:
                self.cold = f"the warm process cannot be used: {error}"
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End the server and everything it started."""
        self.cold = self.cold or "the warm process was closed"
        if self._stream is not None:
            self._stream.close()
        self._cancelled.set()
        if self._server is not None:
            self._server.join()
        shutil.rmtree(self._directory, ignore_errors=True)

    def run(self, texts: Mapping[str, bytes | None], timeout: float | None = None) -> ProcessResult:
        """Run the test with files laid over (paths in the tree; None: deleted).

        Where the server is cold or gone, OSError says so; a result is as of a fresh process.
        """
        if self.cold:
            raise OSError(self.cold)
        directory = Path(tempfile.mkdtemp(prefix="afterd-run-"))
        (directory / "tmp").mkdir()
        return self._run(texts, directory, timeout or self.limits.timeout)

    # -- the server --------------------------------------------------------------------------

    def _start(self, python: PythonCommand) -> None:
        path = self._directory / "socket"
        runtime = stage(self._staging)
        inherited = self.command.environment.get("PYTHONPATH", "")
        environment = {
            **self.command.environment,
            "PYTHONPATH": f"{runtime.resolve()}:{inherited}".rstrip(":"),
            VARIABLE: f"{self.tree}\n{path}",
        }
        argv = (python.interpreter, *python.options, "-m", f"{PACKAGE}.warm")
        command = Command(argv, self.command.cwd, environment)
        limits = replace(self.limits, timeout=_SERVER_LIFE, silence=None)
        self._server = threading.Thread(
            target=self._supervise, args=(command, limits), name="warm-python", daemon=True
        )
        self._server.start()
        self._stream = _connected(path, self._server).makefile("rwb")

    def _supervise(self, command: Command, limits: ProcessLimits) -> None:
        sandbox.run(command, limits, cancelled=self._cancelled).remove()

    def _prepare(self) -> None:
        directory = Path(tempfile.mkdtemp(prefix="probe-", dir=self._directory))
        (directory / "tmp").mkdir()
        self._run({}, directory, self.limits.timeout, report_modules=True)
        try:
            seen = json.loads((directory / "modules.json").read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise OSError("its first run ended without saying what it imported") from error
        answer = self._ask({"op": "prepare", "modules": seen["outside"], "files": seen["inside"]})
        if answer["unsafe"]:
            self.cold = f"a fork is not safe: {answer['unsafe']}"

    def _run(
        self,
        texts: Mapping[str, bytes | None],
        directory: Path,
        timeout: float,
        *,
        report_modules: bool = False,
    ) -> ProcessResult:
        assert self._python is not None
        name = self._python.name
        argv0 = "-m" if self._python.target == "module" else name
        started = time.monotonic()
        answer = self._ask(
            {
                "op": "run",
                "target": self._python.target,
                "name": name,
                "argv": [argv0, *self._python.argv],
                "cwd": str(self.command.cwd),
                "environment": dict(self.command.environment),
                "texts": {
                    str(self.tree / path): None if text is None else base64.b64encode(text).decode()
                    for path, text in texts.items()
                },
                "directory": str(directory),
                "timeout": timeout,
                "report_modules": report_modules,
            }
        )
        elapsed = time.monotonic() - started
        self.added = elapsed - (answer["inner"] or elapsed)
        return _result(answer, directory, elapsed)

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        self._stream.write(json.dumps(request).encode() + b"\n")
        self._stream.flush()
        line = self._stream.readline()
        if not line:
            self.cold = "the warm process ended"
            raise OSError(self.cold)
        answer: dict[str, Any] = json.loads(line)
        return answer


def _connected(path: Path, server: threading.Thread) -> socket.socket:
    """A connection to the server, as soon as it listens."""
    deadline = time.monotonic() + _START
    while time.monotonic() < deadline and server.is_alive():
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(str(path))
        except OSError:
            connection.close()
            time.sleep(0.005)
        else:
            return connection
    raise OSError("it did not start listening")


def _result(answer: dict[str, Any], directory: Path, seconds: float) -> ProcessResult:
    for name in ("stdout", "stderr"):
        (directory / name).touch()
    status = int(answer["status"])
    if answer["timeout"]:
        return ProcessResult(Ending.TIMEOUT, directory, seconds=seconds)
    if status < 0:
        return ProcessResult(Ending.SIGNALLED, directory, signal=-status, seconds=seconds)
    return ProcessResult(Ending.EXITED, directory, status=status, seconds=seconds)
