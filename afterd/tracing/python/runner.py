"""Runs the test of one version under the tracer, in the user's own interpreter."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

from afterd.errors import TraceError
from afterd.execution import sandbox
from afterd.execution.process import Command, ProcessResult
from afterd.tracing.kept import keep, key_of, taken_up
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

    What the request's work recorded before it was killed is read, and not run again. Raises
    TraceError when no process wrote a trace: Python was not started, was started with ``-I`` or
    ``-E`` (which shut the tracer out), or was killed; setting ``cancelled`` kills it.
    """
    out = request.directory / name
    settings = _settings(request, tree, out, mode)
    key = key_of(request.work, settings, request.command, sorted(request.environment.items()))
    told = taken_up(out, key)
    if told is None:
        told = _recorded(request, tree, settings, key, cancelled)
    traces = [read(header) for header in out.glob("trace-*.json")]
    if not traces:
        raise TraceError(_nothing(request, told["ending"]))
    traces.sort(key=_telling)
    return Recorded(tuple(traces), told["status"], told["seconds"], told["output"])


def _recorded(
    request: PythonTraceRequest, tree: Path, settings: Settings, key: str, cancelled: Event | None
) -> Mapping[str, Any]:
    """Run the command into a directory made anew; how it ended, which is noted there."""
    out = Path(settings.out)
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    path = out / "settings.json"
    settings.write(path)
    result = _run(request, tree, path, cancelled)
    try:
        told = {
            "status": result.status,
            "seconds": result.seconds,
            "output": result.stdout.text(),
            "ending": result.describe(),
        }
        if cancelled is None or not cancelled.is_set():
            keep(out, key, told)
        return told
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


def _nothing(request: PythonTraceRequest, ending: str) -> str:
    return (
        f"Nothing was traced: the command {' '.join(request.command)!r} {ending} and no"
        " Python process of it wrote a trace; without a trace only reversion is possible."
    )
