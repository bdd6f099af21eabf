"""Runs the test of one version under the tracer, in the user's own interpreter.

What to trace: a test command, and how it is run in a tree.

The runtime where a target interpreter finds it, and the environment that makes it start.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import Event
from typing import Any

from afterd.errors import TraceError
from afterd.execution import sandbox
from afterd.execution.process import Command, ProcessResult
from afterd.execution.rerunning import Recording
from afterd.limits import ProcessLimits
from afterd.model.outcome import Outcome
from afterd.trace.kept import keep, key_of, outcome_of, taken_up
from afterd.trace.python.read.tracefile import Raw, read
from afterd.trace.python.record.replacing import Replacement
from afterd.trace.python.record.settings import VARIABLE, Settings
from afterd.trace.python.stage.command import beside_own_paths


@dataclass(frozen=True, slots=True)
class PythonTraceRequest:
    """How the test is run in the tree of any version.

    ``command`` is run in the tree's ``folder``: ``pytest …``,
    ``python -m unittest …``, ``python script.py`` or anything that starts Python. ``environment``
    is complete (see ``execution.environment.scrubbed``); ``pythonpath`` are folders of the tree
    to be put first on the import path. ``test`` is the failing test's id, empty for a whole
    command. ``original`` is the user's own checkout: an editable install points there, and its
    entries on the import path are moved to the tree that is traced. ``directory`` takes traces
    and the code cache. ``head`` and ``tail`` bound the trace, in chunks of 32,768 rows; a run
    that outgrew them is repeated with room for all it needs, up to ``most`` rows. ``excluded``
    folders of the tree are not the program's; a trace has the files of folders ``beside`` it too, where the
    test lies. Of the tests, those of share ``share`` of ``shares`` are
    run (in mode ``count``). A run is ended after about ``stop`` rows (0: it ends by itself),
    where it is known to hang, or after ``bound``.
    ``work`` names the piece of work, with the tree, that takes up what it recorded before it was
    killed; empty: everything is recorded anew. ``replaced`` is a value of the run that is set to another.
    ``warm`` records a run in a fork of a warm process, and gives None where that cannot be; ``judged`` says what a run
    showed.
    """

    command: tuple[str, ...]
    environment: Mapping[str, str]
    directory: Path
    test: str = ""
    folder: str = "."
    pythonpath: tuple[str, ...] = ()
    original: Path | None = None
    limits: ProcessLimits = field(default_factory=ProcessLimits)
    head: int = 8
    tail: int = 24
    most: int = 5_000_000
    excluded: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    share: int = 0
    shares: int = 1
    work: str = ""
    stop: int = 0
    bound: int = 0
    replaced: Replacement | None = None
    warm: Callable[[Recording], ProcessResult | None] | None = None
    judged: Callable[[Recording, ProcessResult], Outcome] | None = None


_RUNTIME = Path(__file__).parents[1] / "record"
_START = "sitecustomize_start.py"
_OWN_PATHS = "AFTERD_TRACE_PATH"
"""The variable that holds what must come first on ``PYTHONPATH``, for a shell's text that sets that itself."""
OLDER_PYTHON = "older-python"
"""Beside the settings: the version of a Python that is too old to be traced."""
PACKAGE = "afterd_runtime"
PYTEST_PLUGIN = f"{PACKAGE}.pytest_plugin"


def stage(directory: Path) -> Path:
    """A folder below ``directory`` to put on PYTHONPATH, made once a version of the runtime."""
    sources = sorted(path for path in _RUNTIME.rglob("*.py"))
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:12]
    target = directory / f"runtime-{digest}"
    if target.exists():
        return target
    directory.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(dir=directory))
    ignored = shutil.ignore_patterns(_START)  # compiled already, for an interpreter of our version
    shutil.copytree(_RUNTIME, partial / PACKAGE, ignore=ignored)
    shutil.copy(_RUNTIME / _START, partial / "sitecustomize.py")
    try:
        partial.rename(target)
    except OSError:  # another run was faster
        shutil.rmtree(partial)
    return target


def environment_for(
    base: Mapping[str, str], runtime: Path, settings: Path, pythonpath: tuple[Path, ...]
) -> dict[str, str]:
    """``base`` with the runtime started in every Python process, and pytest told of its plugin."""
    paths = [str(runtime), *map(str, pythonpath)]
    own = os.pathsep.join(paths)
    if base.get("PYTHONPATH"):
        paths.append(base["PYTHONPATH"])
    plugins = [PYTEST_PLUGIN]
    if base.get("PYTEST_PLUGINS"):
        plugins.append(base["PYTEST_PLUGINS"])
    return {
        **base,
        VARIABLE: str(settings),
        _OWN_PATHS: own,
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTEST_PLUGINS": ",".join(plugins),
    }


@dataclass(frozen=True, slots=True)
class Recorded:
    """The traces of a run's processes, the test's own first, how the run ended, and what it showed, where that was
    asked for.
    """

    traces: tuple[Raw, ...]
    status: int | None
    seconds: float
    output: str
    outcome: Outcome | None = None


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
        told = _recorded_run(request, tree, settings, key, cancelled)
    traces = [read(header) for header in out.glob("trace-*.json")]
    if not traces:
        raise TraceError(_nothing_recorded(request, out, told["ending"]))
    traces.sort(key=_telling_rank)
    outcome = outcome_of(told["outcome"]) if told["outcome"] else None
    return Recorded(tuple(traces), told["status"], told["seconds"], told["output"], outcome)


def _recorded_run(
    request: PythonTraceRequest, tree: Path, settings: Settings, key: str, cancelled: Event | None
) -> Mapping[str, Any]:
    """Run the command into a directory made anew; how it ended, which is noted there."""
    out = Path(settings.out)
    path = out / "settings.json"

    def anew() -> None:
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        settings.write(path)

    anew()
    result, outcome = _run(request, tree, path, cancelled, anew)
    try:
        told = {
            "status": result.status,
            "seconds": result.seconds,
            "output": result.stdout.text(),
            "ending": result.describe(),
            "outcome": asdict(outcome) if outcome else None,
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
        beside=request.beside if mode == "trace" else (),
        share=request.share,
        shares=request.shares,
        stop=request.stop or request.bound,
        replaced=request.replaced,
    )


def _run(
    request: PythonTraceRequest,
    tree: Path,
    settings: Path,
    cancelled: Event | None,
    anew: Callable[[], None],
) -> tuple[ProcessResult, Outcome | None]:
    runtime = stage(request.directory / "staged")
    paths = tuple((tree / folder).resolve() for folder in request.pythonpath)
    environment = environment_for(request.environment, runtime.resolve(), settings.resolve(), paths)
    typed = beside_own_paths(request.command, _OWN_PATHS)
    command = Command(
        typed, (tree / request.folder).resolve(), environment, merge=True, fixed_addresses=True
    )
    version = settings.parent.name  # what is recorded is kept by it
    recording = Recording(command, tree, request.limits.timeout, version)
    result = None
    if request.warm is not None and not request.stop and cancelled is None:
        result = request.warm(recording)
        if result is None:
            anew()
    result = result or sandbox.run(command, request.limits, cancelled=cancelled, anew=anew)
    return result, request.judged(recording, result) if request.judged is not None else None


def _telling_rank(raw: Raw) -> tuple[bool, int]:
    """A process that saw a failure first, then the one that did most."""
    return (not raw.header["failures"], -raw.total)


def _nothing_recorded(request: PythonTraceRequest, out: Path, ending: str) -> str:
    command, noted = " ".join(request.command), out / OLDER_PYTHON
    if noted.exists():
        version = noted.read_text(encoding="utf-8")
        return (
            f"Nothing was traced: the command {command!r} starts Python {version}, and runs are recorded by Python 3.8"
            " and newer alone."
        )
    return f"Nothing was traced: the command {command!r} {ending} and no Python process of it wrote a trace."
