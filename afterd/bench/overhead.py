"""What watching costs: a traced run against a plain one, a forked test against a fresh process."""

from __future__ import annotations

import shlex
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from afterd.config import Settings, shell
from afterd.execution.process import Command, ProcessResult
from afterd.execution.sandbox import run
from afterd.limits import ProcessLimits
from afterd.model.progress import Silent
from afterd.pipeline.broken import which_broke
from afterd.pipeline.tracing import traced_failure
from afterd.trace.python.stage import WarmPython
from afterd.vcs.sample import fixtures_directory, materialise
from afterd.vcs.worktree import Slot
from afterd.workspace import FailingTest, Range, Workspace, opened_workspace, wanted_range

C_SAMPLE = "brindle", "long-run"
PYTHON_SAMPLE = "sluice", "slice"
_O0 = "make CFLAGS='-O0 -g'"
_REPEATS = 5


@dataclass(frozen=True, slots=True)
class Comparison:
    """The same thing done plainly and by afterd, in seconds. ``note`` where there is more to say;
    both zero where it could not be done, and ``note`` says why.
    """

    what: str
    plain: float = 0.0
    watched: float = 0.0
    note: str = ""

    @property
    def ratio(self) -> float:
        """How many times as long; 0 where nothing was measured."""
        return self.watched / self.plain if self.plain else 0.0


@dataclass(frozen=True, slots=True)
class _Opened:
    """A sample ready to run."""

    workspace: Workspace
    wanted: Range
    test: FailingTest

    @property
    def trees(self) -> tuple[str, str]:
        """The good version's and the bad one's."""
        return self.wanted.variants.tree(self.wanted.everything), self.wanted.variants.bad


def overheads() -> Iterator[Comparison]:
    """Every comparison, as soon as it is made."""
    with _sample(C_SAMPLE, shell(_O0)) as sample:
        yield from _tracing("C, -O0", sample)
    with _sample(PYTHON_SAMPLE) as sample:
        yield from _tracing("Python", sample)
        yield _fork_comparison(sample)


@contextmanager
def _sample(sample: tuple[str, str], build: tuple[str, ...] = ()) -> Iterator[_Opened]:
    """A scenario in a directory that is removed; its test is run without a shell."""
    with tempfile.TemporaryDirectory(prefix="afterd-bench-", ignore_cleanup_errors=True) as place:
        made = materialise(fixtures_directory() / sample[0], sample[1], Path(place) / "repository")
        settings = Settings(
            repository=made.path,
            range=f"{made.good}..{made.bad}",
            build=build,
            test=tuple(map(_this_python, shlex.split(made.scenario.test))),
        )
        with opened_workspace(settings) as workspace:
            wanted = wanted_range(workspace, settings)
            (test,) = which_broke(workspace, settings, wanted, Silent()).tests
            yield _Opened(workspace, wanted, test)


def _this_python(word: str) -> str:
    return sys.executable if word == "python" else word


def _tracing(language: str, sample: _Opened) -> Iterator[Comparison]:
    """Build and test of both versions together; of repeated runs the quickest."""
    plain = [_plain_seconds(sample, tree) for tree in sample.trees]
    first, *later = [_traced_seconds(sample) for _ in range(_REPEATS)]
    test = min(later)
    if sample.test.recipe.build:
        built = sum(build for build, _ in plain)
        yield Comparison(f"{language}: build of both versions", built, first - test)
    ran = sum(run for _, run in plain)
    yield Comparison(f"{language}: failing run and green run", ran, test)


def _plain_seconds(sample: _Opened, tree: str) -> tuple[float, float]:
    """Seconds of a build from nothing and of the quickest test."""
    slot, recipe, limits = _slot(sample, tree), sample.test.recipe, sample.workspace.limits
    build = _seconds(recipe.build_in(slot.path), limits.build) if recipe.build else 0.0
    test = recipe.test_in(slot.path)
    return build, min(_seconds(test, limits.test) for _ in range(_REPEATS))


def _slot(sample: _Opened, tree: str) -> Slot:
    """A directory with the tree in it, for this alone."""
    slot = Slot(sample.workspace.state / "plain" / tree, sample.workspace.objects)
    slot.move_to(tree)
    return slot


def _seconds(command: Command, limits: ProcessLimits) -> float:
    result = run(command, limits)
    result.remove()
    return result.seconds


def _traced_seconds(sample: _Opened) -> float:
    """Seconds of build and test under the tracer; only the first time is anything built."""
    return traced_failure(sample.workspace, sample.wanted, sample.test, Silent()).seconds


def _fork_comparison(sample: _Opened) -> Comparison:
    """The test run in a fresh process, and in a fork of a warm one; the quickest of each."""
    what = "Python: the test run again, by a fork"
    slot, limits = _slot(sample, sample.wanted.variants.bad), sample.workspace.limits.test
    command = sample.test.recipe.test_in(slot.path)
    fresh = min(_costs(run(command, limits)) for _ in range(_REPEATS))
    with WarmPython(command, slot.path, sample.workspace.state / "warm", limits) as warm:
        if warm.cold:
            return Comparison(what, note=f"not measured: {warm.cold}")
        runs = [(*_costs(warm.run()), warm.added) for _ in range(_REPEATS)]
    seconds, cpu, added = (min(each) for each in zip(*runs, strict=True))
    left = f"; {', '.join(warm.left_out)} imported by each run" if warm.left_out else ""
    note = f"adds {1000 * added:.0f} ms to the test's own; CPU {fresh[1]:.2f} and {cpu:.2f} s{left}"
    return Comparison(what, fresh[0], seconds, note)


def _costs(result: ProcessResult) -> tuple[float, float]:
    """Seconds on the wall and of the processor."""
    result.remove()
    return result.seconds, result.cpu_seconds
