"""An environment of afterd's own for a Python project: what its files ask for, installed by pip.

Made when the user asks for it (``--prepare auto``), below ``.git/afterd``, once for each set of
requirements. The project itself is installed too, for its metadata and entry points; its modules are
imported from the slot all the same.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from configparser import ConfigParser, Error
from pathlib import Path
from typing import Any

from afterd.errors import TestError
from afterd.execution.environment import scrubbed_environment
from afterd.execution.process import Command
from afterd.execution.runners.interpreters import fitting_python
from afterd.execution.runners.python import is_project
from afterd.execution.runners.reading import text, toml
from afterd.execution.sandbox import run
from afterd.limits import ProcessLimits

_FOR_TESTS = ("test", "tests", "testing", "dev", "develop", "hatch-test")
_FILES = re.compile(r"(?:.*[-_/])?(?:test|tests|testing|dev)(?:[-_].*)?\.txt|requirements\.txt")
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
_LINES = 12  # of pip's own words
_ERROR = re.compile(
    r"[ │]*(?:\w*[Ee]rror|ERROR): (?!subprocess-exited|metadata-generation|Failed to build)"
)


def prepared_interpreter(root: Path, home: Path, folder: Path, limits: ProcessLimits) -> str:
    """The interpreter of the environment for the checkout at ``root``, made below ``folder`` if need be.

    ``home`` is the user's work tree. Raises TestError with pip's own words where it cannot be made.
    """
    base = fitting_python(root, home)
    wanted = list(dict.fromkeys(requirements(root)))
    name = hashlib.sha256("\0".join([base, *wanted, *_texts(root)]).encode()).hexdigest()[:12]
    place = folder / name
    python = place / "bin" / "python"
    if (place / "made").exists():
        return str(python)
    shutil.rmtree(place, ignore_errors=True)
    folder.mkdir(exist_ok=True)
    _carried_out((base, "-m", "venv", str(place)), root, limits)
    install = (str(python), "-m", "pip", "install", "--disable-pip-version-check", "-q", "pytest")
    extras = ",".join(_extras(root))
    itself = [f"{root}[{extras}]" if extras else str(root)] if is_project(root) else []
    try:
        _carried_out((*install, *itself, *wanted), root, limits)
    except TestError:  # one requirement that cannot be had must not keep the others away
        for each in (itself, *([one] for one in wanted)):
            if each:
                _carried_out((*install, *each), root, limits, must=each == itself)
    (place / "made").touch()
    return str(python)


def requirements(root: Path) -> Iterator[str]:
    """What the project's files say its tests need, as arguments of pip; the project itself apart."""
    tables = toml(root / "pyproject.toml")
    tool = tables.get("tool", {})
    groups = tables.get("dependency-groups", {})
    for name in _FOR_TESTS:
        yield from _group(groups, name)
        poetry = tool.get("poetry", {})
        legacy = poetry.get("dev-dependencies", {}) if name == "dev" else {}
        listed = poetry.get("group", {}).get(name, {}).get("dependencies", {}) | legacy
        yield from (each for each in listed if each != "python")
    for name in ("default", *_FOR_TESTS):
        environment = tool.get("hatch", {}).get("envs", {}).get(name, {})
        for key in ("dependencies", "extra-dependencies"):
            yield from filter(_is_plain_requirement, environment.get(key, []))
    for path in sorted(
        [*root.glob("*.txt"), *root.glob("requirements/*.txt"), *root.glob("tests/*.txt")]
    ):
        relative = str(path.relative_to(root))
        if "requirements" in relative and _FILES.fullmatch(relative):
            yield f"--requirement={path}"
    yield from _of_tox(root)


def _group(groups: Mapping[str, Any], name: str, depth: int = 0) -> Iterator[str]:
    for each in groups.get(name, []) if depth < len(groups) + 1 else []:
        if isinstance(each, str):
            yield each
        elif isinstance(each, Mapping):
            yield from _group(groups, str(each.get("include-group")), depth + 1)


def _of_tox(root: Path) -> Iterator[str]:
    try:
        parser = ConfigParser(interpolation=None, strict=False)
        parser.read_string(text(root / "tox.ini"))
        lines = parser.get("testenv", "deps", fallback="").splitlines()
    except Error:
        return
    for line in lines:
        each = line.partition("#")[0].strip()
        if match := re.fullmatch(r"-r\s*(?:\{toxinidir\}/)?([\w./-]+)", each):
            if (root / match[1]).is_file():
                yield f"--requirement={root / match[1]}"
        elif _is_plain_requirement(each):
            yield each


def _is_plain_requirement(requirement: object) -> bool:
    """Whether it is a requirement as pip reads it, without a tool's own placeholders and conditions."""
    return (
        isinstance(requirement, str)
        and bool(_NAME.match(requirement))
        and "{" not in requirement
        and ": " not in requirement
    )


def _extras(root: Path) -> list[str]:
    named = dict(toml(root / "pyproject.toml").get("project", {}).get("optional-dependencies", {}))
    setup = text(root / "setup.cfg") + text(root / "setup.py")
    return [
        name
        for name in _FOR_TESTS
        if name in named or re.search(rf"""(?m)^\s*["']?{name}["']?\s*[:=]\s*(?:\[|$)""", setup)
    ]


def _texts(root: Path) -> list[str]:
    """What decides which versions are installed."""
    return [text(root / name) for name in ("pyproject.toml", "setup.cfg", "setup.py")]


def pip_reason(said: str) -> str:
    """Why pip failed, by its errors, where it names any: how it says that a child failed is no reason."""
    lines = said.strip().splitlines()
    errors = [line.strip() for line in lines if _ERROR.match(line)]
    return "\n".join(errors or lines[-_LINES:])


def _carried_out(
    argv: Sequence[str], root: Path, limits: ProcessLimits, *, must: bool = True
) -> None:
    # A checkout in a slot has no history to read a version from.
    version = {"SETUPTOOLS_SCM_PRETEND_VERSION": "999", "PBR_VERSION": "999"}
    result = run(
        Command(tuple(argv), root, scrubbed_environment(extra=version), merge=True), limits
    )
    try:
        if must and not result.succeeded:
            raise TestError(
                f"The environment for the tests could not be made: {pip_reason(result.stdout.text())}"
                f" (`{' '.join(argv)}` {result.describe()})"
            )
    finally:
        result.remove()
