"""The small process between afterd and one program: it watches, ends and sweeps.

One supervisor a run, in a session of its own. It is the *child sub-reaper* of everything the
program starts, so that whatever the program does to get away (``setsid``, a double fork,
``env -i setsid``) its processes become the supervisor's children and are found; runs of other
threads stay apart because each has its own supervisor. It is a fresh interpreter
(``python -I -S``, about 12 ms) and not a fork of afterd, which has threads.

Only what loads fast is imported here: no dataclasses, no typing, no json.

Standard input carries the request (a marshalled dictionary after eight bytes of length) and stays
open: its end means that afterd died or cancelled. The answer goes to standard output as a Python
literal, because what comes back from the neighbourhood of a hostile program must only be data.
"""

from __future__ import annotations

import ctypes
import errno
import marshal
import os
import resource
import select
import sys
import time

from afterd.execution.landlock import hold
from afterd.execution.process_tree import (
    descendants,
    proportional_bytes,
    resident_bytes,
    starved_seconds,
    threads_alive,
    walk,
)

TYPE_CHECKING = False  # typing's own constant costs 2 ms to import
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable
    from io import FileIO
    from typing import Any

    Request = dict[str, Any]
    Answer = dict[str, Any]
else:
    import _signal as signal  # what signal itself adds to it are enumerations: 4 ms to import

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
CAP_NET_ADMIN = 12
ADDR_NO_RANDOMIZE = 0x0040000

FIRST_TICK = 0.01
LAST_TICK = 0.05
SWEEP_SECONDS = 5.0  # a process that SIGKILL does not end in this time hangs in the kernel


class Run:
    """One program under supervision; ``ending`` is the name of an ``Ending`` once it is known."""

    def __init__(self, request: Request, libc: ctypes.CDLL | None) -> None:
        self.request = request
        self.libc = libc
        self.started = time.monotonic()
        self.ending = ""
        self.status: int | None = None  # as waitpid reports it
        self.swept = 0
        self.last_size = 0
        self.last_growth = self.started
        self.outputs = [os.open(path, _OUTPUT, 0o600) for path in request["outputs"]]
        self.pid, self.start = _launch(request, self.outputs, libc)

    def watch(self, control: int, wake: int) -> None:
        """Wait until the program ends or a budget is spent; sets ``ending``."""
        poll = select.poll()
        poll.register(control, select.POLLIN | select.POLLHUP)
        poll.register(wake, select.POLLIN)
        tick = FIRST_TICK
        while not self.ending:
            events = dict(poll.poll(tick * 1000))
            if control in events:
                self.ending = "CANCELLED"
            if wake in events:
                os.read(wake, 4096)
            self.reap()
            self.ending = self.ending or self.exceeded()
            tick = min(tick * 1.5, LAST_TICK)
        if self.ending == "EXITED" and self.size() > self.request["output"]:
            self.ending = "OUTPUT"  # it was quicker than our look at it

    def reap(self) -> None:
        """Collect every child that ended; notice when the program itself did."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self.pid:
                self.status = status
                self.ending = self.ending or "EXITED"

    def exceeded(self) -> str:
        """The name of the budget that is spent, or nothing."""
        now, size = time.monotonic(), self.size()
        if size != self.last_size:
            self.last_size, self.last_growth = size, now
        if size > self.request["output"]:
            return "OUTPUT"
        if self.is_late(now - self.started):
            return "TIMEOUT"
        if self.request["silence"] and now - self.last_growth > self.request["silence"]:
            return "SILENCE"
        return self.crowded()

    def is_late(self, seconds: float) -> bool:
        """Whether the program had its time. What it waited for a processor does not count: on a machine
        that does other things a program is slow, and no hang; up to a limit.
        """
        limit: float = self.request["timeout"]
        if seconds <= limit or seconds > limit * self.request["starved"]:
            return seconds > limit
        return seconds - starved_seconds(descendants(os.getpid())) > limit

    def size(self) -> int:
        """Bytes of output so far."""
        return sum(os.fstat(output).st_size for output in self.outputs)

    def crowded(self) -> str:
        """Whether all processes together are too many or too large."""
        most, limit = self.request["processes"], self.request["memory"]
        family = self.family(at_most=most + 1)
        if len(family) > most:
            return "PROCESSES"
        if resident_bytes(family) > limit and proportional_bytes(family) > limit:
            return "MEMORY"
        return ""

    def family(self, at_most: int | None = None) -> list[int]:
        """The first ``at_most`` processes below us; of a crowd we get ahead."""
        found = descendants(os.getpid(), at_most)
        if len(found) > self.request["crowd"]:
            _get_ahead()
        return found

    def sweep(self) -> int:
        """End what is left: SIGTERM, grace, SIGKILL until none; the number that would not go."""
        self.reap()
        family = self.family()
        self.swept = len([pid for pid in family if pid != self.pid])
        # A fork bomb uses every moment of grace: it gets none.
        if self.ending not in ("PROCESSES", "MEMORY"):
            self.ask_to_end(family)
        return self.kill()

    def ask_to_end(self, family: list[int]) -> None:
        """SIGTERM, and up to the grace period for an orderly end (SIGCONT wakes the stopped)."""
        for pid in family:
            _signal(os.kill, pid, signal.SIGTERM)
            _signal(os.kill, pid, signal.SIGCONT)
        end = time.monotonic() + self.request["grace"]
        while time.monotonic() < end:
            self.reap()
            left = len(descendants(os.getpid()))
            if not left or left > self.request["processes"]:
                return
            time.sleep(0.005)

    def kill(self) -> int:
        """SIGKILL everything below us, each on sight with its group, until nothing is left.

        A group falls in one call that fork cannot race with; what ran away from its group is
        found by the walk. Between walks we step back, for a killed process needs the processor
        in order to die.
        """
        end = time.monotonic() + SWEEP_SECONDS
        own_group = os.getpgrp()
        left = 1
        while left and time.monotonic() < end:
            left = 0
            for pid in walk(os.getpid()):
                left += 1
                if (group := _group(pid)) not in (0, own_group):
                    _signal(os.killpg, group, signal.SIGKILL)
                _signal(os.kill, pid, signal.SIGKILL)
            self.reap()
            time.sleep(0.001 if left else 0)
        return left

    def answer(self, survivors: int) -> Answer:
        """What ``sandbox.run`` turns into a ProcessResult."""
        for output in self.outputs:
            if os.fstat(output).st_size > self.request["output"]:
                os.ftruncate(output, self.request["output"])
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        signalled = self.status is not None and os.WIFSIGNALED(self.status)
        return {
            "ending": self.ending,
            "status": None if self.status is None else os.waitstatus_to_exitcode(self.status),
            "signalled": signalled,
            "seconds": time.monotonic() - self.started,
            "cpu_seconds": used.ru_utime + used.ru_stime,
            "peak_memory": used.ru_maxrss << 10,
            "swept": self.swept,
            "survivors": survivors,
            **self.start,
        }


_OUTPUT = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW


def _launch(request: Request, outputs: list[int], libc: ctypes.CDLL | None) -> tuple[int, Answer]:
    """Fork and exec the program; its pid, and what its last words before exec were."""
    reading, writing = os.pipe()  # closes on exec: end of file means that it runs
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            _become(request, outputs, libc, parent, writing)
        except OSError as error:
            os.write(writing, os.fsencode(f"{error.strerror}\0{os.fsdecode(error.filename or '')}"))
        finally:
            os._exit(127)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        words = pipe.read()
    return pid, {"fixed_addresses": words[:1] == b"F", "failure": words[1:]}


def _become(
    request: Request, outputs: list[int], libc: ctypes.CDLL | None, parent: int, report: int
) -> None:
    """In the child: own session, default signals, limits, files; then the program itself."""
    os.setsid()
    # Python ignores SIGPIPE and SIGXFSZ, and what is ignored stays so through exec: `yes | head`
    # would complain, and a file that grows too large would not end its writer.
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        _default(number)
    for name, value in request["limits"].items():
        _limit(name, value)
    fixed = False
    if libc is not None:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(127)
        if request["fixed_addresses"]:
            fixed = libc.personality(ADDR_NO_RANDOMIZE) != -1
    os.write(report, b"F" if fixed else b"-")
    source = os.open(request["stdin"], os.O_RDONLY)
    os.chdir(request["cwd"])
    if not request["network_admin"] and libc is not None:
        libc.prctl(PR_CAPBSET_DROP, CAP_NET_ADMIN, 0, 0, 0)  # refused to whom it gives nothing
    if request["landlock"] and libc is not None:
        hold(libc, request["landlock"], request["writable"])
    for target, descriptor in enumerate((source, outputs[0], outputs[-1])):
        os.dup2(descriptor, target, inheritable=True)
    _execute(request["argv"], request["environment"])


def _execute(argv: list[bytes], environment: dict[bytes, bytes]) -> None:
    """Exec, looking in the program's own PATH; a script without ``#!`` goes to the shell."""
    try:
        os.execvpe(argv[0], argv, environment)  # noqa: S606 - the user's own command
    except OSError as error:
        if error.errno != errno.ENOEXEC or b"/" not in argv[0]:
            raise
        os.execve("/bin/sh", [b"sh", *argv], environment)  # noqa: S606 - as execvp(3) does


def _default(number: int) -> None:
    try:
        signal.signal(number, signal.SIG_DFL)
    except (OSError, ValueError):  # reserved by the C library
        return


def _limit(name: str, value: int) -> None:
    """Lower a resource limit; never raise it above what afterd itself was given."""
    number = getattr(resource, name, None)
    if number is None:
        return
    hard = resource.getrlimit(number)[1]
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(number, (value, value))


def _signal(send: Callable[[int, int], None], target: int, number: int) -> None:
    try:
        send(target, number)
    except OSError:  # it ended in the meantime, or changed its user
        return


def _group(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except OSError:
        return 0


def _linux() -> ctypes.CDLL | None:
    """The C library with this process made the reaper of orphans; None where it cannot be."""
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1)
    # The program runs as the same user: keep it from attaching to us and forging the answer.
    libc.prctl(PR_SET_DUMPABLE, 0)
    return libc


def _request(control: int) -> Request:
    """Read the request off the control pipe, which stays open."""
    with os.fdopen(control, "rb", buffering=0, closefd=False) as pipe:
        length = int.from_bytes(_exactly(pipe, 8), "little")
        payload = _exactly(pipe, length)
    request: Request = marshal.loads(payload)  # noqa: S302 - from afterd, same interpreter
    return request


def _exactly(pipe: FileIO, count: int) -> bytes:
    parts: list[bytes] = []
    while count:
        part = pipe.read(count)
        if not part:
            sys.exit(1)  # afterd is gone
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _get_ahead() -> None:
    """Run before a program with hundreds of runnable processes, where we are allowed to (root).

    Seen without: a bomb whose processes each call ``setsid`` and end after two forks grew to
    63,000 while the sweep waited for its turn. Only before those: to collect a process of several
    threads, the kernel waits in a loop for whoever is taking its entries out of /proc, and that one
    does not run while we do. Seen with: a second of processor time for each compilation by zig.
    """
    if hasattr(os, "sched_setscheduler"):
        policy = os.SCHED_RR | os.SCHED_RESET_ON_FORK  # the program itself stays ordinary
        try:
            os.sched_setscheduler(0, policy, os.sched_param(1))
        except OSError:
            return


def main() -> None:
    """Run one program as the request on standard input says, and answer on standard output."""
    control, result = os.dup(0), os.dup(1)
    wake, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    signal.set_wakeup_fd(waker)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # a test that runs `kill $PPID` means its own parent
    libc = _linux()
    request = _request(control)
    if os.getuid() and (threads := threads_alive()):
        # Counts every process of the user, so it can only be a last line against fork bombs.
        request["limits"]["RLIMIT_NPROC"] = threads + request["processes"]
    run = Run(request, libc)
    if not run.start["failure"]:
        run.watch(control, wake)
    survivors = run.sweep()
    answer = marshal.dumps(run.answer(survivors))
    try:
        os.write(result, answer)
    except BrokenPipeError:  # afterd was killed: nobody else will remove the run's directory
        os.execvp("rm", ["rm", "-rf", "--", request["directory"]])  # noqa: S606, S607 - as above
