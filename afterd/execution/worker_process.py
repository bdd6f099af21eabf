"""The child's side of ``worker``: answers questions until its parent is gone."""

from __future__ import annotations

import json
import os
import resource
import struct
import sys
import threading
import time
from collections.abc import Callable
from io import FileIO, TextIOWrapper
from typing import Any

CHANNEL_VARIABLE = "AFTERD_CHANNEL"
"""Two descriptors (questions, answers) and the address-space limit in bytes (0: none)."""

HEADER = struct.Struct("<Q")
"""Before each message: its length in bytes. The message is a JSON object in UTF-8."""


def serve(answer: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Answer each question; an exception ends the process, and its last line reaches the parent.

    The channel has descriptors of its own, so a library may print what it likes; it does so line by line, so that
    the exception stands last in the log.
    """
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
    questions_end, answers_end, space = map(int, os.environ.pop(CHANNEL_VARIABLE).split(","))
    if space:
        resource.setrlimit(resource.RLIMIT_AS, (space, space))
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    questions = FileIO(questions_end, "r")
    answers = FileIO(answers_end, "w")
    _send_message(answers, {"ready": True})
    while (question := _receive(questions)) is not None:
        _send_message(answers, answer(question))


def _send_message(pipe: FileIO, message: dict[str, Any]) -> None:
    payload = json.dumps(message).encode()
    for part in (HEADER.pack(len(payload)), payload):
        view = memoryview(part)
        while view:
            view = view[pipe.write(view) :]


def _receive(pipe: FileIO) -> dict[str, Any] | None:
    header = _exactly(pipe, HEADER.size)
    if header is None:
        return None
    payload = _exactly(pipe, HEADER.unpack(header)[0])
    if payload is None:
        return None
    message: dict[str, Any] = json.loads(payload)
    return message


def _exactly(pipe: FileIO, count: int) -> bytes | None:
    """``count`` bytes; None when the parent closed the channel."""
    parts: list[bytes] = []
    while count:
        part = pipe.read(min(count, 1 << 20))
        if not part:
            return None
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _end_with_parent(parent: int) -> None:
    """A killed parent cannot stop us, and a query may run for an hour: look after ourselves."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(0)
