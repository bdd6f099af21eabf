"""Which tests fail at the bad version, and how each one is built and run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from afterd.config import Settings, command_line
from afterd.execution.executors.protocol import Job
from afterd.execution.recipe import Recipe
from afterd.execution.runners import Detected, detect, runner_named
from afterd.model.progress import Progress
from afterd.pipeline.workspace import Range, Workspace


@dataclass(frozen=True, slots=True)
class FailingTest:
    """A test to explain: its recipe, and the runner that knows it ("command": it was given)."""

    recipe: Recipe
    runner: str


def failing_tests(
    workspace: Workspace, settings: Settings, wanted: Range, progress: Progress
) -> list[FailingTest]:
    """The tests to explain: the one command that was given, or those the found runner sees fail.

    Empty when the suite passes at the bad version. Raises TestError where no tests are found.
    """
    if settings.test:
        return [FailingTest(_given(workspace, settings), "command")]
    progress.stage("looking for tests")
    found = detected(workspace, wanted)
    progress.stage("running the test suite at the bad version", found.sentence)
    return _of_suite(workspace, settings, wanted, found)


def detected(workspace: Workspace, wanted: Range) -> Detected:
    """How the bad version is built and tested, by the look of it; TestError: no tests."""
    with workspace.executor.workbench(wanted.variants.bad) as bench:
        bench.slot.move_to(wanted.variants.bad)
        return detect(bench.slot.path)


def _given(workspace: Workspace, settings: Settings) -> Recipe:
    return Recipe(
        test=settings.test,
        build=settings.build,
        test_id=command_line(settings.test),
        extra={"PATH": workspace.path},
        limits=workspace.limits,
    )


def _of_suite(
    workspace: Workspace, settings: Settings, wanted: Range, found: Detected
) -> list[FailingTest]:
    """Run the suite once; a recipe for each test that failed, or for the suite as one test."""
    runner = runner_named(found.runner)
    extra: Mapping[str, str] = {"PATH": workspace.path, **found.extra}
    suite = Recipe(
        found.test,
        settings.build or found.build,
        "the test suite",
        extra=extra,
        limits=workspace.limits,
    )
    attempt = workspace.executor.submit(
        Job(wanted.variants.bad, suite, build_only=False, seconds=None)
    ).result()
    if attempt.outcome.passed:
        return []
    with workspace.executor.workbench(wanted.variants.bad) as bench:
        result = bench.run(suite.test_in(bench.slot.path), workspace.limits.test)
        try:
            names = runner.failing_tests(result)
        finally:
            result.remove()
    chosen = [name for name in names if not settings.tests or name in settings.tests]
    if not chosen:
        return [FailingTest(suite, found.runner)]
    return [
        FailingTest(
            Recipe(
                runner.one_test(found, name),
                suite.build,
                name,
                extra=extra,
                limits=workspace.limits,
            ),
            found.runner,
        )
        for name in chosen
    ]
