"""The entry point: trace the failing run and the green one."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path

from afterd.tracing.python.execution import PythonExecution
from afterd.tracing.python.request import PythonTraceRequest
from afterd.tracing.python.runner import Recorded, record
from afterd.tracing.python.runtime.recorder import CHUNK
from afterd.tracing.python.trace import Trace

ROWS = CHUNK // 2  # in a chunk


@dataclass(frozen=True, slots=True)
class Traced:
    """The execution, and the seconds that its two runs took."""

    execution: PythonExecution
    test_seconds: float


def trace(request: PythonTraceRequest) -> PythonExecution:
    """Trace both versions. Raises TraceError when nothing of the failing run was recorded."""
    return traced(request).execution


def traced(request: PythonTraceRequest) -> Traced:
    """Like ``trace``, with what it cost."""
    bad = _recorded(request, request.bad, "bad")
    good = _recorded(request, request.good, "good")
    cache = request.directory / "cache"
    execution = PythonExecution(
        Trace(bad.traces[0], cache), _partner(bad, good, request), request.changes, request.test
    )
    return Traced(execution, bad.seconds + good.seconds)


def traced_alone(request: PythonTraceRequest) -> PythonExecution:
    """The run of ``bad`` with nothing beside it. Raises TraceError."""
    bad = _recorded(request, request.bad, "alone")
    return PythonExecution(
        Trace(bad.traces[0], request.directory / "cache"), None, (), request.test
    )


def _recorded(request: PythonTraceRequest, tree: Path, name: str) -> Recorded:
    """A run of one version, repeated with a larger window when the first one was too small.

    The analysis goes back to imports and through loops; a hole in the trace hides definitions.
    """
    found = record(request, tree, name)
    most = max(raw.total for raw in found.traces)
    room = (request.head + request.tail) * ROWS
    if not room < most <= request.most:
        return found
    wider = replace(request, tail=math.ceil(most / ROWS) + 1)
    again = record(wider, tree, f"{name}-wide")
    return replace(again, seconds=found.seconds + again.seconds)


def _partner(bad: Recorded, good: Recorded, request: PythonTraceRequest) -> Trace | None:
    """The green process that corresponds to the failing one: started by the same arguments."""
    wanted = [str(item).replace(str(request.bad), "") for item in bad.traces[0].header["argv"]]
    for raw in sorted(good.traces, key=lambda raw: -raw.total):
        argv = [str(item).replace(str(request.good), "") for item in raw.header["argv"]]
        if argv == wanted:
            return Trace(raw, request.directory / "cache")
    return Trace(good.traces[0], request.directory / "cache") if good.traces else None
