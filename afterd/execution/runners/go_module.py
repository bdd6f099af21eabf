"""Go without modules, as it was until 2018: which path the packages of a checkout import each other by."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from afterd.execution.runners.reading import text

_SAID = re.compile(r"^package \w+ *// *import \"(?P<path>[^\"\s]+)\"", re.MULTILINE)
_NAMED = re.compile(r"^package (?P<name>\w+)", re.MULTILINE)
_IMPORTED = re.compile(
    r"^(?:import)?[ \t]*(?:[\w.]+[ \t]+)?\"(?P<path>[\w.~-]+\.\w+/[\w./~-]+)\"", re.MULTILINE
)
_VERSION = re.compile(r"^go-|\.v\d+$")
"""What an import path may have about a package's name."""
_NOT_OURS = frozenset({"vendor", "testdata", "Godeps"})


def _go_files(root: Path) -> Iterator[Path]:
    """The Go files of a checkout that are its own."""
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(
            name for name in folders if not name.startswith((".", "_")) and name not in _NOT_OURS
        )
        yield from (Path(folder, name) for name in sorted(files) if name.endswith(".go"))


def module_file(root: Path) -> str:
    """The ``go.mod`` that such a checkout would have; empty where it has no Go test, or no Go at its top: a
    project in another language may come with a tool in Go.
    """
    if next(root.glob("*.go"), None) is None:
        return ""
    files = list(_go_files(root))
    if not any(path.name.endswith("_test.go") for path in files):
        return ""
    return f"module {_module_path(root, files)}\n"


def package_folders(root: Path) -> tuple[str, ...]:
    """The folders that hold packages, from the top."""
    return tuple(
        dict.fromkeys(path.parent.relative_to(root).as_posix() for path in _go_files(root))
    )


def without_modules(root: Path) -> dict[str, str]:
    """The folders of such a checkout whose packages need one that is neither Go's nor its own, with what they need:
    nothing says which version of it, and with one folder that cannot be loaded Go runs no test of any.
    """
    files = list(_go_files(root))
    module = _module_path(root, files)
    imports: dict[str, set[str]] = {}
    for path in files:
        folder = path.parent.relative_to(root).as_posix()
        said = {match["path"] for match in _IMPORTED.finditer(text(path))}
        imports.setdefault(folder, set()).update(said)
    lacking: dict[str, str] = {}
    for folder in imports:
        reached, asked = {folder}, [folder]
        while asked:
            for name in sorted(imports.get(asked.pop(), ())):
                own = "." if name == module else name.removeprefix(f"{module}/")
                if own == name and not (root / "vendor" / name).is_dir():
                    lacking.setdefault(folder, name)
                elif own not in reached:
                    reached.add(own)
                    asked.append(own)
    return lacking if len(lacking) < len(imports) else {}


def _module_path(root: Path, files: list[Path]) -> str:
    """What a package says of itself, else what most imports of the folders here begin with, else the package's name."""
    texts = {path: text(path) for path in files}
    top = [said for path, said in texts.items() if path.parent == root]
    if said := next(filter(None, map(_SAID.search, top)), None):
        return said["path"]
    folders = {path.parent.relative_to(root).as_posix() for path in files} - {"."}
    imported = [match["path"] for each in texts.values() for match in _IMPORTED.finditer(each)]
    ours: Counter[str] = Counter()
    for path in imported:
        ours.update(
            path.removesuffix(f"/{folder}") for folder in folders if path.endswith(f"/{folder}")
        )
    if ours:
        return max(ours, key=lambda path: (ours[path], -len(path)))
    names = {match["name"].removesuffix("_test") for each in top for match in _NAMED.finditer(each)}
    of_tests = (path for path in imported if _VERSION.sub("", path.rpartition("/")[2]) in names)
    return next(of_tests, min(names - {"main"}, default="main"))
