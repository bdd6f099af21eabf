"""The spectrum of a C or C++ program: built with counters, each of its tests run once."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event

from afterd.errors import TestError
from afterd.execution.process import Ending, ProcessResult
from afterd.execution.sandbox import run
from afterd.execution.toolchain import find
from afterd.localization.spectrum import Spectrum
from afterd.pipeline.failing import Suite
from afterd.pipeline.ranking.counting import Counting
from afterd.pipeline.ranking.named_tests import NamedTest, each_file, listed
from afterd.pipeline.ranking.results import divided
from afterd.pipeline.ranking.spectrum import CountedTest, spectrum_of_processes
from afterd.tracing.llvm.counters.program import counted_program
from afterd.tracing.llvm.counters.session import CountedBuild, counted_build, counted_run
from afterd.vcs.worktree import Slot

_SKIPPED = 125  # as git bisect run says it
_MOST_OUTPUT = 64 << 20
_ENDED = frozenset([Ending.EXITED, Ending.SIGNALLED])


class NothingCountedError(TestError):
    """No process of the suite had counters: it is no C or C++, or not built by afterd-cc."""


@dataclass(frozen=True, slots=True)
class _Suite:
    """A counted build and what its tests need."""

    made: CountedBuild
    suite: Suite
    directory: Path
    cancelled: Event = field(default_factory=Event)

    def run(self, command: tuple[str, ...], name: str) -> tuple[ProcessResult, CountedTest | None]:
        """Run a command with counters; no test where it was skipped or could not be started."""
        recipe = replace(self.suite.recipe, test=command)
        limits = recipe.limits.test
        wanted = replace(recipe.test_in(self.made.root), merge=True)
        result, processes = counted_run(
            self.made, wanted, limits, self.directory / name, self.cancelled
        )
        if result.status == _SKIPPED or result.ending is Ending.NOT_STARTED:
            return result, None
        return result, CountedTest(name, not result.succeeded, processes, result.describe())


def counted_spectrum(suite: Suite, tree: str, counting: Counting) -> Spectrum:
    """Run the suite of ``tree`` with counters.

    Raises ToolchainError without a clang, TraceError where the build fails, TestError where tests
    cannot be told apart.
    """
    folder = counting.state / "counted"
    slot = Slot(folder / "tree", counting.objects)
    counting.progress.stage("building with counters")
    made = counted_build(suite.recipe, tree, slot, find(), folder / "c", counting.bits)
    ready = _Suite(made, suite, folder / "runs")
    tests = _named(ready, counting)
    counting.progress.stage("running the tests with counters")
    found = _each(ready, tests, counting) if tests else _whole(ready)
    found = [test for test in found if test.processes]
    if not found:
        raise NothingCountedError(
            "No test ran a program that was built with afterd-cc: only C, C++ and Python can be"
            " ranked, and the build has to use CC or CXX, or a compiler's usual name."
        )
    return spectrum_of_processes(counted_program(made.store, made.root), found)


def _named(ready: _Suite, counting: Counting) -> list[NamedTest]:
    if counting.each:
        return each_file(ready.suite, counting.each, ready.made.root)

    def say(command: tuple[str, ...]) -> str:
        recipe = replace(ready.suite.recipe, test=command)
        result = run(recipe.test_in(ready.made.root), recipe.limits.probe)
        try:
            return result.stdout.text()
        finally:
            result.remove()

    return listed(ready.suite, say)


def _each(ready: _Suite, tests: Sequence[NamedTest], counting: Counting) -> list[CountedTest]:
    """Every test by itself, some at the same time; in their order."""

    def one(number: int) -> CountedTest | None:
        if time.monotonic() > counting.until:
            raise TestError("The tests could not be counted in the time that there was.")
        result, found = ready.run(tests[number].command, str(number))
        result.remove()
        return None if found is None else replace(found, name=tests[number].name)

    with ThreadPoolExecutor(counting.jobs) as pool:
        started = {pool.submit(one, number): number for number in range(len(tests))}
        answers: dict[int, CountedTest | None] = {}
        try:
            for done, future in enumerate(as_completed(started), start=1):
                answers[started[future]] = future.result()
                counting.ran(done, len(tests))
        except BaseException:  # an interrupt, too, must not wait for the rest
            ready.cancelled.set()
            pool.shutdown(cancel_futures=True)
            raise
    return [test for _, test in sorted(answers.items()) if test is not None]


def _whole(ready: _Suite) -> list[CountedTest]:
    """The suite as one command, its processes told apart by what it printed."""
    result, found = ready.run(ready.suite.recipe.test, "whole")
    try:
        if result.ending not in _ENDED:
            raise TestError(
                f"The suite was not counted to its end: it {result.describe()}; give a command that"
                " runs less, or a larger test_timeout."
            )
        if found is None:
            raise TestError("The test command exits with 125: it says that this is no test.")
        output = result.stdout.head(_MOST_OUTPUT)
        return divided(output, found.processes) or [replace(found, name="the suite")]
    finally:
        result.remove()
