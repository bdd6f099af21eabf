"""From where a run imported the project's own modules, as Python itself tells it.

A script that lies outside of the checkout imports what is installed, or the user's work tree: then every
version is tested with the same code. ``PYTHONVERBOSE`` has each Python that a command starts name the
files it loads, whatever is between the two.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from afterd.execution.runners.interpreters import python_files

_LOADED = re.compile(
    r"^# (?:[^\n]* matches (?P<source>/[^\n]+)|code object from '?(?P<read>/[^'\n]+\.py)'?)$",
    re.MULTILINE,
)
_UNFOUND = re.compile(r"No module named '?(\w+)'?(?![\w.])")
_INSTALLED = re.compile(r"(?P<folder>.*/(?:site|dist)-packages)/(?P<module>.+)")


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A module or package of the project that was not the checkout's: its name, the file or folder that it
    was, and the folder of the checkout, from its top, that would have to come first on the import path.
    """

    name: str
    place: str
    root: str


@dataclass(frozen=True, slots=True)
class _Tree:
    """The Python files of a checkout as they are imported: from its top, or from a folder at its top that is
    no package.
    """

    packages: frozenset[str]
    roots: Mapping[str, str]

    @classmethod
    def of(cls, slot: Path) -> _Tree:
        paths = [path.relative_to(slot) for path in python_files(slot)]
        packages = frozenset(path.parts[0] for path in paths if path.parts[1:] == ("__init__.py",))
        tree = cls(packages, {})
        return cls(packages, {module: root for root, module in map(tree.split, map(str, paths))})

    def split(self, path: str) -> tuple[str, str]:
        """The folder that a file is imported from, and its path below that."""
        first, _, rest = path.partition("/")
        return (first, rest) if rest and first not in self.packages else (".", path)


def unfound_module(said: str, slot: Path) -> Elsewhere | None:
    """The project's own top module that Python says it does not find; its place in the checkout is known."""
    roots = _Tree.of(slot).roots
    for name in _UNFOUND.findall(said):
        for path in (f"{name}.py", f"{name}/__init__.py"):
            if path in roots:
                root = roots[path]
                return Elsewhere(name, path if root == "." else f"{root}/{path}", root)
    return None


def telling_imports(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment in which Python says what it loads, on its standard error."""
    options = f"{environment.get('PYTEST_ADDOPTS', '')} --capture=no".strip()
    return {**environment, "PYTHONVERBOSE": "1", "PYTEST_ADDOPTS": options}


def imported_elsewhere(said: str, slot: Path, home: Path | None) -> Elsewhere | None:
    """What of the project in ``slot`` a run imported from elsewhere by what it ``said``, and not from the slot
    too; None: nothing. ``home`` is the user's work tree.
    """
    tree = _Tree.of(slot)
    here, there = set[str](), dict[str, Elsewhere]()
    for match in _LOADED.finditer(said):
        file = match["source"] or match["read"]
        if file.startswith(f"{slot}/"):
            here.add(_top(tree.split(file.removeprefix(f"{slot}/"))[1]))
        elif installed := _INSTALLED.fullmatch(file):
            folder, module = installed["folder"], installed["module"]
            _note(there, tree, folder, module)
        elif home is not None and file.startswith(f"{home}/"):
            root, module = tree.split(file.removeprefix(f"{home}/"))
            _note(there, tree, str(home) if root == "." else f"{home}/{root}", module)
    return next((each for name, each in there.items() if name not in here), None)


def _note(there: dict[str, Elsewhere], tree: _Tree, folder: str, module: str) -> None:
    if module in tree.roots:
        place = f"{folder}/{PurePosixPath(module).parts[0]}"
        there.setdefault(_top(module), Elsewhere(_top(module), place, tree.roots[module]))


def _top(module: str) -> str:
    return PurePosixPath(module).parts[0].removesuffix(".py")
