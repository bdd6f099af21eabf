"""The spectrum of a C or C++ program: built with counters, each of its tests run once.

The tests of a suite one by one, where its runner can list them.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event

from afterd.errors import TestError, UntestableError, UsageError
from afterd.execution.process import Ending
from afterd.execution.runners import runner_named
from afterd.execution.sandbox import run
from afterd.execution.toolchain import find
from afterd.limits import RANKING
from afterd.localization.spectrum import Spectrum
from afterd.localization.suite.counting import Counting
from afterd.localization.suite.results import divided_tests
from afterd.localization.suite.spectrum import CountedTest, spectrum_of_processes
from afterd.spectra.c import CountedBuild, CountedRun, counted_build, counted_program, counted_run
from afterd.vcs.worktree import Slot
from afterd.workspace import Suite

_SKIPPED = 125  # as git bisect run says it
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

    def run(self, command: tuple[str, ...], name: str) -> CountedRun:
        """Run a command with counters."""
        recipe = replace(self.suite.recipe, test=command)
        limits = recipe.limits.test
        wanted = replace(recipe.test_in(self.made.root), merge=True)
        return counted_run(self.made, wanted, limits, self.directory / name, self.cancelled)


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
    tests = _named_tests(ready, counting)
    counting.progress.stage("running the tests with counters")
    found = _each_test_counted(ready, tests, counting) if tests else _whole_suite_counted(ready)
    found = [test for test in found if test.processes]
    if not found:
        raise NothingCountedError(
            "No test ran a program that was built with afterd-cc: only C, C++ and Python can be"
            " ranked, and the build has to use CC or CXX, or a compiler's usual name."
        )
    return spectrum_of_processes(counted_program(made.store, made.root), found)


def _named_tests(ready: _Suite, counting: Counting) -> list[NamedTest]:
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


def _each_test_counted(
    ready: _Suite, tests: Sequence[NamedTest], counting: Counting
) -> list[CountedTest]:
    """Every test by itself, some at the same time; in their order."""

    def one(number: int) -> CountedTest | None:
        if time.monotonic() > counting.until:
            raise TestError("The tests could not be counted in the time that there was.")
        ran = ready.run(tests[number].command, str(number))
        ran.result.remove()
        return _as_one(ran, tests[number].name)

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


def _whole_suite_counted(ready: _Suite) -> list[CountedTest]:
    """The suite as one command, its processes told apart by pytest, or by what was printed."""
    ran = ready.run(ready.suite.recipe.test, "whole")
    result, found = ran.result, _as_one(ran, "the suite")
    try:
        if result.ending not in _ENDED:
            raise TestError(
                f"The suite was not counted to its end: it {result.describe()}; give a command that"
                " runs less, or a larger test_timeout."
            )
        if found is None:
            raise UntestableError("The test command exits with 125: it says that this is no test.")
        if ran.tests:
            return [CountedTest(test.name, test.failed, test.processes) for test in ran.tests]
        return divided_tests(result.stdout.head(RANKING.output), found.processes) or [found]
    finally:
        result.remove()


def _as_one(ran: CountedRun, name: str) -> CountedTest | None:
    """A command as a test; None where it was skipped or could not be started."""
    result = ran.result
    if result.status == _SKIPPED or result.ending is Ending.NOT_STARTED:
        return None
    started = [process for test in ran.tests for process in test.processes]
    processes = (*ran.processes, *started)
    return CountedTest(name, not result.succeeded, processes, result.describe())


Listed = Callable[[tuple[str, ...]], str]
"""What a command prints in the built tree."""

_CTEST = re.compile(r"^\s*Test\s+#\d+: (?P<name>.+?)(?: \(Disabled\))?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class NamedTest:
    """A test and the command that runs it alone."""

    name: str
    command: tuple[str, ...]


def each_file(suite: Suite, pattern: str, root: Path) -> list[NamedTest]:
    """A test for every file that matches ``pattern`` (below ``root``), its path added to the command.

    Raises UsageError where none matches.
    """
    found = sorted(path for path in root.glob(pattern.lstrip("/")) if path.is_file())
    if not found:
        raise UsageError(f"No file of the tested version matches --each {pattern}.")
    names = [str(path.relative_to(root)) for path in found]
    return [NamedTest(name, (*suite.recipe.test, name)) for name in names]


def listed(suite: Suite, say: Listed) -> list[NamedTest]:
    """The tests that CTest or Meson lists; empty for a suite that can only be run as a whole."""
    found = suite.found
    if found is None:
        return []
    if found.runner == "CTest":
        names = [match["name"] for match in _CTEST.finditer(say((*found.test, "-N")))]
    elif found.runner == "Meson":
        lines = say(("meson", "test", *found.test[2:4], "--list")).splitlines()
        names = [line.rpartition(" / ")[2].strip() for line in lines if line.strip()]
    else:
        return []
    runner = runner_named(found.runner)
    return [NamedTest(name, runner.one_test(found, name)) for name in dict.fromkeys(names)]
