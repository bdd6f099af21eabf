"""The only place in afterd that starts a process.

``run`` gives somebody else's program a session, a directory and budgets of its own and comes back
when the program *and everything it started* are gone. What taught it (reliability.md, section 0):
``subprocess.run(timeout=1)`` left both grandchildren running, and killing the process group misses
a ``setsid``. So each run has a supervisor process (see ``supervisor``) that is the reaper of all
that is orphaned below it; outputs go to files, because a pipe stays open as long as any survivor
holds it.

On macOS there is no sub-reaper: a process that leaves its session *and* whose parent has ended is
not found there.
"""

from __future__ import annotations

import contextlib
import logging
import marshal
import math
import os
import select
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import afterd
from afterd.errors import SandboxError, SpaceError
from afterd.execution.confinement import (
    Confinement,
    Means,
    current_confinement,
    landlock_version,
    prefix,
)
from afterd.execution.losses import how_lost, tell_loss
from afterd.execution.memory_group import Group, group_for
from afterd.execution.process import Command, Ending, ProcessResult
from afterd.execution.process_tree import tagged_processes
from afterd.execution.scratch import RUN_FOLDER
from afterd.limits import ProcessLimits

Child = subprocess.Popen[bytes]
Watch = Callable[[Path], bool]
"""Called several times a second with the directory of a run; no ends it."""

_LOG = logging.getLogger(__name__)

RUN_VARIABLE = "AFTERD_RUN"
"""Names the run's directory in the program's environment: finds it if its supervisor is killed."""

# neither garbage is looked for nor modules taken down at its end: a fifth of what one takes
_SUPERVISOR = (
    "import gc, os, sys; gc.disable(); sys.path.append(sys.argv[1]);"
    "from afterd.execution.supervisor import main; main(); os._exit(0)"
)
PACKAGE_ROOT = str(Path(afterd.__file__).parent.parent)
_KEPT_FOR_PYTHON = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PATH", "LC_ALL", "LANG")
_LAST_RESORT = 6.0  # seconds past every budget after which the supervisor itself is given up


def run(
    command: Command,
    limits: ProcessLimits,
    *,
    scratch: Path | None = None,
    cancelled: threading.Event | None = None,
    watch: Watch | None = None,
    anew: Callable[[], object] | None = None,
) -> ProcessResult:
    """Run ``command`` to its end within ``limits``; safe to call from many threads at once.

    What was killed from outside is run again (see ``losses``); before that ``anew`` does away with
    what such a run left half done. The result's directory is made below ``scratch`` (default: the
    system's temporary directory), used once, and removed by whoever called. Setting ``cancelled``
    ends the run, and so does ``watch`` where it answers no. Only a missing supervisor or a full disk
    raise (SandboxError, SpaceError); everything else is a result.
    """
    for number in range(1, limits.repeats + 1):
        result = _run(command, limits, scratch, cancelled, watch)
        why = how_lost(result)
        if not why or (cancelled is not None and cancelled.is_set()):
            return result
        result.remove()
        said = f"The run of `{shlex.join(command.argv)}`"
        tell_loss(said, why, number, limits.repeats, str(command.cwd))
        if anew is not None:
            anew()
    return _run(command, limits, scratch, cancelled, watch)


def _run(
    command: Command,
    limits: ProcessLimits,
    scratch: Path | None,
    cancelled: threading.Event | None,
    watch: Watch | None,
) -> ProcessResult:
    directory = _fresh_directory(scratch)
    group = group_for(limits)
    try:
        result = _supervised_run(command, limits, directory, group, cancelled, watch)
        if group is not None and group.has_killed():
            return replace(result, ending=Ending.MEMORY, status=None, signal=0)
        return result
    finally:
        if group is not None:
            group.remove()


def _supervised_run(
    command: Command,
    limits: ProcessLimits,
    directory: Path,
    group: Group | None,
    cancelled: threading.Event | None,
    watch: Watch | None,
) -> ProcessResult:
    held = current_confinement()
    own = (directory,)
    held_by = prefix(held, own, command.environment, (str(command.cwd), *command.argv))
    supervisor = _start_supervisor(directory, held_by, group)
    try:
        _send_request(supervisor, _request(command, limits, directory, held))
        _LOG.debug("run %s in %s", command.argv, command.cwd)
        goes_on = _goes_on(directory, cancelled, watch)
        answer = _await_answer(supervisor, limits, goes_on)
    finally:
        _dismiss(supervisor)
    if answer is None:
        return _lost_run(directory, supervisor)
    result = _result(command, directory, answer)
    _LOG.debug("it %s after %.2f s, %s", result.describe(), result.seconds, command.argv)
    return result


def _goes_on(
    directory: Path, cancelled: threading.Event | None, watch: Watch | None
) -> Callable[[], bool] | None:
    """Whether a run shall go on, for who watches it; None where nobody does."""
    if cancelled is None and watch is None:
        return None
    return lambda: not (cancelled and cancelled.is_set()) and (watch is None or watch(directory))


def start(
    argv: Sequence[str], environment: Mapping[str, str], log: Path, pass_fds: Sequence[int]
) -> Child:
    """Start one of afterd's own children, unsupervised; used by ``worker`` alone."""
    with log.open("ab") as output:
        try:
            return subprocess.Popen(
                list(argv),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=dict(environment),
                pass_fds=tuple(pass_fds),
                start_new_session=True,
            )
        except OSError as error:
            raise SandboxError(f"Cannot start {argv[0]}: {error.strerror}.") from error


def wait(child: Child, *, seconds: float) -> None:
    """Give ``child`` a moment to end by itself."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(seconds)


def kill(child: Child) -> None:
    """End ``child`` and whatever is left of its group, at once, and collect it."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _fresh_directory(scratch: Path | None) -> Path:
    try:
        directory = Path(tempfile.mkdtemp(prefix=RUN_FOLDER, dir=scratch)).resolve()
        (directory / "tmp").mkdir()
    except OSError as error:
        where = scratch or tempfile.gettempdir()
        raise SpaceError(
            f"Cannot make a directory for a run in {where}: {error.strerror};"
            " free some space there or set TMPDIR."
        ) from error
    return directory


def _start_supervisor(directory: Path, held_by: Sequence[str], group: Group | None) -> Child:
    argv = [*held_by, sys.executable, "-I", "-S", "-c", _SUPERVISOR, PACKAGE_ROOT]
    argv = group.entering(argv) if group is not None else argv
    # Not afterd's whole environment: the program could read a token in its parent's /proc entry.
    environment = {name: os.environ[name] for name in _KEPT_FOR_PYTHON if name in os.environ}
    with (directory / "supervisor").open("wb") as log:
        try:
            return subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=environment,
                cwd="/",
                start_new_session=True,
            )
        except OSError as error:
            raise SandboxError(
                f"Cannot start a process ({error.strerror}); too many are running already?"
            ) from error


def _request(
    command: Command, limits: ProcessLimits, directory: Path, held: Confinement
) -> dict[str, Any]:
    environment = {
        "TMPDIR": str(directory / "tmp"),
        RUN_VARIABLE: str(directory),
        **command.environment,
    }
    names = ("stdout",) if command.merge else ("stdout", "stderr")
    if command.merge:
        (directory / "stderr").touch()
    return {
        "argv": [os.fsencode(argument) for argument in command.argv],
        "cwd": os.fsencode(command.cwd.absolute()),
        "directory": os.fsencode(directory),
        "environment": {os.fsencode(k): os.fsencode(v) for k, v in environment.items()},
        "stdin": os.fsencode(command.stdin.absolute() if command.stdin else os.devnull),
        "outputs": [os.fsencode(directory / name) for name in names],
        "fixed_addresses": command.fixed_addresses,
        "landlock": landlock_version() if held.means is Means.LANDLOCK else 0,
        "network_admin": held.network_admin or held.means is Means.BUBBLEWRAP,
        "writable": [os.fsencode(path) for path in (*held.writable, directory)],
        "limits": _kernel_limits(limits),
        "timeout": limits.timeout,
        "starved": limits.starved,
        "silence": limits.silence,
        "output": limits.output,
        "memory": limits.memory,
        "processes": limits.processes,
        "crowd": limits.crowd,
        "grace": limits.grace,
    }


def _kernel_limits(limits: ProcessLimits) -> dict[str, int]:
    kernel = {
        "RLIMIT_CORE": 0,
        "RLIMIT_FSIZE": max(limits.file_size, limits.output + 1),
        "RLIMIT_NOFILE": limits.open_files,
        # Wall clock decides; this ends what would burn on if the supervisor were killed.
        "RLIMIT_CPU": math.ceil(limits.timeout) * (os.cpu_count() or 1) + 10,
    }
    if limits.address_space is not None:
        kernel["RLIMIT_AS"] = limits.address_space
    return kernel


def _send_request(supervisor: Child, request: dict[str, Any]) -> None:
    assert supervisor.stdin is not None
    payload = marshal.dumps(request)
    try:
        supervisor.stdin.write(len(payload).to_bytes(8, "little") + payload)
        supervisor.stdin.flush()
    except BrokenPipeError:
        return  # it died at once; the missing answer says so


def _await_answer(
    supervisor: Child, limits: ProcessLimits, goes_on: Callable[[], bool] | None
) -> dict[str, Any] | None:
    """The supervisor's answer; None where it died or will not answer."""
    answer = _answer_within(supervisor, limits.timeout + limits.grace + 0.5, goes_on)
    if answer is None and supervisor.poll() is None:
        supervisor.send_signal(signal.SIGCONT)  # the program may have stopped its own parent
        starved = limits.timeout * (limits.starved - 1)  # which the supervisor adds to its limit
        answer = _answer_within(supervisor, starved + _LAST_RESORT, goes_on)
    return answer


def _answer_within(
    supervisor: Child, seconds: float, goes_on: Callable[[], bool] | None
) -> dict[str, Any] | None:
    assert supervisor.stdin is not None
    assert supervisor.stdout is not None
    poll = select.poll()
    poll.register(supervisor.stdout, select.POLLIN | select.POLLHUP)
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        if poll.poll(1000 * (left if goes_on is None else min(left, 0.1))):
            payload = supervisor.stdout.read()
            # Not as a literal: two threads that build syntax trees at once fail in CPython 3.11 (gh-106905).
            return marshal.loads(payload) if payload else None  # noqa: S302 - our own supervisor wrote it
        if goes_on is not None and not supervisor.stdin.closed and not goes_on():
            supervisor.stdin.close()  # its sign to end the run
    return None


def _dismiss(supervisor: Child) -> None:
    """Close the control pipe and see the supervisor off; also on Ctrl-C in the middle of a run."""
    assert supervisor.stdin is not None
    assert supervisor.stdout is not None
    # What a supervisor that was killed did not live to read is still to be written.
    with contextlib.suppress(BrokenPipeError):
        supervisor.stdin.close()
    try:
        supervisor.wait(timeout=3.0)
    except subprocess.TimeoutExpired:
        supervisor.kill()
        supervisor.wait()
    supervisor.stdout.close()


def _lost_run(directory: Path, supervisor: Child) -> ProcessResult:
    """The supervisor is gone without an answer: end what carries the run's mark, and say so."""
    mark = os.fsencode(f"{RUN_VARIABLE}={directory}")
    swept = _sweep_tagged(mark)
    log = (directory / "supervisor").read_text(errors="replace").strip()
    for name in ("stdout", "stderr"):
        (directory / name).touch()
    return ProcessResult(
        Ending.LOST,
        directory,
        swept=swept,
        survivors=len(tagged_processes(mark)),
        detail=log.splitlines()[-1] if log else f"it ended with {supervisor.returncode}",
    )


def _sweep_tagged(mark: bytes) -> int:
    """Kill what carries ``mark``; how many. A process in the middle of exec shows no environment
    for a moment, so nothing must be seen several times over before we believe it.
    """
    killed: set[int] = set()
    quiet = 0
    deadline = time.monotonic() + 2.0
    while quiet < 5 and time.monotonic() < deadline:
        left = tagged_processes(mark)
        quiet = 0 if left else quiet + 1
        for pid in left:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
                killed.add(pid)
        time.sleep(0.01)
    return len(killed)


def _result(command: Command, directory: Path, answer: dict[str, Any]) -> ProcessResult:
    ending, status, detail = Ending[answer["ending"] or "NOT_STARTED"], answer["status"], ""
    if answer["failure"]:
        ending, detail = Ending.NOT_STARTED, _not_started(command, answer["failure"])
    elif ending is Ending.EXITED and answer["signalled"]:
        ending = Ending.FILE_SIZE if -status == signal.SIGXFSZ else Ending.SIGNALLED
    return ProcessResult(
        ending,
        directory,
        status=status if ending is Ending.EXITED else None,
        signal=-status if answer["signalled"] else 0,
        seconds=answer["seconds"],
        cpu_seconds=answer["cpu_seconds"],
        peak_memory=answer["peak_memory"],
        swept=answer["swept"],
        survivors=answer["survivors"],
        fixed_addresses=answer["fixed_addresses"],
        detail=detail,
    )


def _not_started(command: Command, failure: bytes) -> str:
    """As in: cmake: No such file or directory; a name without a slash was looked for in PATH."""
    reason, _, filename = os.fsdecode(failure).partition("\0")
    name = command.argv[0]
    return f"{name if Path(filename).name == name else filename or name}: {reason}"
