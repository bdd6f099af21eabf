"""Cheap re-execution: a warm process, forked for each run of the test.

The first run is a probe: it shows what the test imports. What lies outside the tree and does no harm
is then imported once, the tree's modules are compiled once, and each further run costs a fork. The
variant is on disk, as for a fresh process. Where a fork is not safe, ``WarmPython.cold`` says why.

Warm processes for the slots of one repository: what one of them saw spares the others a probe.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import sys
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from afterd.errors import AfterdError
from afterd.execution import sandbox
from afterd.execution.process import Command, Ending, ProcessResult
from afterd.execution.rerunning import ColdError, Recording
from afterd.execution.scratch import RUN_FOLDER
from afterd.limits import WARM, ProcessLimits
from afterd.trace.python.record.warm import VARIABLE
from afterd.trace.python.stage.command import (
    PythonCommand,
    folders_beside,
    of_shell,
    python_command,
)
from afterd.trace.python.stage.runner import PACKAGE, stage
from afterd.weights import WARM_SHARES


@dataclass(frozen=True, slots=True)
class Seen:
    """What a run imported: modules outside the tree (name and file), those that a loader of somebody's
    own loaded, the tree's files, relative to it, and the files outside whose asserts pytest rewrote.
    """

    outside: tuple[tuple[str, str], ...]
    foreign: tuple[str, ...]
    inside: tuple[str, ...]
    rewritten: tuple[str, ...] = ()


class WarmPython:
    """A warm server for one test command in one directory.

    ``command`` is as the sandbox takes it: arguments, directory, complete environment. ``tree`` is
    the source tree it runs in; its files may change between runs. ``seen`` is what another server
    for the same test saw; without it the first run is a probe, and ``probes`` counts it: nothing is imported
    ahead of it, so that it shows what a fresh process shows. Use it from one thread at a time, and close it.
    """

    def __init__(
        self,
        command: Command,
        tree: Path,
        staging: Path,
        limits: ProcessLimits,
        *,
        scratch: Path | None = None,
        seen: Seen | None = None,
    ) -> None:
        self.command = command
        self.tree = tree.resolve()
        self.limits = limits
        self.cold = ""
        self.lost = False
        self.left_out: dict[str, str] = {}
        self.probes = 0
        self.added = 0.0  # seconds of the last run that were not the test's own
        self.seen = seen
        self._probed: ProcessResult | None = None
        self._staging = staging
        self._scratch = scratch
        self._cancelled = threading.Event()
        self._server: threading.Thread | None = None
        self._connection: socket.socket | None = None
        self._stream: Any = None
        self._directory = Path(tempfile.mkdtemp(prefix="afterd-warm-"))
        self._get_ready(python_command(command.argv, command.environment, command.cwd))

    def run(self, timeout: float | None = None) -> ProcessResult:
        """Run the test; the result is as of a fresh process, which ended by itself, or did not end
        and was busy all the time.

        Raises ColdError where the server is cold or gone, or the run had to be ended otherwise.
        """
        if self.cold:
            raise ColdError(self.cold)
        return self._run(timeout or self.limits.timeout, report=False)

    def taken_probe(self) -> ProcessResult | None:
        """The result of the probe, once; it is the taker's to remove."""
        probed, self._probed = self._probed, None
        return probed

    def record(self, recording: Recording) -> ProcessResult:
        """Run the test in a fork that records itself, in another tree than the server's.

        Raises ColdError as ``run`` does, and for a script of the tree: what nobody imports is instrumented
        in a process of its own alone.
        """
        command = recording.command
        if self.cold or command.argv != self.command.argv or _is_own_script(recording):
            raise ColdError(self.cold or "another command, or a script of the tree")
        before, environment = self.command.environment, command.environment
        told = {
            "tree": str(self.tree),
            "moved": str(recording.tree.resolve()),
            "directory": str(command.cwd),
            "environment": {
                name: environment.get(name)
                for name in before.keys() | environment.keys()
                if before.get(name) != environment.get(name)
            },
        }
        return self._run(recording.timeout, report=False, recorded=told)

    def close(self) -> None:
        """End the server and everything it started."""
        self.cold = self.cold or "the warm process was closed"
        if (probed := self.taken_probe()) is not None:
            probed.remove()
        for each in (self._stream, self._connection):
            if each is not None:
                with suppress(OSError):  # what a server that was killed did not take
                    each.close()
        self._cancelled.set()
        if self._server is not None:
            self._server.join()
        shutil.rmtree(self._directory, ignore_errors=True)

    def __enter__(self) -> WarmPython:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()

    # -- getting ready -----------------------------------------------------------------------

    def _get_ready(self, python: PythonCommand | None) -> None:
        """Start the server, probe, prepare; on any obstacle ``cold`` says what it was."""
        if python is None:
            self.cold = f"{self.command.argv[0]} does not start Python directly"
        elif sys.platform != "linux":
            self.cold = "what a forked test leaves behind is found on Linux alone"
        elif self.limits.silence is not None:
            self.cold = "a limit on silence is kept for fresh processes alone"
        else:
            try:
                self._start(python)
                self.seen = self.seen or self._probe()
                self._prepare(self.seen)
            except (OSError, ColdError) as error:
                self.cold = f"the warm process cannot be used: {error}"

    def _start(self, python: PythonCommand) -> None:
        path = self._directory / "socket"
        shell = bool(of_shell(self.command.argv))
        given = {
            "tree": str(self.tree),
            "socket": str(path),
            "program": {
                "target": python.target,
                "name": python.name,
                "argv": python.argv,
                "shell": shell,
            },
            "environment": {
                "PYTHONPATH": self.command.environment.get("PYTHONPATH"),
                **({"PWD": str(self.command.cwd)} if shell else {}),
            },
        }
        runtime = str(stage(self._staging).resolve())
        inherited = self.command.environment.get("PYTHONPATH", "")
        environment = {
            **self.command.environment,
            "PYTHONPATH": f"{runtime}:{inherited}".rstrip(":"),
            VARIABLE: json.dumps(given),
        }
        argv = (python.interpreter, *python.options, "-m", f"{PACKAGE}.warm")
        command = replace(self.command, argv=argv, environment=environment, fixed_addresses=True)
        limits = replace(self.limits, timeout=WARM.life, repeats=0)  # who asked it is told
        self._server = threading.Thread(
            target=self._supervise, args=(command, limits), name="warm-python", daemon=True
        )
        self._server.start()
        self._connection = _connection_to(path, self._server)
        self._stream = self._connection.makefile("rwb")

    def _supervise(self, command: Command, limits: ProcessLimits) -> None:
        with suppress(AfterdError):  # no process, no room: then nobody listens, and that is said
            sandbox.run(command, limits, cancelled=self._cancelled).remove()

    def _probe(self) -> Seen:
        self.probes += 1
        result = self._run(self.limits.timeout, report=True)
        try:
            said = json.loads((result.directory / "modules.json").read_text(encoding="utf-8"))
            home, tree = str(result.directory), f"{self.tree}/"
            beside = folders_beside(self.command.argv)  # the test's own, run each time
            self._probed = result
            return Seen(
                tuple(
                    (name, file)
                    for name, file in said["outside"]
                    if not file.startswith(home) and os.path.dirname(file) not in beside  # noqa: PTH120 # a string
                ),
                tuple(said["foreign"]),
                tuple(file.removeprefix(tree) for file in said["inside"]),
                tuple(said["rewritten"]),
            )
        except (OSError, ValueError) as error:
            result.remove()
            raise ColdError("its first run did not say what it imported") from error

    def _prepare(self, seen: Seen) -> None:
        files = [str(self.tree / file) for file in seen.inside]
        request = {"op": "prepare", "modules": seen.outside, "foreign": seen.foreign}
        request |= {"files": files, "rewritten": seen.rewritten}
        answer = self._ask(request, WARM.prepare)
        self.left_out = answer["left_out"]
        if answer["unsafe"]:
            self.cold = f"a fork is not safe: {answer['unsafe']}"

    # -- runs --------------------------------------------------------------------------------

    def _run(
        self, timeout: float, *, report: bool, recorded: dict[str, Any] | None = None
    ) -> ProcessResult:
        directory = Path(tempfile.mkdtemp(prefix=RUN_FOLDER, dir=self._scratch)).resolve()
        (directory / "tmp").mkdir()
        (directory / "stderr").touch()  # a recorded run writes all to its standard output
        limits = {"timeout": timeout, "output": self.limits.output}
        request = {"op": "run", "directory": str(directory), **limits, "report": report}
        request |= {"recorded": recorded} if recorded else {}
        started = time.monotonic()
        try:
            answer = _telling_answer(self._ask(request, timeout + WARM.answer), timeout)
        except ColdError:
            shutil.rmtree(directory, ignore_errors=True)
            raise
        elapsed = time.monotonic() - started
        self.added = elapsed - (answer["inner"] or elapsed)
        return ProcessResult(
            Ending.TIMEOUT if answer["ended"] else Ending.EXITED,
            directory,
            status=int(answer["status"]),
            seconds=elapsed,
            cpu_seconds=float(answer["cpu"]),
        )

    def _ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        assert self._connection is not None
        self._connection.settimeout(seconds)
        try:
            self._stream.write(json.dumps(request).encode() + b"\n")
            self._stream.flush()
            answer: dict[str, Any] = json.loads(self._stream.readline())
        except (OSError, ValueError):  # too late, closed by another thread, or killed on the way
            self.lost = not self.cold
            self.cold = self.cold or "the warm process ended"
            raise ColdError(self.cold) from None
        return answer


def _is_own_script(recording: Recording) -> bool:
    command = recording.command
    started = python_command(command.argv, command.environment, command.cwd)
    if started is None or started.target != "script":
        return False
    script, tree = (command.cwd / started.name).resolve(), recording.tree.resolve()
    return script.is_relative_to(tree) or str(script.parent) in folders_beside(command.argv)


def _connection_to(path: Path, server: threading.Thread) -> socket.socket:
    """A connection to the server, as soon as it listens; by way of the socket's folder, as it binds it."""
    deadline = time.monotonic() + WARM.start
    place = os.open(path.parent, os.O_PATH)
    try:
        while time.monotonic() < deadline and server.is_alive():
            connection = socket.socket(socket.AF_UNIX)
            try:
                connection.connect(f"/proc/self/fd/{place}/{path.name}")
            except OSError:
                connection.close()
                time.sleep(0.005)
            else:
                return connection
    finally:
        os.close(place)
    raise ColdError("it did not start listening")


def _telling_answer(answer: dict[str, Any], timeout: float) -> dict[str, Any]:
    """The answer. Raises ColdError where the run was ended, or died: a fresh process will tell.

    A run that computed until its time was up would do so in any process; one that waited may have
    waited for what a fork does not have.
    """
    if answer["ended"] == "timeout" and answer["cpu"] > WARM_SHARES.busy * timeout:
        return answer
    if answer["ended"]:
        raise ColdError(f"its run was ended: {answer['ended']}")
    if answer["status"] < 0:
        raise ColdError(f"its run died of signal {-answer['status']}")
    return answer


class WarmTests:
    """Gets commands ready; ``staging`` keeps the runtime that the program's interpreter loads."""

    def __init__(self, staging: Path) -> None:
        self._staging = staging
        self._seen: dict[tuple[str, ...], Seen] = {}

    def __call__(
        self, command: Command, tree: Path, limits: ProcessLimits, scratch: Path | None
    ) -> WarmPython | None:
        """A warm process, which may be cold; None for a command that does not start Python."""
        if python_command(command.argv, command.environment, command.cwd) is None:
            return None
        seen = self._seen.get(command.argv)
        made = WarmPython(command, tree, self._staging, limits, scratch=scratch, seen=seen)
        if made.seen is not None:
            self._seen[command.argv] = made.seen
        return made
