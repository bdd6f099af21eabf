"""Long-lived child processes for libraries that can end or poison the process they run in.

z3 after "out of memory" fails every later query, LLVM exits the process on bad inline assembly and
overflows the stack on deep types (reliability.md, section 0, findings 5 and 6). So both answer
questions from a child, and a child that dies is an answer too.

The module that runs in the child ends with::

    if __name__ == "__main__":
        serve(answer)  # from afterd.execution.worker_process
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

from afterd.execution import sandbox
from afterd.execution.environment import scrubbed_environment
from afterd.execution.losses import tell_loss
from afterd.execution.process import signal_name
from afterd.execution.worker_process import CHANNEL_VARIABLE, HEADER
from afterd.limits import MIB, WorkerLimits

Message = dict[str, Any]

_CHUNK = MIB
_LOG_KEPT = 4 * MIB


class Death(StrEnum):
    """Why a child gave no answer."""

    TIMEOUT = "took longer than its limit"
    SIGNAL = "died of a signal"
    EXIT = "exited"
    START = "did not start"
    MESSAGE = "sent no message of ours"


@dataclass(frozen=True, slots=True)
class Reply:
    """The child's answer and how long it took."""

    value: Message
    seconds: float


@dataclass(frozen=True, slots=True)
class Died:
    """The child is gone; the next question starts another. ``detail`` is a phrase for a reader."""

    reason: Death
    detail: str
    signal: int = 0


@dataclass(frozen=True, slots=True)
class _Child:
    """A running child and our two ends of its channel."""

    process: sandbox.Child
    questions: int
    answers: int


class Worker:
    """One child running ``module``; started by the first question, replaced after a death.

    Questions from several threads wait for one another. Close it, or use it with ``with``.
    """

    def __init__(
        self,
        module: str,
        limits: WorkerLimits | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.module = module
        self.limits = limits or WorkerLimits()
        self.deaths = 0
        self._environment = dict(scrubbed_environment() if environment is None else environment)
        self._directory = Path(tempfile.mkdtemp(prefix="afterd-worker-"))
        self._lock = threading.Lock()
        self._child: _Child | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()

    def ask(self, request: Message, seconds: float | None = None) -> Reply | Died:
        """The child's answer to ``request`` within ``seconds`` (default: the worker's limit).

        Past that the child is killed. A child that somebody else killed is replaced, and asked
        again. Raises SandboxError only where no process can be started.
        """
        payload = json.dumps(request).encode()
        for number in range(1, self.limits.repeats + 1):
            answer = self._asked(payload, seconds)
            if isinstance(answer, Reply) or answer.signal != signal.SIGKILL:
                return answer
            tell_loss(f"The process of {self.module}", answer.detail, number, self.limits.repeats)
        return self._asked(payload, seconds)

    def _asked(self, payload: bytes, seconds: float | None) -> Reply | Died:
        with self._lock:
            child = self._child or self._start()
            if isinstance(child, Died):
                return child
            self._child = child
            self._trim_log()
            began = time.monotonic()
            deadline = began + (self.limits.request if seconds is None else seconds)
            answer = self._converse(child, payload, deadline)
            if isinstance(answer, Died):
                return self._bury(answer)
            return Reply(answer, time.monotonic() - began)

    def close(self) -> None:
        """End the child and remove its directory; a closed worker can be asked again."""
        with self._lock:
            if self._child is not None:
                self._discard(self._child)
            shutil.rmtree(self._directory, ignore_errors=True)

    def _start(self) -> _Child | Died:
        """Start a child and wait until its module is imported."""
        self._directory.mkdir(exist_ok=True)
        question_end, questions = os.pipe()
        answers, answer_end = os.pipe()
        try:
            process = sandbox.start(
                (sys.executable, "-X", "faulthandler", "-m", self.module),
                self._channel_environment(question_end, answer_end),
                self._log,
                (question_end, answer_end),
            )
        finally:
            os.close(question_end)
            os.close(answer_end)
        os.set_blocking(questions, False)
        os.set_blocking(answers, False)
        child = _Child(process, questions, answers)
        ready = self._receive(child, time.monotonic() + self.limits.start)
        if isinstance(ready, Died):
            self._child = child
            died = self._bury(ready)
            return Died(Death.START, died.detail, died.signal)
        return child

    def _channel_environment(self, question_end: int, answer_end: int) -> dict[str, str]:
        path = os.pathsep.join(
            filter(None, (sandbox.PACKAGE_ROOT, self._environment.get("PYTHONPATH")))
        )
        space = self.limits.address_space or 0
        channel = f"{question_end},{answer_end},{space}"
        return {**self._environment, "PYTHONPATH": path, CHANNEL_VARIABLE: channel}

    def _converse(self, child: _Child, payload: bytes, deadline: float) -> Message | Died:
        if died := _write(child.questions, HEADER.pack(len(payload)), deadline):
            return died
        if died := _write(child.questions, payload, deadline):
            return died
        return self._receive(child, deadline)

    def _receive(self, child: _Child, deadline: float) -> Message | Died:
        header = _read(child.answers, HEADER.size, deadline)
        if isinstance(header, Died):
            return header
        (length,) = HEADER.unpack(header)
        if length > self.limits.message:
            return Died(Death.MESSAGE, f"announced a message of {length} bytes")
        payload = _read(child.answers, length, deadline)
        if isinstance(payload, Died):
            return payload
        try:
            message = json.loads(payload)
        except ValueError as error:
            return Died(Death.MESSAGE, f"sent what is not JSON: {error}")
        return message if isinstance(message, dict) else Died(Death.MESSAGE, "sent no object")

    def _bury(self, died: Died) -> Died:
        """Kill and collect the child; how it really ended, where it ended by itself."""
        assert self._child is not None
        self.deaths += 1
        child = self._child
        if died.reason is Death.EXIT:  # the channel closed: it is ending by itself
            sandbox.wait(child.process, seconds=2.0)
        status = child.process.poll()
        self._discard(child)
        if died.reason is not Death.EXIT or status is None:
            return died
        if status < 0:
            return Died(Death.SIGNAL, f"died of {signal_name(-status)}", -status)
        return Died(Death.EXIT, f"exited with status {status}{self._last_words()}")

    def _discard(self, child: _Child) -> None:
        self._child = None
        os.close(child.questions)
        os.close(child.answers)
        sandbox.kill(child.process)

    @property
    def _log(self) -> Path:
        return self._directory / "log"

    def _last_words(self) -> str:
        lines = self._log.read_text(errors="replace").splitlines()
        return f": {lines[-1][:300]}" if lines else ""

    def _trim_log(self) -> None:
        """What a library prints goes to the log, and the log must not fill the disk."""
        if self._log.stat().st_size > _LOG_KEPT:
            os.truncate(self._log, 0)


def _write(descriptor: int, payload: bytes, deadline: float) -> Died | None:
    view = memoryview(payload)
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    while view:
        if not poll.poll(_milliseconds(deadline)):
            return Died(Death.TIMEOUT, Death.TIMEOUT.value)
        try:
            view = view[os.write(descriptor, view[:_CHUNK]) :]
        except BlockingIOError:
            continue
        except BrokenPipeError:
            return Died(Death.EXIT, "closed its channel")
    return None


def _read(descriptor: int, count: int, deadline: float) -> bytes | Died:
    parts: list[bytes] = []
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    while count:
        if not poll.poll(_milliseconds(deadline)):
            return Died(Death.TIMEOUT, Death.TIMEOUT.value)
        part = os.read(descriptor, min(count, _CHUNK))
        if not part:
            return Died(Death.EXIT, "closed its channel")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _milliseconds(deadline: float) -> float:
    return max(0.0, 1000 * (deadline - time.monotonic()))
