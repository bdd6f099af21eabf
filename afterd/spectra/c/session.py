"""Building a tree with counters, and running commands of it that count.

Programs that pytest's tests start, told apart by a plugin of ours (``afterd_counts``).
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event

from afterd.errors import TraceError
from afterd.execution.build import diagnostics
from afterd.execution.process import Command, ProcessResult
from afterd.execution.recipe import Recipe
from afterd.execution.runners.plugins import afterd_counts
from afterd.execution.sandbox import run
from afterd.execution.toolchain import Toolchain
from afterd.limits import ProcessLimits
from afterd.spectra.c.build import USUAL, counting_into, prepared_store, wrapped_command
from afterd.spectra.c.counts import Process, processes
from afterd.trace.c.build.modules import ModuleStore
from afterd.trace.c.build.traced_build import environment
from afterd.vcs.worktree import Slot

_MARK = "complete"


@dataclass(frozen=True, slots=True)
class CountedBuild:
    """A tree built with counters of ``bits`` bits, in ``root``."""

    store: ModuleStore
    root: Path
    bits: int = USUAL


@dataclass(frozen=True, slots=True)
class CountedRun:
    """How a command ended (the result is the caller's to remove) and the processes that counted.

    Those that tests of pytest started are in ``tests``, all others in ``processes``.
    """

    result: ProcessResult
    processes: tuple[Process, ...]
    tests: tuple[PytestTest, ...]


def counted_build(
    recipe: Recipe, tree: str, slot: Slot, toolchain: Toolchain, directory: Path, bits: int = USUAL
) -> CountedBuild:
    """Build ``tree`` in ``slot`` with counters, unless that was done before.

    The slot and ``directory`` are used for nothing else. TraceError where the build fails.
    """
    mark = directory / _MARK
    key = f"{tree} {recipe.build_key} {toolchain.version} {bits}"
    made = CountedBuild(ModuleStore(directory / "build"), slot.path.resolve(), bits)
    if mark.exists() and mark.read_text() == key and slot.tree == tree:
        return made
    shutil.rmtree(directory, ignore_errors=True)
    slot.move_to(tree)
    slot.hard_reset()
    command = recipe.build_in(slot.path)
    prepared_store(directory / "build", toolchain, command.environment, bits)
    if recipe.build:
        _build(command, made.store, recipe.limits.build, slot)
    mark.write_text(key)
    return made


def _build(command: Command, store: ModuleStore, limits: ProcessLimits, slot: Slot) -> None:
    wanted = replace(command, environment=environment(store, command.environment))
    result = run(wanted, limits, anew=slot.hard_reset)
    try:
        if not result.succeeded:
            first = (diagnostics(result.stdout.text(), 1) or result.describe()).strip()
            raise TraceError(
                f"The build with counters fails ({first}); the program has to build with clang."
            )
    finally:
        result.remove()


def counted_run(
    made: CountedBuild,
    command: Command,
    limits: ProcessLimits,
    directory: Path,
    cancelled: Event | None = None,
) -> CountedRun:
    """Run ``command`` with counters; ``directory`` is made anew for them and removed.

    Setting ``cancelled`` ends the run.
    """

    def anew() -> None:
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)

    anew()
    counting = {
        **environment(made.store, command.environment),
        **counting_into(directory),
        **telling_apart(command.environment),
    }
    argv = wrapped_command(command.argv, directory)
    wanted = replace(command, argv=argv, environment=counting)
    result = run(wanted, limits, cancelled=cancelled, anew=anew)
    try:
        counted, tests = processes(directory, made.bits), pytest_tests(directory, made.bits)
        return CountedRun(result, tuple(counted), tuple(tests))
    finally:
        shutil.rmtree(directory, ignore_errors=True)


_PLUGIN = afterd_counts.__name__.rpartition(".")[2]
_FOLDER = str(Path(afterd_counts.__file__).parent)


@dataclass(frozen=True, slots=True)
class PytestTest:
    """A test by its node id, and the counted processes that it started."""

    name: str
    failed: bool
    processes: tuple[Process, ...]


def telling_apart(base: Mapping[str, str]) -> Mapping[str, str]:
    """The variables with which any pytest that a command starts loads the plugin."""
    paths = filter(None, (base.get("PYTHONPATH"), _FOLDER))
    plugins = filter(None, (base.get("PYTEST_PLUGINS"), _PLUGIN))
    return {"PYTHONPATH": os.pathsep.join(paths), "PYTEST_PLUGINS": ",".join(plugins)}


def pytest_tests(directory: Path, bits: int) -> list[PytestTest]:
    """The tests of a run that counted into ``directory``, in the order in which they ended."""
    files = directory.glob(f"*/{afterd_counts.FILE_NAME}")
    return [_read(path, bits) for path in sorted(files, key=lambda path: path.stat().st_mtime_ns)]


def _read(path: Path, bits: int) -> PytestTest:
    said = json.loads(path.read_text(encoding="utf-8"))
    return PytestTest(said["id"], said["failed"], tuple(processes(path.parent, bits)))
