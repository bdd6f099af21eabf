"""Whether JavaScript tests can be run before their package is built: what they import is read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from afterd.execution.runners.reading import text
from afterd.limits import PROJECT

_IMPORTED = re.compile(
    r"(?:\bfrom|\bimport|\brequire(?:\.resolve)?|\bmock)\s*\(?\s*['\"](?P<what>[^'\"\n]+)['\"]"
)
_COMMENT = re.compile(r"^[ \t]*(?://[^\n]*|/\*.*?\*/)", re.MULTILINE | re.DOTALL)
_SOURCES = re.compile(r"\.[cm]?[jt]sx?$")
_COMPILED = re.compile(r"\.[cm]?tsx?$|\.jsx$")
_ENDINGS = ("", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx", ".jsx", ".json", ".vue")


def needs_no_build(root: Path, tests: Iterable[Path], package: str, *, compiles: bool) -> bool:
    """Whether all that ``tests`` import by relative paths, and these files import, stands in ``root``.

    With ``compiles`` the runner reads TypeScript by itself. False where there is no test, or a doubt:
    more files than are worth reading, or the package asked for by its own name.
    """
    count = 0
    for count, (file, names) in enumerate(_reached(tests), start=1):
        if count > PROJECT.imported or (_COMPILED.search(file.name) and not compiles):
            return False
        for name in names:
            if not name.startswith("."):
                if name.startswith("#") or (package and f"{name}/".startswith(f"{package}/")):
                    return False
                continue
            found = _file_of((file.parent / name).resolve())
            if found is None or root.resolve() not in found.parents:
                return False
    return count > 0


def lacks_itself(root: Path, tests: Iterable[Path], package: str, exports: object) -> bool:
    """Whether ``tests``, or what they import by relative paths, ask for the package by its own name, and what that
    exports is not in ``root``.
    """
    if not package or all((root / place.partition("*")[0]).exists() for place in _places(exports)):
        return False
    return any(
        f"{name}/".startswith(f"{package}/")
        for _, names in islice(_reached(tests), PROJECT.imported + 1)
        for name in names
    )


def _reached(tests: Iterable[Path]) -> Iterator[tuple[Path, Sequence[str]]]:
    """The tests and the sources that they, and these, import by relative paths, each once with what it imports."""
    waiting, seen = list(tests), set[Path]()
    while waiting:
        file = waiting.pop()
        if file in seen:
            continue
        seen.add(file)
        names = list(_imported_by(file))
        yield file, names
        relative = (name for name in names if name.startswith("."))
        found = (_file_of((file.parent / name).resolve()) for name in relative)
        waiting += (each for each in found if each is not None and _SOURCES.search(each.name))


def _places(exports: object) -> Iterator[str]:
    """The files that a package.json exports, whatever their conditions."""
    if isinstance(exports, str):
        yield exports
    for each in exports.values() if isinstance(exports, dict) else ():
        yield from _places(each)


def _imported_by(file: Path) -> Iterator[str]:
    for match in _IMPORTED.finditer(_COMMENT.sub("", text(file))):
        yield match["what"].partition("?")[0]


def _file_of(path: Path) -> Path | None:
    """The file that a relative import names, as Node and the compilers look for it."""
    stem = path.with_suffix("") if path.suffix in {".js", ".mjs", ".cjs", ".jsx"} else path
    for base in (path, stem, path / "index"):
        for ending in _ENDINGS:
            candidate = base.with_name(base.name + ending) if base.name else base
            if candidate.is_file():
                return candidate
    return None
