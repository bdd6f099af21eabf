"""What pytest and unittest have in common: the interpreter, the path, and extension modules."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from afterd.errors import TestError
from afterd.execution.recipe import SLOT
from afterd.execution.runners.interpreters import PLUGINS, Interpreter, ask, chosen_interpreter
from afterd.execution.runners.reading import MAKEFILES, has, jobs, script, text, toml

_COMPILES = re.compile(r"\$[({](?:CC|CXX)[)}]|\b(?:gcc|clang|cc)\b|\b(?:g|clang)\+\+")
_PACKAGE_DIR = re.compile(
    r"""package_dir\s*=\s*(?:\{\s*["']{2}\s*:\s*["'](\w+)["']|\n\s*=\s*(\w+))"""
)


_LOADABLE = """\
import ctypes, os, sys
for folder, folders, files in os.walk("."):
    folders[:] = [each for each in folders if each != "build" and not each.startswith(".")]
    for name in files:
        try:
            name.endswith(".so") and ctypes.CDLL(os.path.join(folder, name), getattr(os, "RTLD_NOW", 2))
        except OSError as error:
            "undefined symbol" in str(error) and sys.exit(str(error))
"""
"""Whether what was built can be loaded. A linker lets a module name what nothing defines, and a project that does
without its modules where they cannot be imported is then another program, whose tests may pass.
"""


@dataclass(frozen=True, slots=True)
class Python:
    """Where Python projects are looked at: ``home`` is the user's work tree (None: the checkout is it),
    ``named`` an interpreter of the user's choice, relative to it.
    """

    home: Path | None = None
    named: str = ""

    def interpreter(self, root: Path, runner: str = "") -> Interpreter:
        """The interpreter of the tests in the checkout at ``root``, that has the module ``runner``.

        Raises TestError with all that were asked where none has.
        """
        home = (self.home or root).absolute()
        if self.named:
            return _named_interpreter(home, self.named, runner)
        found, seen = chosen_interpreter(root, home, runner)
        if found is not None:
            return found
        looked_at = ", ".join(each.where for each in seen) or "nothing"
        best = min(seen[:-1] or seen, key=lambda each: len(each.lacks), default=None)
        install = f"install it: `{best.path} -m pip install {runner}`" if best else "install Python"
        raise TestError(
            f"No Python of this project has {runner}, which its tests need (looked at {looked_at});"
            f" {install}, or let afterd make an environment of its own with --prepare auto."
        )


def _named_interpreter(home: Path, named: str, runner: str) -> Interpreter:
    path = named if os.sep not in named else os.path.normpath(home / Path(named).expanduser())
    asked = ask(shutil.which(path) or path, [*filter(None, [runner]), *PLUGINS], home)
    if asked is None:
        raise TestError(f"The Python {named} cannot be run; name another one with --python.")
    if runner and runner not in asked.modules:
        raise TestError(
            f"The Python {named} has no {runner}, which the tests need; install it:"
            f" `{asked.path} -m pip install {runner}`."
        )
    return Interpreter(asked.path or path, named, asked)


def python_path(root: Path, home: Path | None = None, paths: Sequence[str] = ()) -> str:
    """The slot's own modules, first: an editable install (``pip install -e .``) points to the
    user's work tree, whose code would be tested in place of every variant's.

    ``paths`` are the folders that the interpreter imports from; those of ``home`` are of the slot here.
    """
    below = (home_folder(path, home) for path in paths) if home else ()
    folders = dict.fromkeys(filter(None, (*below, *_package_folders(root), ".")))
    return ":".join(f"{SLOT}/{folder}".removesuffix("/.") for folder in folders)


def home_folder(path: str, home: Path) -> str:
    """A path below ``home`` as a folder of a checkout; empty where it is none, or of an environment."""
    if not Path(path).is_relative_to(home.resolve()):
        return ""
    folder = Path(path).relative_to(home.resolve())
    return "" if any(part.startswith(".") for part in folder.parts) else str(folder)


def _package_folders(root: Path) -> Iterator[str]:
    """Folders that packages lie in, as the project's own files say it."""
    if (root / "src").is_dir():
        yield "src"
    tool = toml(root / "pyproject.toml").get("tool", {})
    setuptools = tool.get("setuptools", {})
    listed = [setuptools.get("package-dir", {}).get("")]
    if isinstance(finder := setuptools.get("packages", {}), dict):
        listed += finder.get("find", {}).get("where", [])
    listed += [each.get("from") for each in tool.get("poetry", {}).get("packages", [])]
    for name in ("setup.py", "setup.cfg"):
        if match := _PACKAGE_DIR.search(text(root / name)):
            listed.append(match[1] or match[2])
    for folder in listed:
        if isinstance(folder, str) and folder and (root / folder).is_dir():
            yield os.path.normpath(folder)


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
        build = f'"{python}" setup.py build_ext --inplace'
        # a version before may have none to build
        return script(f"test ! -f setup.py || {build}", f"\"{python}\" -c '{_LOADABLE}'")
    makefile = has(root, *MAKEFILES)
    if makefile and not is_project(root) and _COMPILES.search(text(root / makefile)):
        return ("make", f"-j{jobs()}")
    return ()
