"""How a repository is built and tested, found by looking at it; a runner a file."""

from __future__ import annotations

from pathlib import Path

from afterd.errors import TestError
from afterd.execution.runners.cargo import Cargo
from afterd.execution.runners.cmake import CMake
from afterd.execution.runners.cmake_programs import test_programs
from afterd.execution.runners.django import Django
from afterd.execution.runners.go import Go
from afterd.execution.runners.make import Autotools, Make
from afterd.execution.runners.maven import Maven
from afterd.execution.runners.meson import Meson
from afterd.execution.runners.npm import Npm
from afterd.execution.runners.phpunit import PhpUnit
from afterd.execution.runners.plain import GIVEN, Plain, declared_test
from afterd.execution.runners.protocol import (
    BuildsOne,
    Detected,
    NamesFiles,
    NamesTests,
    Runner,
    WritesReport,
)
from afterd.execution.runners.pytest import Pytest
from afterd.execution.runners.python import Python, is_project
from afterd.execution.runners.ruby import Ruby
from afterd.execution.runners.unittest import Unittest
from afterd.execution.runners.zope import ZopeTestrunner

__all__ = [
    "GIVEN",
    "RUNNERS",
    "BuildsOne",
    "Detected",
    "NamesFiles",
    "NamesTests",
    "Python",
    "Runner",
    "WritesReport",
    "detect",
    "has_python_tests",
    "runner_named",
]

_OTHERS: tuple[Runner, ...] = (
    *(Cargo(), Go(), Maven(), Meson(), CMake(), Autotools()),
    *(PhpUnit(), Make(), Npm(), Ruby()),
)


def _of_python(looked_at: Python) -> tuple[Runner, ...]:
    return (
        *(Django(looked_at), ZopeTestrunner(looked_at)),
        *(Pytest(looked_at), Unittest(looked_at)),
    )


RUNNERS: tuple[Runner, ...] = (*_of_python(Python()), *_OTHERS, Plain())


def detect(root: Path, python: Python | None = None, named: str = "") -> Detected:
    """How the checkout at ``root`` is built and tested, Python projects by ``python``; its Python tests, where one of
    their files is ``named``.

    Many a C project has a conftest.py or a package.json beside its makefile, and many a Python
    project a meson.build for its extensions: what the project *is* decides who is asked first.
    Raises TestError where no runner recognises it.
    """
    looked_at = python or Python()
    pythons = _of_python(looked_at)
    every = (*pythons, *_OTHERS) if is_project(root) else (*_OTHERS, *pythons)
    for runner in pythons if named else every:
        if (found := runner.detect(root)) is not None:
            return found
    if named:
        return Pytest(looked_at).running(root, named)
    if (said := declared_test(root, looked_at)) is not None:
        return said
    if (programs := test_programs(root)) is not None:
        return programs
    looked_for = ", ".join(runner.name for runner in RUNNERS[:-1])
    raise TestError(
        f"No tests were found (looked for {looked_for}); name the test command after -- or with --test."
    )


def has_python_tests(root: Path) -> bool:
    """Whether the checkout at ``root`` is a project whose tests a Python runs."""
    return is_project(root) or bool(Pytest().recognised(root))


def runner_named(name: str) -> Runner:
    """The runner of ``Detected.runner``; raises KeyError for a name that none has."""
    return {runner.name: runner for runner in RUNNERS}[name]
