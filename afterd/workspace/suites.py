"""How the tests of a version are found, built and run, all of them and each by itself.

How the Python tracer runs a test of a workspace.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from afterd.config import Settings, command_line
from afterd.errors import TestError
from afterd.execution.confinement import Confinement, confined_programs
from afterd.execution.environment import scrubbed_environment
from afterd.execution.executors.protocol import Attempt, Job
from afterd.execution.losses import refuse_lost
from afterd.execution.recipe import SLOT, Recipe, Scope, import_path, with_assignments
from afterd.execution.runners import (
    GIVEN,
    BuildsOne,
    Detected,
    NamesTests,
    Python,
    detect,
    has_python_tests,
    runner_named,
)
from afterd.execution.runners.prepared import prepared_interpreter
from afterd.execution.runners.pytest import PLUGIN, PLUGINS
from afterd.execution.runners.unittest import REPORTING, Unittest
from afterd.execution.runners.version_file import version_files, version_variables
from afterd.execution.signature import telling_signature
from afterd.execution.told import THE_END
from afterd.model.explanation import THE_BUILD, THE_SUITE
from afterd.model.outcome import FailureSignature
from afterd.model.progress import Progress
from afterd.trace.python.stage import (
    PythonCommand,
    PythonTraceRequest,
    folders_beside,
    python_command,
)
from afterd.vcs.lacking import lacking_key
from afterd.vcs.trees import TreeReader
from afterd.vcs.worktree import Slot
from afterd.workspace.named_tests import NamedTest, Version, typed_names
from afterd.workspace.test_command import (
    asked_interpreter,
    assigned_variables,
    command_of_tests,
    import_paths,
    runner_of,
    takes_plugin,
    verbose_command,
    with_environment_of,
    without_assignments,
)
from afterd.workspace.whole_command import uncut_command
from afterd.workspace.workspace import Workspace

AUTO = "auto"
_UNCOUNTED = frozenset({"Cargo", "Go", "Maven", "npm", "PHPUnit", "Ruby"})
_OF_PYTHON = frozenset({"pytest", *REPORTING})


@dataclass(frozen=True, slots=True)
class FailingTest:
    """A test to explain: its recipe, and the runner that knows it ("command": it was given).

    ``beside`` runs it with the others of its suite, for where it does not fail alone.
    """

    recipe: Recipe
    runner: str
    beside: Recipe | None = None


def to_come_to_the_end(test: FailingTest) -> FailingTest:
    """That a suite which hangs as one test comes to its end, whatever else is red in it then."""
    ending = replace(test.recipe, test_id=THE_END, scope=Scope.AMONG, told_by=test.runner)
    return FailingTest(ending, test.runner)


@dataclass(frozen=True, slots=True)
class Suite:
    """All tests of a version as one recipe; ``found`` is None where the command was given.

    ``named`` are the tests that were named in place of a command: the recipe's are all of these.
    """

    recipe: Recipe
    found: Detected | None = None
    named: tuple[str, ...] = ()

    def test(self, name: str) -> FailingTest:
        """One test of the suite; the whole of it for a name that is the suite's own."""
        runner = self.recipe.told_by
        if name == self.recipe.test_id:
            return FailingTest(replace(self.recipe, told_by=""), runner if self.found else GIVEN)
        if (whole := self.to_the_end()) != self:
            return whole.test(name)
        beside = replace(self.recipe, test_id=name, scope=Scope.AMONG)
        if name == THE_END:
            return FailingTest(beside, runner)
        if self.found is None:
            command, build = command_of_tests(self.recipe.test, runner, name), self.recipe.build
        else:
            named, build = runner_named(runner), self.recipe.build
            command = named.one_test(self.found, name)
            if build == self.found.build and isinstance(named, BuildsOne):
                build = named.one_build(self.found, name)
        if command in {(), self.found.test if self.found else self.recipe.test}:
            return FailingTest(beside, runner)
        only = replace(beside, test=command, build=build, scope=Scope.ALONE)
        return FailingTest(only, runner, beside)

    def to_the_end(self) -> Suite:
        """The suite that runs all of its tests, however many fail. What afterd found by itself does so already; a
        command that was given and is one test is run as it was typed.
        """
        command = uncut_command(self.recipe.test, self.recipe.told_by)
        if self.found is not None or command == self.recipe.test:
            return self
        name = command_line(with_assignments(self.recipe.assigned, command))
        return replace(self, recipe=replace(self.recipe, test=command, test_id=name))

    def some(self, names: Sequence[str]) -> Recipe:
        """The suite without its other tests, where its runner can be asked for several by name; else all of it."""
        command = command_of_tests(self.recipe.test, self.recipe.told_by, *names)
        return replace(self.recipe, test=command) if command else self.recipe


@dataclass(frozen=True, slots=True)
class SuiteRun:
    """What running a suite showed: the run itself, and how each test failed.

    A suite that failed and named none failed as one test.
    """

    attempt: Attempt
    failures: tuple[FailureSignature, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tests that failed."""
        return tuple(failure.test for failure in self.failures)


def build_of(recipe: Recipe) -> FailingTest:
    """A build as a test: what a change did that makes it fail is found by the same loop."""
    build = replace(recipe, test=recipe.build, build=(), assigned=(), test_id=THE_BUILD, told_by="")
    return FailingTest(build, GIVEN)


def is_python_suite(suite: Suite) -> bool:
    """Whether the suite is run by pytest, unittest or Django, or its command starts Python directly."""
    of_python = suite.found is not None and suite.found.runner in _OF_PYTHON
    return of_python or started_python(suite.recipe) is not None


def is_uncounted_suite(suite: Suite) -> bool:
    """Whether the suite's runner is of a language of which lines are not counted test by test."""
    return suite.found is not None and suite.found.runner in _UNCOUNTED


def started_python(recipe: Recipe) -> PythonCommand | None:
    """What of Python a recipe's test command starts; None where it does not start Python directly."""
    return python_command(recipe.test, recipe.environment(Path()), Path())


def suite_of(workspace: Workspace, settings: Settings, tree: str, progress: Progress) -> Suite:
    """How all tests of a version are run; TestError where none are found."""
    version, neither = _version(workspace, settings, tree), None
    try:
        named = version.named_tests(settings)
    except TestError as error:  # a test of another runner may be called so
        named, neither = (), error
    other = "" if named else version.other_name(settings)
    if neither and not other:
        raise neither
    if settings.test and not (named or other):
        return Suite(given_recipe(workspace, settings))
    progress.stage("looking for tests")
    try:
        found = detected_tests(workspace, settings, tree, named[0].file if named else "")
    except TestError as error:
        if not other:
            raise
        found, neither = None, neither or error
    if found is None or (other and isinstance(runner_named(found.runner), NamesTests)):
        if neither and typed_names(settings.test):
            raise neither
        return Suite(given_recipe(workspace, settings))
    progress.stage("found tests", found.sentence)
    names, command = _named_in(found, named) if not other else _named_by_runner(found, other)
    extra: Mapping[str, str] = {**workspace.surroundings, **found.extra}
    recipe = Recipe(
        command,
        _with_preparation(settings, settings.build or found.build),
        THE_SUITE,
        extra=extra,
        tools=found.tools + lacking_key(workspace.objects),
        told_by=found.runner,
        generated=found.generated,
        limits=workspace.limits,
    )
    return Suite(recipe_in_container(recipe, settings), found, names)


def _version(workspace: Workspace, settings: Settings, tree: str) -> Version:
    home = workspace.repository.workdir
    here = os.path.relpath(settings.repository.resolve(), home) if home else ""
    return Version(TreeReader(workspace.objects), tree, home or "", here)


def _named_in(
    found: Detected, named: Sequence[NamedTest]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The runner's own names of tests, and the command of these alone; of all where it takes no names."""
    runner = runner_named(found.runner)
    if not named or not isinstance(runner, NamesTests):
        return (), found.test
    names = tuple(runner.name_in(found, each.file, each.inside) for each in named)
    command = command_of_tests(found.test, found.runner, *names)
    if not command and len(names) == 1:
        command = runner.one_test(found, *names)
    return names, command or found.test


def _named_by_runner(found: Detected, name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """A test by its runner's own name, and its command; that of all where one cannot be run alone."""
    return (name,), runner_named(found.runner).one_test(found, name)


def run_suite(workspace: Workspace, suite: Suite, tree: str, progress: Progress) -> SuiteRun:
    """Run all tests of a version as one job, which a journal can answer; LostRunError: it was killed each time."""
    progress.stage("running the test suite")
    attempt = workspace.executor.submit(Job(tree, suite.recipe)).result()
    refuse_lost(attempt.outcome, "The run of the tests", suite.recipe.limits.test)
    if attempt.outcome.passed:
        return SuiteRun(attempt)
    if attempt.outcome.hangs and not attempt.failures and suite.recipe.told_by == Unittest().name:
        attempt = _outspoken_attempt(workspace, suite, tree) or attempt
    as_one = telling_signature(attempt.outcome, suite.recipe.test_id)
    return SuiteRun(attempt, attempt.failures or (as_one,))


def _outspoken_attempt(workspace: Workspace, suite: Suite, tree: str) -> Attempt | None:
    """A run of a suite that hangs, by a runner that names a test only when it begins; None: none was named.

    A run that is ended before its tests begin, on a machine that is busy, is made again.
    """
    spoken = replace(suite.recipe, test=verbose_command(suite.recipe.test))
    for _ in range(workspace.limits.test.repeats):
        attempt = workspace.executor.submit(Job(tree, spoken)).result()
        if not attempt.outcome.hangs:
            return None
        if attempt.failures:
            return attempt
    return None


def unbuilt_checkout(workspace: Workspace, tree: str) -> Path:
    """A version's files, to be looked at: nothing is built there, and it is no slot that a build is in."""
    slot = Slot(workspace.slots / "looked-at", workspace.objects)
    slot.move_to(tree)
    return slot.path


def detected_tests(
    workspace: Workspace, settings: Settings, tree: str, named: str = ""
) -> Detected:
    """How a version is built and tested, by the look of it; TestError: no tests. Its Python tests, where one of their
    files is ``named``.

    A lock file or a makefile that a build left in a slot is none of the version's.
    """
    home = workspace.repository.workdir
    root, python = unbuilt_checkout(workspace, tree), settings.python
    if settings.prepare == AUTO and has_python_tests(root):
        place = workspace.state / "environments"
        with confined_programs(Confinement()):  # it fetches packages
            python = prepared_interpreter(root, Path(home or root), place, workspace.limits.build)
    return detect(root, Python(Path(home) if home else None, python), named)


def _with_preparation(settings: Settings, build: tuple[str, ...]) -> tuple[str, ...]:
    """The build with the user's own command before it."""
    if settings.prepare in ("", AUTO):
        return build
    return ("sh", "-c", "\n".join(("set -e", f"({settings.prepare})", shlex.join(build))))


def given_recipe(workspace: Workspace, settings: Settings) -> Recipe:
    """The recipe of the test command that was given: where it imports from, and who tells its tests."""
    checkout = Path(workspace.repository.workdir or workspace.state)
    assigned, command = without_assignments(with_environment_of(settings.test, checkout))
    told = version_variables(checkout)
    extra = {**told, **workspace.surroundings, **assigned_variables(assigned)}
    surrounding = scrubbed_environment(extra=extra)
    runner = runner_of(command, surrounding, checkout)
    asked = asked_interpreter(command, surrounding, checkout)
    path = import_paths(asked, surrounding, checkout) if workspace.repository.workdir else ""
    if runner == "pytest" and takes_plugin(asked):
        path = ":".join(filter(None, (path or surrounding.get("PYTHONPATH", ""), PLUGINS)))
        extra["PYTEST_PLUGINS"] = PLUGIN
    extra.update({"PYTHONPATH": path} if path else {})
    recipe = Recipe(
        test=command,
        assigned=assigned,
        build=_with_preparation(settings, with_environment_of(settings.build, checkout)),
        test_id=command_line(with_assignments(assigned, command)),
        extra=extra,
        tools=lacking_key(workspace.objects),
        told_by=runner,
        generated=version_files(checkout, checkout) if runner in _OF_PYTHON else {},
        limits=workspace.limits,
    )
    return recipe_in_container(recipe, settings)


def recipe_in_container(recipe: Recipe, settings: Settings) -> Recipe:
    """A recipe as it runs in the container that was asked for; itself where none was.

    afterd's plugin for pytest is not there: what the tests print tells them apart.
    """
    if not settings.container:
        return recipe
    extra = dict(recipe.extra)
    if extra.pop("PYTEST_PLUGINS", "") == PLUGIN and "PYTHONPATH" in extra:
        here = (each for each in extra["PYTHONPATH"].split(":") if each.startswith(SLOT))
        extra["PYTHONPATH"] = ":".join(here)
    return replace(recipe, extra=extra, container=tuple(shlex.split(settings.container)))


def python_request(
    workspace: Workspace,
    recipe: Recipe,
    place: str,
    *,
    test: str = "",
    piece: str = "",
) -> PythonTraceRequest:
    """To run ``recipe`` in a version's tree, its folders first on the import path.

    ``place`` is the folder of the workspace's state that takes the recordings, ``test`` the one test
    that matters, ``piece`` names what is recorded, for a job that goes on after a kill (empty: it is
    recorded anew).
    """
    extra, inside = import_path(recipe)
    checkout = workspace.repository.workdir
    return PythonTraceRequest(
        command=recipe.test,
        environment=recipe.scrubbed(extra),
        directory=workspace.state / place,
        test=test,
        folder=recipe.folder,
        pythonpath=inside,
        original=Path(checkout) if checkout else None,
        beside=folders_beside(recipe.test),
        limits=workspace.limits.test,
        work=f"{workspace.work} {piece}" if workspace.work and piece else "",
    )
