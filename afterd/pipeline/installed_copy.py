"""A test that ends alike at both ends because it tests neither: it imports a copy of the project from elsewhere."""

from __future__ import annotations

import os
import shlex
from dataclasses import replace
from pathlib import Path

from afterd.execution.executors.protocol import Job
from afterd.execution.recipe import Recipe
from afterd.execution.runners.imported import (
    Elsewhere,
    imported_elsewhere,
    telling_imports,
    unfound_module,
)
from afterd.execution.runners.interpreters import python_files
from afterd.pipeline.case import Case
from afterd.workspace import unbuilt_checkout

_PATH = "PYTHONPATH="


def untested_import(case: Case, tree: str) -> str:
    """Where the test of ``tree`` imports the project from, if that is not the version under test, as a sentence;
    else empty. One run of a command that the user gave; nothing is run where there is no Python in the tree.
    """
    recipe = case.test.recipe
    if not case.settings.test:
        return ""
    with case.workspace.executor.workbench(tree) as bench:
        if not python_files(bench.slot.path):
            return ""
        if not bench.attempt(Job(tree, recipe, build_only=True)).outcome.passed:
            return ""
        command = recipe.test_in(bench.slot.path)
        command = replace(command, environment=telling_imports(command.environment))
        result = bench.run(command, recipe.limits.suite)
        try:
            said = f"{result.stdout.whole()}\n{result.stderr.whole()}"
        finally:
            result.remove()
        home = case.workspace.repository.workdir
        found = imported_elsewhere(said, bench.slot.path, Path(home) if home else None)
    return _sentence(found, recipe) if found else ""


def not_importable(case: Case, tree: str, *said: str) -> str:
    """The project's own module that the tests of no version find, as a sentence; else empty. ``said`` are the
    words of each version's failure, ``tree`` a version that has the module.
    """
    there = unbuilt_checkout(case.workspace, tree)
    found = [unfound_module(each, there) for each in said]
    first = found[0]
    if first is None or any(each is None or each.name != first.name for each in found):
        return ""
    recipe = case.test.recipe
    return (
        f"The test does not find {first.name}, which is the project's own ({first.place}), so no version of this"
        f" range was tested; put its folder first: `-- {_with_path(first.root, recipe)}`, or install the project"
        " for the Python that runs the tests: `pip install -e .`."
    )


def _with_path(root: str, recipe: Recipe) -> str:
    """The command of the tests, with a folder of the checkout first on the import path."""
    path = [each.removeprefix(_PATH) for each in recipe.assigned if each.startswith(_PATH)]
    others = [each for each in recipe.assigned if not each.startswith(_PATH)]
    return shlex.join([_PATH + os.pathsep.join([root, *path]), *others, *recipe.test])


def _sentence(found: Elsewhere, recipe: Recipe) -> str:
    return (
        f"The test imports {found.name} from {found.place}, so no version of this range was tested; put the"
        f" checkout's own first: `-- {_with_path(found.root, recipe)}`."
    )
