"""An interpreter with pytest and what the packages under test need, apart from afterd's own.

afterd itself needs click, rich and attrs-like packages; a package under test must not be taken
from there. The environment is made once and kept in the cache.
"""

from __future__ import annotations

import hashlib
import platform
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from afterd.bench.case import UnavailableError
from afterd.execution.environment import scrubbed
from afterd.execution.process import Command
from afterd.execution.sandbox import run
from afterd.limits import ProcessLimits
from afterd.report.sanitize import clipped, one_line

_LIMITS = ProcessLimits(timeout=600.0)
_COMPLETE = "complete"


def interpreter(cache: Path, requirements: Sequence[str]) -> Path:
    """Its path. Raises UnavailableError when the environment cannot be made here."""
    wanted = "\n".join((sys.executable, *sorted(requirements)))
    digest = hashlib.sha256(wanted.encode()).hexdigest()[:8]
    directory = cache / "environments" / f"python-{platform.python_version()}-{digest}"
    python = directory / "bin" / "python"
    if (directory / _COMPLETE).exists():
        return python
    shutil.rmtree(directory, ignore_errors=True)  # what an interrupted run left
    directory.parent.mkdir(parents=True, exist_ok=True)
    _must(directory.parent, sys.executable, "-m", "venv", "--without-pip", str(directory))
    pip = ("-m", "pip", "--python", str(python), "install", "--quiet", "--no-input")
    check = "--disable-pip-version-check"
    _must(directory.parent, sys.executable, *pip, "--retries", "1", check, *requirements)
    (directory / _COMPLETE).write_text(wanted, encoding="utf-8")
    return python


def _must(cwd: Path, *argv: str) -> None:
    result = run(Command(argv, cwd, scrubbed(), merge=True), _LIMITS)
    try:
        if not result.succeeded:
            lines = result.stdout.text().strip().splitlines() or [result.describe()]
            said = one_line(clipped(lines[-1], 200))
            raise UnavailableError(f"No environment for the tests could be made: {said}")
    finally:
        result.remove()
