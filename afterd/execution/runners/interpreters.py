"""Which Python runs a project's tests: every environment that may be meant, each of them asked.

A slot is a checkout without what git ignores: the ``.venv`` is in the user's work tree, or where uv,
poetry, hatch, tox, nox and conda keep theirs. afterd's own interpreter comes last: what it has
installed says nothing of the project.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from afterd.execution.environment import scrubbed_environment
from afterd.execution.process import Command
from afterd.execution.runners.reading import text, toml
from afterd.execution.sandbox import run
from afterd.limits import PROJECT, Limits

BESIDE = (".venv", "venv", "env")
_IMPORTS = re.compile(r"^(?:from|import) +(\w+)", re.MULTILINE)
_PASSED_OVER = frozenset({"build", "dist", "doc", "docs", "example", "examples", "benchmarks"})
PLUGINS = ("xdist", "pytest_cov")  # of pytest, whose presence makes a difference
_OLDEST = re.compile(r">=\s*(\d+)\.(\d+)")
_ASK = """
import hashlib, json, os, sys
try:
    from importlib.util import find_spec
except ImportError:  # Python 2
    from pkgutil import find_loader as find_spec
def has(name):
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False
found = [entry for entry in sys.path if entry]
own = [os.path.realpath(prefix) + os.sep for prefix in (sys.prefix, getattr(sys, "base_prefix", sys.prefix))]
installed = sorted(
    name for entry in found if os.path.isdir(entry) for name in os.listdir(entry)
    if name.endswith((".dist-info", ".egg-info", ".egg-link", ".pth"))
)
for name, module in list(sys.modules.items()):
    if name.startswith("__editable__"):  # setuptools' finder
        found += map(os.path.dirname, getattr(module, "MAPPING", {}).values())
found = [os.path.realpath(entry) for entry in found]
print(json.dumps({
    "path": sys.executable,
    "version": list(sys.version_info[:3]),
    "modules": [name for name in json.loads(sys.argv[1]) if has(name)],
    "paths": [e for e in found if not (e + os.sep).startswith(tuple(own))],
    "digest": hashlib.sha256("|".join([sys.version] + installed).encode()).hexdigest()[:16],
}))
"""


@dataclass(frozen=True, slots=True)
class Asked:
    """What an interpreter says of itself: its path (a shim's is another), its version, which of the
    modules asked for it has, the folders it imports from that are not its own, and a digest of all that is
    installed.
    """

    path: str
    version: tuple[int, ...]
    modules: frozenset[str]
    paths: tuple[str, ...]
    digest: str


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python that may run the tests: its path, where it was found, and what it lacks of the modules
    that the project imports.
    """

    path: str
    where: str
    asked: Asked
    lacks: frozenset[str] = frozenset()


def ask(
    python: str,
    modules: Sequence[str],
    folder: Path,
    environment: Mapping[str, str] | None = None,
) -> Asked | None:
    """What the interpreter says when it is started in ``folder``; None where it does not run."""
    argv = (python, "-c", _ASK, json.dumps(list(modules)))
    command = Command(argv, folder, scrubbed_environment() if environment is None else environment)
    result = run(command, Limits().probe)
    try:
        said = json.loads(result.stdout.text()) if result.succeeded else None
        return said and Asked(
            str(said["path"]),
            tuple(said["version"]),
            frozenset(said["modules"]),
            tuple(said["paths"]),
            str(said["digest"]),
        )
    except (ValueError, KeyError, TypeError):  # a sitecustomize that prints
        return None
    finally:
        result.remove()


def chosen_interpreter(
    root: Path, home: Path, runner: str
) -> tuple[Interpreter | None, tuple[Interpreter, ...]]:
    """The interpreter that runs the tests of the checkout at ``root``, and all that were asked.

    ``home`` is the user's work tree, ``runner`` the module that runs tests (empty: Python's own). Of the
    environments that the user made, else of PATH, else afterd's own: the first that has the runner and all that the
    project imports; else the first of those that lack fewest, as files that no test needs import things too. None
    where none has the runner.
    """
    imported = imported_modules(root)
    oldest = _oldest_python(root)
    seen: list[Interpreter] = []
    for group in _candidates(home):
        able: list[Interpreter] = []
        for path, where in group:
            asked = ask(path, [*filter(None, [runner]), *PLUGINS, *imported], home)
            if asked is None or asked.version < oldest:
                continue
            seen.append(Interpreter(asked.path or path, where, asked, imported - asked.modules))
            if runner and runner not in asked.modules:
                continue
            able.append(seen[-1])
            if not seen[-1].lacks:
                break
        if able:
            return min(able, key=lambda each: len(each.lacks)), tuple(seen)
    return None, tuple(seen)


def fitting_python(root: Path, home: Path) -> str:
    """A Python that an environment for the checkout at ``root`` can be made of, as its project wants it."""
    oldest = _oldest_python(root)
    for path, _ in _of_path(set()):
        asked = ask(path, ["venv", "ensurepip"], home)
        if asked is not None and asked.version >= oldest and len(asked.modules) == 2:
            return asked.path or path
    return sys.executable


def imported_modules(root: Path) -> frozenset[str]:
    """Names that the project's files import without condition and that are neither its own nor Python's."""
    files = [path for path in python_files(root) if not _passed_over(path.relative_to(root).parts)]
    found = {name for path in files[: PROJECT.importing] for name in _IMPORTS.findall(text(path))}
    return frozenset(found - own_modules(root) - set(sys.stdlib_module_names))


def own_modules(root: Path) -> frozenset[str]:
    """Names of the modules and packages in a checkout, compiled ones too where they are sources."""
    paths = [path.relative_to(root) for path in python_files(root)]
    return frozenset(part for path in paths for part in (*path.parts[:-1], path.stem))


def _oldest_python(root: Path) -> tuple[int, ...]:
    """The oldest Python that the project says it runs with."""
    project = toml(root / "pyproject.toml").get("project", {})
    match = _OLDEST.search(f"{project.get('requires-python')} {text(root / 'setup.cfg')}")
    return tuple(map(int, match.groups())) if match else ()


def python_files(root: Path) -> list[Path]:
    """Python's files of a checkout, but for hidden folders and environments."""
    found: list[Path] = []
    for place, folders, names in os.walk(root):
        if "pyvenv.cfg" in names:
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += (Path(place, name) for name in sorted(names) if name.endswith(".py"))
        if len(found) > 10 * PROJECT.importing:
            break
    return found


def _passed_over(parts: Sequence[str]) -> bool:
    return any(part in _PASSED_OVER for part in parts[:-1])


def _candidates(home: Path) -> Iterator[Iterable[tuple[str, str]]]:
    """Interpreters that are there, each once, with the words for where they were found: the environments
    that the user made, those of PATH, and afterd's own.
    """
    own = Path(sys.prefix).resolve()
    made = list(_made_environments(home, own))
    yield made
    yield _of_path({own, *(Path(python).parent.parent.resolve() for python, _ in made)})
    yield [(sys.executable, "afterd's own environment")]


def _made_environments(home: Path, own: Path) -> Iterator[tuple[str, str]]:
    seen = {own}
    for folder, where in _environments(home):
        python = folder / "bin" / "python"
        if folder.resolve() not in seen and python.exists():
            seen.add(folder.resolve())
            yield str(python.absolute()), where
    if os.environ.get("VIRTUAL_ENV") and Path(os.environ["VIRTUAL_ENV"]).resolve() == own:
        yield sys.executable, "the active environment, which is afterd's own"


def _of_path(seen: set[Path]) -> Iterator[tuple[str, str]]:
    """The Pythons of PATH, one for each installation that is not among those ``seen``."""
    for entry in os.environ.get("PATH", os.defpath).split(os.pathsep):
        for name in ("python3", "python"):
            python = Path(entry, name)
            if python.is_file() and Path(entry).resolve().parent not in seen:
                seen.add(Path(entry).resolve().parent)
                yield str(python), f"{python} of PATH"


def _environments(home: Path) -> Iterator[tuple[Path, str]]:
    active, conda = (os.environ.get(name, "") for name in ("VIRTUAL_ENV", "CONDA_PREFIX"))
    if active:
        yield Path(active), "the active environment"
    for name in BESIDE:
        yield home / name, name
    if project := os.environ.get("UV_PROJECT_ENVIRONMENT", ""):
        yield home / project, "uv's environment"
    cache = _folder("XDG_CACHE_HOME", ".cache")
    data = _folder("XDG_DATA_HOME", ".local/share")
    poetry = Path(os.environ.get("POETRY_CACHE_DIR", cache / "pypoetry")) / "virtualenvs"
    for folder in sorted(poetry.glob(f"*-{_short_name(os.path.realpath(home))}-py*")):
        yield folder, f"poetry's environment {folder.name}"
    hatch = Path(os.environ.get("HATCH_DATA_DIR", data / "hatch")) / "env" / "virtual"
    for folder in sorted(hatch.glob(f"*/{_short_name(str(home))}/*")):
        yield folder, f"hatch's environment {folder.name}"
    for tool in ("tox", "nox"):
        for folder in sorted((home / f".{tool}").glob("*")):
            yield folder, f"{tool}'s environment {folder.name}"
    if conda:  # its base is always active
        yield Path(conda), "conda's environment"


def _folder(variable: str, below_home: str) -> Path:
    return Path(os.environ.get(variable) or Path.home() / below_home)


def _short_name(path: str) -> str:
    """A project's folder in the names of poetry's and hatch's environments."""
    return base64.urlsafe_b64encode(hashlib.sha256(path.encode()).digest()).decode()[:8]
