"""Whether a variant's C and C++ files still compile, each alone: a second instead of a build.

The sources that changed, and those that include a header that changed, are read as the traced build
compiled them, with the variant's texts laid over the bad version's files (clang's virtual file
system). Only a failure says anything: a linker may still miss what a compiler does not, and warnings
that a compiler of today makes errors of (an undeclared function) are for the real build to judge.

A header may reach a hundred files, and a search asks for many variants that differ in one of them: what
a file was told with the same texts is remembered, and the file that failed last is asked first.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePath

from afterd.execution.build import diagnostics
from afterd.execution.environment import scrubbed_environment
from afterd.execution.includes import INCLUDED, IncludeGraph, included_names
from afterd.execution.process import Command
from afterd.execution.sandbox import run
from afterd.execution.toolchain import is_zigs
from afterd.limits import ProcessLimits
from afterd.model.change import Change, ChangeSet, FileKind
from afterd.trace.c.build.compilations import Compilation

_COMPILED = frozenset([".c", ".cc", ".cpp", ".cxx", ".c++", ".cp"])
_GENERATORS = frozenset([".y", ".yy", ".ypp", ".l", ".ll", ".lpp", ".in", ".m4", ".re", ".gperf"])
_LINES = 60

TextsOf = Callable[[ChangeSet], Mapping[str, bytes]]
"""The files of a variant that differ from the bad version's, by path; those it lacks left out."""


class SyntaxCheck:
    """Answers for the variants of one bad version, which was built in ``root``."""

    def __init__(
        self,
        root: Path,
        compilations: Iterable[Compilation],
        changes: Mapping[str, Change],
        texts_of: TextsOf,
        limits: ProcessLimits,
    ) -> None:
        self._root = root.resolve()
        self._compilations = tuple(compilations)
        self._changes = changes
        self._texts_of = texts_of
        self._limits = limits
        self._graph = IncludeGraph(self._root)
        self._reach: dict[str, set[Path]] = {}
        self._said: dict[tuple[Compilation, str], str] = {}
        self._failed: dict[Compilation, int] = {}

    def against(self, reverted: ChangeSet) -> str:
        """A compiler's first errors; empty where it has none, or a build may depend on more."""
        changed = [self._changes[c] for c in reverted if c in self._changes]
        if any(_steers_the_build(change) for change in changed):
            return ""
        texts = {name: text for name, text in self._texts_of(reverted).items() if _is_c(name)}
        with tempfile.TemporaryDirectory(prefix="afterd-syntax-") as scratch:
            overlay = self._overlay(Path(scratch), texts)
            return self._first_failure(self._concerned(texts), texts, overlay)

    def _first_failure(
        self, concerned: list[Compilation], texts: Mapping[str, bytes], overlay: Path
    ) -> str:
        """What is said against one of them; as many are asked at a time as there are processors."""
        width = os.cpu_count() or 1
        with ThreadPoolExecutor(width) as pool:
            for start in range(0, len(concerned), width):
                some = concerned[start : start + width]
                said = pool.map(lambda each: self._told(each, texts, overlay), some)
                for compilation, failure in zip(some, said, strict=True):
                    if failure:
                        self._failed[compilation] = len(self._said)
                        return failure
        return ""

    def _concerned(self, texts: Mapping[str, bytes]) -> list[Compilation]:
        """What must be compiled again: what failed last, what changed itself, what includes it."""
        own = {self._root / name for name in texts}
        including = set().union(*map(self._reached_by, texts))
        concerned = [c for c in self._compilations if c.source in own | including]
        return sorted(concerned, key=lambda c: (-self._failed.get(c, -1), c.source not in own))

    def _reached_by(self, name: str) -> set[Path]:
        if name not in self._reach:
            self._reach[name] = self._graph.includers([name])
        return self._reach[name]

    def _told(self, compilation: Compilation, texts: Mapping[str, bytes], overlay: Path) -> str:
        """What is said against one file; asked for once with the same texts of what it includes."""
        key = compilation, _digest({name: texts[name] for name in self._read(compilation, texts)})
        if key not in self._said:
            self._said[key] = self._failure(compilation, overlay)
        return self._said[key]

    def _read(self, compilation: Compilation, texts: Mapping[str, bytes]) -> list[str]:
        """Which of ``texts`` a file reads, as it was and as they are now."""
        read = [
            name
            for name in texts
            if self._root / name == compilation.source
            or compilation.source in self._reached_by(name)
        ]
        for name in read:  # grows while we walk it
            included = included_names(texts[name])
            read += [n for n in texts if n not in read and _is_among(n, included)]
        return read

    def _overlay(self, scratch: Path, texts: Mapping[str, bytes]) -> Path:
        """The variant's files, for ``-ivfsoverlay``; a directory's name no compiler cache has seen."""
        roots = []
        for number, (name, text) in enumerate(sorted(texts.items())):
            laid = scratch / f"{number}{PurePath(name).suffix}"
            laid.write_bytes(text)
            path = str(self._root / name)
            roots.append({"type": "file", "name": path, "external-contents": str(laid)})
        overlay = scratch / "overlay.yaml"
        overlay.write_text(json.dumps({"version": 0, "use-external-names": False, "roots": roots}))
        return overlay

    def _failure(self, compilation: Compilation, overlay: Path) -> str:
        argv = (*compilation.argv, *_reading(compilation, overlay), "-ivfsoverlay", str(overlay))
        command = Command(argv, compilation.directory, scrubbed_environment(), merge=True)
        result = run(command, self._limits, scratch=overlay.parent)
        try:
            if result.status is None or result.succeeded:
                return ""
            text = result.stdout.text().replace(f"{self._root}{os.sep}", "")
            return diagnostics(text, _LINES) if "error:" in text else ""
        finally:
            result.remove()


def _reading(compilation: Compilation, overlay: Path) -> tuple[str, ...]:
    """How to ask for errors alone; zig looks for an object even then, and must make one."""
    if is_zigs(compilation.argv):
        return "-c", "-O0", "-o", str(overlay.with_name(f"{compilation.source.stem}.o"))
    return ("-fsyntax-only",)


def _digest(texts: Mapping[str, bytes]) -> str:
    found = hashlib.sha256()
    for name, text in sorted(texts.items()):
        found.update(f"{name}\0{len(text)}\0".encode(errors="surrogateescape") + text)
    return found.hexdigest()


def _is_among(name: str, included: frozenset[str]) -> bool:
    return PurePath(name).name in included or "*" in included


def is_read(change: Change) -> bool:
    """Whether the compiler reads the changed file itself."""
    return _is_c(change.file) and not _steers_the_build(change)


def _steers_the_build(change: Change) -> bool:
    """Whether what the compiler is given may depend on it."""
    generates = PurePath(change.file).suffix.lower() in _GENERATORS
    return generates or change.kind is FileKind.BUILD


def _is_c(name: str) -> bool:
    return PurePath(name).suffix.lower() in _COMPILED | INCLUDED
