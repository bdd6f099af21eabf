"""One slot, and doing one job after the other in it."""

from __future__ import annotations

import dataclasses
import shutil
import threading
import time
from pathlib import Path

from afterd.errors import SpaceError
from afterd.execution.build import Builder, Built
from afterd.execution.executors.protocol import Attempt, Job
from afterd.execution.process import Command, Ending, ProcessResult
from afterd.execution.recipe import Recipe
from afterd.execution.rerunning import Recording, Reruns
from afterd.execution.sandbox import Watch
from afterd.execution.told import Told, test_outcome
from afterd.execution.verdict import unrunnable_reason
from afterd.limits import MIB, ProcessLimits
from afterd.model.outcome import Outcome, Unresolved, Verdict
from afterd.vcs.worktree import Slot

_ROOM = 16 * MIB  # with less than this free, a failure is the disk's and says nothing of the tree
_SHORTEST = 0.01

_REPEATS = frozenset(
    {None, Unresolved.BUILD, Unresolved.UNTESTABLE, Unresolved.OUTPUT, Unresolved.ABORTED}
)
"""What another run of the same tree would show again; time-outs and kills depend on load."""


class Workbench:
    """A slot with its builder; used by one thread at a time."""

    def __init__(
        self,
        slot: Slot,
        scratch: Path | None = None,
        cancelled: threading.Event | None = None,
        reruns: Reruns | None = None,
    ) -> None:
        self.slot = slot
        self._reruns = reruns or Reruns()
        self._scratch = scratch
        self._cancelled = cancelled
        self._builder = Builder(slot, scratch, cancelled)

    def attempt(self, job: Job) -> Attempt:
        """Build, and test where asked.

        Raises SpaceError when the disk is full, and what moving the slot raises.
        """
        deadline = None if job.seconds is None else time.monotonic() + job.seconds
        recipe = job.recipe
        built = self._builder.build(_shortened_recipe(recipe, deadline), job.tree, anew=job.anew)
        if not built.ok:
            self._require_room()
            return _unbuilt_attempt(built, cut_short=_is_past(deadline) or self._is_cancelled())
        if job.build_only:
            passed = Outcome(Verdict.PASS, build_seconds=built.seconds)
            return Attempt(passed, builds=int(built.ran))
        attempt = self._test(_shortened_recipe(recipe, deadline), deadline, job)
        seen = attempt.outcome
        cpu = 0.0 if seen.warm and not job.forked else seen.cpu + built.cpu
        outcome = dataclasses.replace(seen, build_seconds=built.seconds, cpu=cpu)
        return dataclasses.replace(attempt, outcome=outcome, builds=int(built.ran))

    def run(
        self, command: Command, limits: ProcessLimits, watch: Watch | None = None
    ) -> ProcessResult:
        """Run something else in the slot, as a suite whose tests are counted as they end."""
        return self._builder.test(command, limits, watch)

    def recorded(self, recipe: Recipe, recording: Recording) -> ProcessResult | None:
        """A run that records itself in the slot's warm process; None where only a fresh process can record it."""
        return self._reruns.recorded(self.slot.path, recipe, recording, self._scratch)

    def judged(self, result: ProcessResult, recipe: Recipe) -> Attempt:
        """What such a run of the test command showed. Raises SpaceError when the disk is full."""
        return self._judged(result, recipe, None)

    def _test(self, recipe: Recipe, deadline: float | None, job: Job) -> Attempt:
        """In a warm process where that makes no difference, else in one of its own; in none where time
        is up: a quick test would pass before its limit of no time is noticed.
        """
        if _is_past(deadline):
            return Attempt(_not_run(Outcome(Verdict.UNRESOLVED)), lasting=False)
        first, runs = self._first_fork(job, recipe, deadline) if job.forked else (None, 0)
        if first is not None:
            return first
        if not job.fresh and self._reruns.wanted(recipe, job.tree):
            result, warm_runs = self._reruns.run(self.slot.path, recipe, self._scratch)
            runs += warm_runs
            if result is not None:
                warm = self._taken(result, recipe, deadline)
                outcome = dataclasses.replace(warm.outcome, warm=True)
                if self._reruns.agrees(recipe, job.tree, outcome):
                    return dataclasses.replace(warm, outcome=outcome, tests=runs)
        result = self.run(recipe.test_in(self.slot.path), recipe.limits.test)
        fresh = self._taken(result, recipe, deadline)
        self._reruns.note(recipe, job.tree, fresh.outcome)
        return dataclasses.replace(fresh, tests=runs + 1)

    def _first_fork(
        self, job: Job, recipe: Recipe, deadline: float | None
    ) -> tuple[Attempt | None, int]:
        """The first run of a warm process that is made for it, where the test passes so; and how many runs it took."""
        result, runs = self._reruns.probed(self.slot.path, recipe, self._scratch)
        if result is None:
            return None, runs
        seen = self._taken(result, recipe, deadline)
        if not seen.outcome.passed:
            return None, runs
        outcome = dataclasses.replace(seen.outcome, warm=True)
        self._reruns.note(recipe, job.tree, outcome)
        return dataclasses.replace(seen, outcome=outcome, tests=runs), runs

    def _taken(self, result: ProcessResult, recipe: Recipe, deadline: float | None) -> Attempt:
        """What a run showed; its directory is removed."""
        try:
            return self._judged(result, recipe, deadline)
        finally:
            result.remove()

    def _judged(self, result: ProcessResult, recipe: Recipe, deadline: float | None) -> Attempt:
        roots = (str(self.slot.path), str(result.directory))
        outcome, by_test = test_outcome(result, recipe, self.slot.path)
        if not outcome.passed:
            self._require_room()
        if result.ending is Ending.TIMEOUT and _is_past(deadline):
            outcome, by_test = _not_run(outcome), Told()
        return Attempt(
            dataclasses.replace(outcome, cpu=result.cpu_seconds),
            lasting=outcome.reason in _REPEATS and result.ending is not Ending.TIMEOUT,
            unrunnable=unrunnable_reason(result, recipe.test),
            failures=tuple(by_test.failure(test, roots) for test in by_test.failed),
        )

    def _require_room(self) -> None:
        for place in (self.slot.path, self._scratch or self.slot.path):
            if shutil.disk_usage(place).free < _ROOM:
                raise SpaceError(
                    f"Less than {_ROOM // MIB} MiB are free where {place} lies, and a build or test"
                    " failed there; free some space and run afterd again."
                )

    def _is_cancelled(self) -> bool:
        return self._cancelled is not None and self._cancelled.is_set()


def _unbuilt_attempt(built: Built, *, cut_short: bool) -> Attempt:
    reason = Unresolved.LOST if built.lost else Unresolved.BUILD
    outcome = Outcome(Verdict.UNRESOLVED, reason, built.detail, build_seconds=built.seconds)
    if cut_short and not built.lasting:
        return Attempt(_not_run(outcome), lasting=False, builds=1)
    return Attempt(outcome, built.lasting, builds=int(built.ran), missing=built.missing)


def _not_run(outcome: Outcome) -> Outcome:
    """The end of the budget is no property of the tree."""
    return dataclasses.replace(
        outcome, verdict=Verdict.UNRESOLVED, reason=Unresolved.NOT_RUN, signature=None
    )


def _shortened_recipe(recipe: Recipe, deadline: float | None) -> Recipe:
    """The recipe with time limits that end no later than ``deadline``."""
    if deadline is None:
        return recipe
    left = max(_SHORTEST, deadline - time.monotonic())
    limits = dataclasses.replace(
        recipe.limits,
        test=dataclasses.replace(recipe.limits.test, timeout=min(recipe.limits.test.timeout, left)),
        build=dataclasses.replace(
            recipe.limits.build, timeout=min(recipe.limits.build.timeout, left)
        ),
    )
    return dataclasses.replace(recipe, limits=limits)


def _is_past(deadline: float | None) -> bool:
    return deadline is not None and time.monotonic() >= deadline
