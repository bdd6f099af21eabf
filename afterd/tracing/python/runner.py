"""Runs the test of one version under the tracer, in the user's own interpreter."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from afterd.errors import TraceError
from afterd.execution import sandbox
from afterd.execution.process import Command, ProcessResult
from afterd.tracing.python.request import PythonTraceRequest
from afterd.tracing.python.runtime.settings import Settings
from afterd.tracing.python.staging import environment_for, stage
from afterd.tracing.python.tracefile import Raw, read


@dataclass(frozen=True, slots=True)
class Recorded:
    """The traces of a run's processes, the test's own first, and how the run ended."""

    traces: tuple[Raw, ...]
    status: int | None
    seconds: float
    output: str


def record(
    request: PythonTraceRequest,
    tree: Path,
    name: str,
    *,
    mode: str = "trace",
    cancelled: Event | None = None,
) -> Recorded:
    """Run the command in ``tree`` and read what was recorded (counted, in mode ``count``).

    Raises TraceError when no process wrote a trace: Python was not started, was started with ``-I``
    or ``-E`` (which shut the tracer out), or was killed; setting ``cancelled`` kills it.
    """
    out = request.directory / name
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    settings = _settings(request, tree, out, mode)
    path = out / "settings.json"
    settings.write(path)
    result = _run(request, tree, path, cancelled)
    try:
        traces = [read(header) for header in out.glob("trace-*.json")]
        if not traces:
            raise TraceError(_nothing(request, result))
        traces.sort(key=_telling)
        return Recorded(tuple(traces), result.status, result.seconds, result.stdout.text())
    finally:
        result.remove()


def _settings(request: PythonTraceRequest, tree: Path, out: Path, mode: str) -> Settings:
    return Settings(
        mode=mode,
        tree=str(tree.resolve()),
        out=str(out.resolve()),
        cache=str((request.directory / "cache").resolve()),
        original=str(request.original.resolve()) if request.original else "",
        head=request.head,
        tail=request.tail,
        excluded=request.excluded,
        share=request.share,
        shares=request.shares,
    )


def _run(
    request: PythonTraceRequest, tree: Path, settings: Path, cancelled: Event | None
) -> ProcessResult:
    runtime = stage(request.directory / "staged")
    paths = tuple((tree / folder).resolve() for folder in request.pythonpath)
    environment = environment_for(request.environment, runtime.resolve(), settings.resolve(), paths)
    command = Command(request.command, (tree / request.folder).resolve(), environment, merge=True)
    return sandbox.run(command, request.limits, cancelled=cancelled)


def _telling(raw: Raw) -> tuple[bool, int]:
    """A process that saw a failure first, then the one that did most."""
    return (not raw.header["failures"], -raw.total)


def _nothing(request: PythonTraceRequest, result: ProcessResult) -> str:
    return (
        f"Nothing was traced: the command {' '.join(request.command)!r} {result.describe()} and no"
        " Python process of it wrote a trace; without a trace only reversion is possible."
    )
