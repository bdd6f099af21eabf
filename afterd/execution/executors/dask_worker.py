"""The side of a Dask worker: slots of its own, and objects out of the packs that it is sent."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pygit2
from distributed import WorkerPlugin, get_worker

from afterd.execution.compiler_shims import path_with_compiler
from afterd.execution.executors.local import LocalExecutor
from afterd.execution.executors.protocol import Attempt, Job
from afterd.execution.recipe import Recipe
from afterd.vcs.object_store import Pack, keep
from afterd.vcs.worktree import Slot


class Slots(WorkerPlugin):  # type: ignore[misc] # distributed has no types
    """One session's slots on a worker, a slot for each of its threads.

    The scheduler gives it to every worker once, those that join later too: so ``base``, the pack of
    a whole tree, travels once to each, and jobs bring only what their tree has beyond it.
    """

    def __init__(self, session: str, base: Pack) -> None:
        self.name = session
        self._base = base

    def setup(self, worker: Any) -> None:  # noqa: ANN401 - distributed has no types
        """Make the object store and the slots."""
        self._folder = Path(worker.local_directory, self.name)
        objects = self._folder / "objects.git"
        self._objects = objects
        pygit2.init_repository(objects, bare=True)
        keep(objects, self._base)
        self._base = Pack()  # it is on the disk now
        slots = [
            Slot(self._folder / "slots" / str(number), pygit2.Repository(objects))
            for number in range(worker.state.nthreads)
        ]
        scratch = self._folder / "scratch"
        scratch.mkdir()
        self._executor = LocalExecutor(slots, scratch)

    async def teardown(self, worker: Any) -> None:  # noqa: ANN401 - distributed has no types
        """End what is under way and remove everything."""
        del worker
        await asyncio.to_thread(self._executor.close)
        await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)

    def attempt(self, job: Job, beyond: Pack) -> Attempt:
        """Run a job whose tree is the base and what is ``beyond`` it."""
        keep(self._objects, beyond)
        recipe = self._here(job.recipe)
        with self._executor.workbench(job.tree) as bench:
            return bench.attempt(replace(job, recipe=recipe))

    def _here(self, recipe: Recipe) -> Recipe:
        """The recipe with this machine's PATH: the other's may name folders that are not here."""
        if "PATH" not in recipe.extra:
            return recipe
        path = path_with_compiler(self._folder / "compiler")
        return replace(recipe, extra={**recipe.extra, "PATH": path})


def attempt(session: str, job: Job, beyond: Pack) -> Attempt:
    """What a task calls on the worker that it was given to."""
    slots: Slots = get_worker().plugins[session]
    return slots.attempt(job, beyond)
