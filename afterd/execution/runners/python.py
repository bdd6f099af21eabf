"""What pytest and unittest have in common: the interpreter, the path, and extension modules."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from afterd.execution.runners.reading import MAKEFILES, has, jobs, script, text, toml

_ENVIRONMENTS = (".venv", "venv", "env")
_COMPILES = re.compile(r"\$[({](?:CC|CXX)[)}]|\b(?:gcc|clang|cc)\b|\b(?:g|clang)\+\+")


def interpreter(root: Path, module: str = "") -> str:
    """The Python that runs the project's tests.

    That is the active virtual environment's, the one beside the project, the active one of conda,
    ours where it has ``module``, or whatever `python3` is.
    """
    found = next(_of_environments(root), "")
    if not found and (not module or importlib.util.find_spec(module) is not None):
        found = sys.executable
    return found or shutil.which("python3") or sys.executable


def python_path(root: Path) -> str:
    """The slot's own modules, first: an editable install (``pip install -e .``) points to the
    user's work tree, whose code would be tested in place of every variant's.
    """
    return "{slot}/src:{slot}" if (root / "src").is_dir() else "{slot}"


def is_project(root: Path) -> bool:
    """Whether this is a Python project, whatever else it holds (a Meson or CMake extension)."""
    tables = toml(root / "pyproject.toml")
    return "project" in tables or "build-system" in tables or bool(has(root, "setup.py"))


def build_for(root: Path, python: str) -> tuple[str, ...]:
    """The build of a project's extension modules, or of the compiled program that Python only tests.

    Empty where neither is known.
    """
    setup = text(root / "setup.py")
    if "Extension(" in setup or "cythonize(" in setup or "ext_modules" in setup:
        return script(f'"{python}" setup.py build_ext --inplace')
    makefile = has(root, *MAKEFILES)
    if makefile and not is_project(root) and _COMPILES.search(text(root / makefile)):
        return ("make", f"-j{jobs()}")
    return ()


def _of_environments(root: Path) -> Iterator[str]:
    active, conda = (os.environ.get(name, "") for name in ("VIRTUAL_ENV", "CONDA_PREFIX"))
    beside = (str(root / name) for name in _ENVIRONMENTS)
    # Conda last: its base is always active.
    for folder in map(Path, filter(None, (active, *beside, conda))):
        if (folder / "bin" / "python").exists():
            yield str((folder / "bin" / "python").absolute())
