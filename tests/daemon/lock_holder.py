"""A process that tries to be the daemon of a repository: a module of its own, quick to import."""

from __future__ import annotations

from multiprocessing.connection import Connection
from pathlib import Path

from afterd.daemon.instance import only_one
from afterd.errors import BusyError


def be_the_daemon(state: Path, answer: Connection, end: Connection) -> None:
    """Say what stood in the way, or nothing, and stay until ``end`` says something."""
    try:
        with only_one(state):
            answer.send("")
            end.recv()
    except BusyError as error:
        answer.send(str(error))
