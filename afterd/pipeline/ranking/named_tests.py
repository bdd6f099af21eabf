"""The tests of a suite one by one, where its runner can list them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from afterd.errors import UsageError
from afterd.execution.runners import runner_named
from afterd.pipeline.failing import Suite

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
