"""Building both versions with afterd-cc, running the test on them, and reading the two traces together."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from afterd.errors import TraceError
from afterd.execution.build import diagnostics
from afterd.execution.process import Command, Ending
from afterd.execution.recipe import Recipe
from afterd.execution.sandbox import run
from afterd.execution.toolchain import Toolchain
from afterd.limits import ProcessLimits
from afterd.model.change import Change
from afterd.tracing.kept import keep, key_of, taken_up
from afterd.tracing.llvm.execution import LlvmExecution
from afterd.tracing.llvm.modules import ModuleStore
from afterd.tracing.llvm.process import Process, pairs, recorded
from afterd.tracing.llvm.program import Program
from afterd.tracing.llvm.recording import Recording
from afterd.tracing.llvm.replay import WATCH, Reexecution
from afterd.tracing.llvm.source import Sources
from afterd.tracing.llvm.traced_build import environment, prepare, recording_into
from afterd.vcs.worktree import Slot

RECORD_BYTES = 16
_MARK = "complete"
_REPLAYS = "replays"


@dataclass(frozen=True, slots=True)
class TraceRequest:
    """What to trace: the two trees, how they are built and tested, and the changes between them.

    ``directory`` is where traced builds live (below afterd's state); ``slots`` are the work trees of
    the good and the bad version, used for nothing else. ``work`` names the piece of work that takes
    up what it recorded before it was killed; empty: everything is recorded anew.
    """

    good_tree: str
    bad_tree: str
    slots: tuple[Slot, Slot]
    recipe: Recipe
    changes: Sequence[Change]
    toolchain: Toolchain
    directory: Path
    work: str = ""


@dataclass(frozen=True, slots=True)
class TracedVersion:
    """One version, built with afterd-cc and run: its program and its processes' recordings."""

    root: Path
    program: Program
    recordings: tuple[Recording, ...]
    build_seconds: float
    test_seconds: float


@dataclass(frozen=True, slots=True)
class Traced:
    """The execution and what it cost."""

    execution: LlvmExecution
    build_seconds: float
    test_seconds: float


def trace(request: TraceRequest) -> Traced:
    """Trace the failing run and the green one.

    Raises TraceError when nothing was traced: the program is not C or C++, or does not build with
    clang; the message says which.
    """
    sides = (
        (request.bad_tree, request.slots[1], "bad"),
        (request.good_tree, request.slots[0], "good"),
    )
    with ThreadPoolExecutor(len(sides)) as both:  # a configure script keeps one core busy
        seconds = list(both.map(lambda side: _build(request, *side), sides))
    bad, good = (
        _version(request, *side, spent) for side, spent in zip(sides, seconds, strict=True)
    )
    if not bad.recordings:
        message = (
            "The failing test started no program that was built with afterd-cc;"
            " without a trace only reversion is possible."
        )
        raise TraceError(message)
    for version, side in zip((bad, good), sides, strict=True):
        _allow_replay(request, version, *side[:2])
    paired = list(pairs(bad.recordings, good.recordings))
    for mine, other in paired:
        if other:
            other.reach(mine.first, mine.end)
    processes = [
        (Process(mine, bad.program), Process(other, good.program) if other else None)
        for mine, other in paired
    ]
    execution = LlvmExecution(processes, request.changes, Sources(good.root), Sources(bad.root))
    return Traced(
        execution, max(bad.build_seconds, good.build_seconds), bad.test_seconds + good.test_seconds
    )


def _version(
    request: TraceRequest, tree: str, slot: Slot, name: str, built: float
) -> TracedVersion:
    """Run the test of a version that was built, which took ``built`` seconds."""
    directory = request.directory / name
    store = ModuleStore(directory / "build")
    runs = directory / "run"
    key = _key(request, tree, slot)
    told = taken_up(runs, key)
    if told is None:
        shutil.rmtree(directory / _REPLAYS, ignore_errors=True)
        told = {"seconds": _test(request, slot, store, runs)}
        keep(runs, key, told)
    root = (slot.path / request.recipe.folder).resolve()
    program = Program(store, slot.path.resolve())
    found = tuple(Recording(path) for path in recorded(runs))
    return TracedVersion(root, program, found, built, told["seconds"])


def _key(request: TraceRequest, tree: str, slot: Slot, *more: object) -> str:
    """What a recording of a tree's test depends on, the build apart: its folder goes with it."""
    command = request.recipe.test_in(slot.path)
    environment = sorted(command.environment.items())
    return key_of(request.work, tree, command.argv, command.cwd, environment, *more)


def _build(request: TraceRequest, tree: str, slot: Slot, name: str) -> float:
    """Build a tree with afterd-cc, unless that was done before; the seconds it took."""
    directory = request.directory / name
    mark = directory / _MARK
    key = f"{tree} {request.recipe.build_key} {request.toolchain.version}"
    if mark.exists() and mark.read_text() == key and slot.tree == tree:
        return 0.0
    shutil.rmtree(directory, ignore_errors=True)
    (directory / "build").mkdir(parents=True)
    slot.move_to(tree)
    slot.hard_reset()
    store = prepare(directory / "build", request.toolchain)
    seconds = 0.0
    if request.recipe.build:
        command = request.recipe.build_in(slot.path)
        traced = replace(command, environment=environment(store, command.environment))
        result = run(traced, request.recipe.limits.build)
        seconds = result.seconds
        try:
            if not result.succeeded:
                first = (diagnostics(result.stdout.text(), 1) or result.describe()).strip()
                message = f"The traced build with clang fails ({first}); without a trace only reversion is possible."
                raise TraceError(message)
        finally:
            result.remove()
    mark.write_text(key)
    return seconds


def _allow_replay(request: TraceRequest, version: TracedVersion, tree: str, slot: Slot) -> None:
    """Let the recordings that were cut ask for what came before their window."""
    store = version.program.store

    def rerun(settings: Mapping[str, str]) -> Path:
        runs = store.directory.with_name("new")  # as long as "run": addresses depend on it
        key = _key(request, tree, slot, sorted(settings.items()))
        kept = store.directory.with_name(_REPLAYS) / key
        if taken_up(kept, key) is None:
            _test(request, slot, store, runs, settings)
            for ring in runs.glob("*/ring") if WATCH in settings else ():  # that is kept apart
                ring.unlink()
            if not key:
                return runs
            keep(runs, key, {})
            shutil.rmtree(kept, ignore_errors=True)
            kept.parent.mkdir(exist_ok=True)
            runs.rename(kept)
        return kept

    for recording in version.recordings:
        if recording.first:
            limits = request.recipe.limits.trace
            recording.replay = Reexecution(
                rerun, recording.number, limits.reexecutions, limits.reexecution
            )


def _test(
    request: TraceRequest,
    slot: Slot,
    store: ModuleStore,
    runs: Path,
    extra: Mapping[str, str] | None = None,
) -> float:
    """Run the test once with recording switched on, into ``runs`` made anew; the seconds it took."""
    shutil.rmtree(runs, ignore_errors=True)
    runs.mkdir(parents=True)
    limits = request.recipe.limits
    command = request.recipe.test_in(slot.path)
    settings = {
        "AFTERD_RING": str(limits.trace.window),
        "AFTERD_BLOCKS": str(store.blocks()),
        **(extra or {}),
    }
    traced = Command(
        command.argv,
        command.cwd,
        {**environment(store, command.environment), **recording_into(runs, settings)},
        fixed_addresses=True,
    )
    kept = 4 * limits.trace.window * RECORD_BYTES
    budget: ProcessLimits = replace(
        limits.test,
        timeout=limits.test.timeout * limits.trace.slowdown,
        silence=None,
        file_size=max(limits.test.file_size, kept),
        memory=max(limits.test.memory, kept),
    )
    result = run(traced, budget)
    try:
        if result.ending in {Ending.NOT_STARTED, Ending.LOST}:
            message = f"The traced test could not be run ({result.describe()})."
            raise TraceError(message)
        return result.seconds
    finally:
        result.remove()
