"""Which tests fail at a version, and how each one is built and run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from afterd.config import Settings, command_line
from afterd.execution.environment import scrubbed
from afterd.execution.executors.protocol import Attempt, Job
from afterd.execution.recipe import Recipe
from afterd.execution.runners import Detected, detect, runner_named
from afterd.model.progress import Progress
from afterd.pipeline.in_place import import_paths
from afterd.pipeline.workspace import Range, Workspace

THE_SUITE = "the test suite"


@dataclass(frozen=True, slots=True)
class FailingTest:
    """A test to explain: its recipe, and the runner that knows it ("command": it was given)."""

    recipe: Recipe
    runner: str


@dataclass(frozen=True, slots=True)
class Suite:
    """All tests of a version as one recipe; ``found`` is None where the command was given."""

    recipe: Recipe
    found: Detected | None = None

    def test(self, name: str) -> FailingTest:
        """One test of the suite; the whole of it for a name that is the suite's own."""
        if self.found is None:
            return FailingTest(self.recipe, "command")
        if name == self.recipe.test_id:
            return FailingTest(self.recipe, self.found.runner)
        command = runner_named(self.found.runner).one_test(self.found, name)
        only = Recipe(
            command,
            self.recipe.build,
            name,
            extra=self.recipe.extra,
            limits=self.recipe.limits,
        )
        return FailingTest(only, self.found.runner)


@dataclass(frozen=True, slots=True)
class SuiteRun:
    """What running a suite showed: the run itself, and the names of the tests that failed.

    A suite that failed and named none failed as one test.
    """

    attempt: Attempt
    names: tuple[str, ...] = field(default=())


def failing_tests(
    workspace: Workspace, settings: Settings, wanted: Range, progress: Progress
) -> list[FailingTest]:
    """The tests to explain: the one command that was given, or those the found runner sees fail.

    Empty when the suite passes at the bad version. Raises TestError where no tests are found.
    """
    suite = suite_of(workspace, settings, wanted.variants.bad, progress)
    if suite.found is None:
        return [suite.test(suite.recipe.test_id)]
    ran = run_suite(workspace, suite, wanted.variants.bad, progress)
    chosen = [name for name in ran.names if not settings.tests or name in settings.tests]
    if ran.names and not chosen:
        chosen = [suite.recipe.test_id]
    return [suite.test(name) for name in chosen]


def suite_of(workspace: Workspace, settings: Settings, tree: str, progress: Progress) -> Suite:
    """How all tests of a version are run; TestError where none are found."""
    if settings.test:
        return Suite(_given(workspace, settings))
    progress.stage("looking for tests")
    found = _detected(workspace, tree)
    progress.stage("found tests", found.sentence)
    extra: Mapping[str, str] = {"PATH": workspace.path, **found.extra}
    recipe = Recipe(
        found.test,
        settings.build or found.build,
        THE_SUITE,
        extra=extra,
        limits=workspace.limits,
    )
    return Suite(recipe, found)


def run_suite(workspace: Workspace, suite: Suite, tree: str, progress: Progress) -> SuiteRun:
    """Run all tests of a version, and once more to hear the names of those that fail."""
    progress.stage("running the test suite")
    attempt = workspace.executor.submit(Job(tree, suite.recipe)).result()
    if attempt.outcome.passed:
        return SuiteRun(attempt)
    names = _named(workspace, suite, tree) if suite.found is not None else ()
    return SuiteRun(attempt, names or (suite.recipe.test_id,))


def _named(workspace: Workspace, suite: Suite, tree: str) -> tuple[str, ...]:
    """The names of the failing tests as their runner reads them off a run of the suite."""
    assert suite.found is not None
    with workspace.executor.workbench(tree) as bench:
        bench.attempt(Job(tree, suite.recipe, build_only=True))  # another tree may be there now
        result = bench.run(suite.recipe.test_in(bench.slot.path), workspace.limits.test)
        try:
            return runner_named(suite.found.runner).failing_tests(result)
        finally:
            result.remove()


def detected(workspace: Workspace, wanted: Range) -> Detected:
    """How the bad version is built and tested, by the look of it; TestError: no tests."""
    return _detected(workspace, wanted.variants.bad)


def _detected(workspace: Workspace, tree: str) -> Detected:
    with workspace.executor.workbench(tree) as bench:
        bench.slot.move_to(tree)
        return detect(bench.slot.path)


def _given(workspace: Workspace, settings: Settings) -> Recipe:
    extra = {"PATH": workspace.path}
    if checkout := workspace.repository.workdir:
        limits = workspace.limits
        path = import_paths(settings.test, scrubbed(extra=extra), Path(checkout), limits)
        extra.update({"PYTHONPATH": path} if path else {})
    return Recipe(
        test=settings.test,
        build=settings.build,
        test_id=command_line(settings.test),
        extra=extra,
        limits=workspace.limits,
    )
