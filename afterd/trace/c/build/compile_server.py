"""The compile server of a traced build: a process that has read LLVM, and forks for each compilation.

The first compilation of a build begins it and goes on by itself. It ends with the session that the build is run in,
of which the sandbox sweeps all processes. Whoever cannot reach it compiles in a process of its own, as before.
"""

from __future__ import annotations

import array
import fcntl
import gc
import importlib
import marshal
import os
import select
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from afterd.trace.c.build.compile_request import SERVED, SOCKET, address

_LOCK = "server.lock"
_GIVEN = 4  # standard input, output and error, and the working directory
_FAILED = 255


def begin(store: Path, writer: str, compiled: Callable[[], int]) -> None:
    """Leave a server behind for the build of a store, where it asks for one and has none; ``writer`` is the module that
    a compilation needs, ``compiled`` does what ``sys.argv`` and the environment ask for.
    """
    if SERVED not in os.environ or not hasattr(os, "pidfd_open"):
        return
    with suppress(OSError):
        lock = os.open(store / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            session = os.pidfd_open(os.getsid(0))
            if os.fork() == 0:
                _serve(store, writer, compiled, lock, session)
        finally:
            os.close(lock)


def _serve(
    store: Path, writer: str, compiled: Callable[[], int], lock: int, session: int
) -> NoReturn:
    """Answer until the session's leader has ended; nothing of the first compilation's is kept open."""
    try:
        _let_go(lock, session)
        importlib.import_module(writer)
        gc.freeze()
        folder = os.open(store, os.O_RDONLY | os.O_DIRECTORY)
        with suppress(FileNotFoundError):
            os.unlink(SOCKET, dir_fd=folder)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
            listening.bind(address(folder))
            listening.listen()
            _answer(listening, session, compiled)
    finally:
        os._exit(0)


def _let_go(lock: int, session: int) -> None:
    """Close all that the first compilation was given: whoever reads what it prints waits for the end of that."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    kept = sorted({lock, session})
    for first, end in zip([2, *kept], [*kept, os.sysconf("SC_OPEN_MAX")], strict=True):
        os.closerange(first + 1, end)
    os.chdir("/")


def _answer(listening: socket.socket, session: int, compiled: Callable[[], int]) -> None:
    poll = select.poll()
    poll.register(listening, select.POLLIN)
    poll.register(session, select.POLLIN)
    while session not in {number for number, _ in poll.poll()}:
        connection, _ = listening.accept()
        with connection:
            if os.fork() == 0:
                _compile(connection, compiled)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _compile(connection: socket.socket, compiled: Callable[[], int]) -> NoReturn:
    """One compilation, as if it had been started where it was asked for."""
    status = _FAILED
    try:
        _become(connection)
        status = compiled()
        sys.stdout.flush()
        sys.stderr.flush()
        connection.sendall(bytes([status & 0xFF]))
    finally:
        os._exit(status & 0xFF)


def _become(connection: socket.socket) -> None:
    """Take on the files, folder, arguments and environment of who asks."""
    room = socket.CMSG_SPACE(_GIVEN * array.array("i").itemsize)
    head, carried, _, _ = connection.recvmsg(8, room)
    descriptors = array.array("i")
    for _, _, data in carried:
        descriptors.frombytes(data)
    *standard, here = descriptors
    for number, given in enumerate(standard):
        os.dup2(given, number)
    os.fchdir(here)
    for given in descriptors:
        os.close(given)
    with connection.makefile("rb") as reader:
        text = reader.read(int.from_bytes(head, "little"))
    arguments, environment, mask = marshal.loads(text)  # noqa: S302 - from this build's own afterd-cc
    os.umask(mask)
    sys.argv[1:] = arguments
    os.environ.clear()
    os.environ.update(environment)
