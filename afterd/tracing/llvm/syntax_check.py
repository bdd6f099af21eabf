"""Whether a variant's C and C++ files still compile, each alone: a second instead of a build.

The sources that changed, and those that include a header that changed, are compiled as the traced
build compiled them, with the variant's texts laid over the bad version's files (clang's virtual file
system). Only a failure says anything: a linker may still miss what a compiler does not, and warnings
that a compiler of today makes errors of (an undeclared function) are for the real build to judge.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path, PurePath

from afterd.execution.build import diagnostics
from afterd.execution.environment import scrubbed
from afterd.execution.includes import INCLUDED, IncludeGraph
from afterd.execution.process import Command
from afterd.execution.sandbox import run
from afterd.limits import ProcessLimits
from afterd.model.change import Change, ChangeSet, FileKind
from afterd.tracing.llvm.compilations import Compilation

_COMPILED = frozenset([".c", ".cc", ".cpp", ".cxx", ".c++", ".cp"])
_GENERATORS = frozenset([".y", ".yy", ".ypp", ".l", ".ll", ".lpp", ".in", ".m4", ".re", ".gperf"])
_LINES = 8

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

    def against(self, reverted: ChangeSet) -> str:
        """A compiler's first errors; empty where it has none, or a build may depend on more."""
        changed = [self._changes[c] for c in reverted if c in self._changes]
        if any(_steers_the_build(change) for change in changed):
            return ""
        texts = {name: text for name, text in self._texts_of(reverted).items() if _is_c(name)}
        with tempfile.TemporaryDirectory(prefix="afterd-syntax-") as scratch:
            overlay = self._overlay(Path(scratch), texts)
            failures = (self._failure(c, overlay) for c in self._concerned(texts))
            return next(filter(None, failures), "")

    def _concerned(self, texts: Mapping[str, bytes]) -> Iterator[Compilation]:
        """What must be compiled again: what changed itself before what includes it."""
        own = {self._root / name for name in texts}
        yield from (c for c in self._compilations if c.source in own)
        including = self._graph.includers(list(texts)) - own
        yield from (c for c in self._compilations if c.source in including)

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
        argv = (
            *compilation.argv,
            *("-c", "-O0", "-o", str(overlay.with_suffix(".o")), "-ivfsoverlay", str(overlay)),
        )
        command = Command(argv, compilation.directory, scrubbed(), merge=True)
        result = run(command, self._limits, scratch=overlay.parent)
        try:
            if result.status is None or result.succeeded:
                return ""
            text = result.stdout.text().replace(f"{self._root}{os.sep}", "")
            return diagnostics(text, _LINES) if "error:" in text else ""
        finally:
            result.remove()


def is_read(change: Change) -> bool:
    """Whether the compiler reads the changed file itself."""
    return _is_c(change.file) and not _steers_the_build(change)


def _steers_the_build(change: Change) -> bool:
    """Whether what the compiler is given may depend on it."""
    generates = PurePath(change.file).suffix.lower() in _GENERATORS
    return generates or change.kind is FileKind.BUILD


def _is_c(name: str) -> bool:
    return PurePath(name).suffix.lower() in _COMPILED | INCLUDED
