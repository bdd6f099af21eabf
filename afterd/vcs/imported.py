"""Which files are tests: Python files that are named like some and belong to the program, and a script that is none by
its name and is the test all the same.

jinja2's ``tests.py`` holds what templates call tests. Kept as in the bad version, such a file leaves
no good version to compare with. A package that imports the file itself tells it from a real test:
nobody's program imports its tests. Nor does it import the script that the test command runs (``python check.py``):
one that it imports, or that stands in a package, is run as a part of the program.
"""

from __future__ import annotations

import ast
import glob
import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from posixpath import dirname, splitext

from afterd.model.change import FileKind
from afterd.vcs.enclosing import parse_python
from afterd.vcs.kinds import TESTS, FileRules, kind_of
from afterd.vcs.paths import path_text
from afterd.vcs.trees import TreeReader

_INIT = "__init__.py"
# No statement that imports has any other sign in it; what its comments hold is taken for words of it.
_IMPORT = re.compile(rb"\b(?:import|from)\b(?:[\w\x80-\xff\s.,()*\\;]|#[^\n]*)*")
_WORD = re.compile(rb"[\w\x80-\xff]+")


def knowing_program(
    reader: TreeReader, tree: str, paths: Collection[str], rules: FileRules
) -> FileRules:
    """The rules with those of ``paths``, files of ``tree``, that only look like tests, and with the script of the
    test command, if it is among them and is one.

    What a user calls a test file is one.
    """
    rules = _with_script(reader, tree, paths, rules)
    declared = replace(rules, tests=tuple(glob for glob in rules.tests if glob not in TESTS))
    alike = {
        path
        for path in paths
        if kind_of(path, rules) is FileKind.TEST and kind_of(path, declared) is not FileKind.TEST
    }
    return replace(rules, program=imported_by_program(reader, tree, alike, rules))


def _with_script(
    reader: TreeReader, tree: str, paths: Collection[str], rules: FileRules
) -> FileRules:
    """The rules that take the script of the test command for a test file, where it is not of the program."""
    script = rules.script
    if script not in paths or kind_of(script, rules) is not FileKind.SOURCE:
        return rules
    beside = f"{dirname(script)}/{_INIT}".lstrip("/")
    within = replace(rules, tests=(*rules.tests, f"/{glob.escape(script)}"))
    is_program = reader.lookup(tree, os.fsencode(beside)) is not None or imported_by_program(
        reader, tree, [script], within
    )
    return rules if is_program else within


def imported_by_program(
    reader: TreeReader, tree: str, paths: Collection[str], rules: FileRules
) -> frozenset[str]:
    """Those of ``paths``, test files of ``tree``, that their own package imports outside its tests,
    directly or through one another.
    """
    wanted = {path for path in paths if path.endswith(".py")}
    if not wanted:
        return frozenset()
    files = {path_text(path): entry for path, entry in reader.files(tree) if entry.is_file}
    packages = _packages(wanted, files)
    found: set[str] = set()
    asked = [path for path in files if path.endswith(".py") and _is_source(path, rules)]
    while asked:
        new: set[str] = set()
        for importer in asked:
            for folder, candidates in packages.items():
                if _is_within(importer, folder):
                    new |= candidates.imported(importer, reader.read(files[importer].id))
        new -= found
        found |= new
        asked = sorted(new) if found != wanted else []
    return frozenset(found)


@dataclass(frozen=True)
class _Candidates:
    """Test files of one package, by the ends of their dotted paths."""

    by_end: Mapping[tuple[str, ...], Collection[str]]
    last_words: frozenset[bytes]

    def imported(self, importer: str, content: bytes) -> set[str]:
        """Those that a file imports."""
        if self.last_words.isdisjoint(_words_of_imports(content)):
            return set()
        named = _imported_names(content, dirname(importer)) & self.by_end.keys()
        return {path for end in named for path in self.by_end[end]}


def _packages(paths: Collection[str], files: Collection[str]) -> dict[str, _Candidates]:
    """The candidates of each package."""
    ends: dict[str, dict[tuple[str, ...], list[str]]] = {}
    for path in sorted(paths):
        by_end = ends.setdefault(_package(path, files), {})
        words = _words(path)
        # At least the module and the package it is in: a bare name may be somebody else's.
        for start in range(max(len(words) - 1, 1)):
            by_end.setdefault(tuple(words[start:]), []).append(path)
    return {
        root: _Candidates(by_end, frozenset(end[-1].encode() for end in by_end if end))
        for root, by_end in ends.items()
    }


def _is_source(path: str, rules: FileRules) -> bool:
    return kind_of(path, rules) is FileKind.SOURCE


def _is_within(path: str, folder: str) -> bool:
    return path.startswith(folder) if folder else "/" not in path


def _package(path: str, files: Collection[str]) -> str:
    """The outermost package around a file (or else its folder), with a slash at its end."""
    root = folder = dirname(path)
    while folder and f"{folder}/{_INIT}" in files:
        root, folder = folder, dirname(folder)
    return root + "/" if root else ""


@lru_cache(maxsize=4_000)
def _words_of_imports(content: bytes) -> frozenset[bytes]:
    """The words that follow ``import`` or ``from`` within one statement, those of comments and prose among them: what
    is not here is not imported, and the file need not be parsed.
    """
    return frozenset(word for run in _IMPORT.findall(content) for word in _WORD.findall(run))


@lru_cache(maxsize=4_000)
def _imported_names(content: bytes, folder: str) -> frozenset[tuple[str, ...]]:
    """What a file in a folder imports, read once for all versions of the program that have it as it is: of twisted's
    800 files the commits of a range change a few.
    """
    tree = parse_python(content)
    return frozenset(_named_modules(tree, _words(folder))) if tree is not None else frozenset()


def _named_modules(tree: ast.AST, package: list[str]) -> Iterator[tuple[str, ...]]:
    """What import statements name and the packages it is in, as words; relative ones from the root
    of the tree.
    """
    for node in ast.walk(tree):
        modules: list[list[str]] = []
        if isinstance(node, ast.Import):
            modules = [alias.name.split(".") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = above + (node.module.split(".") if node.module else [])
            modules = [[*base, alias.name] for alias in node.names]
        for words in modules:
            yield from (tuple(words[:end]) for end in range(1, len(words) + 1))


def _words(path: str) -> list[str]:
    """``a/b.py`` as ``a``, ``b``; a package by its folder."""
    return splitext(path.removesuffix("/" + _INIT))[0].split("/") if path else []
