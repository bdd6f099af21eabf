"""Which source files a project's builds compile: beside these stand examples, benchmarks, other programs.

Files are told apart by their names alone, as a build may copy a source before it compiles it: too many are said to be
compiled, never too few.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from afterd.trace.c.build.compilations import compilations
from afterd.trace.c.build.modules import ModuleStore
from afterd.trace.c.build.source import Sources
from afterd.trace.c.build.syntax_check import COMPILED


class BuiltSources:
    """What the builds in some stores compiled, woven or not; ``sources`` are their versions' files."""

    def __init__(self, stores: Sequence[ModuleStore], sources: Sequence[Sources]) -> None:
        compiled = (each.source.name for store in stores for each in compilations(store.directory))
        plain = (PurePath(path).name for store in stores for path in store.opaque_sources())
        self._names = frozenset([*compiled, *plain])
        self._sources = sources

    def lack(self, file: str) -> bool:
        """Whether a file is a source that was neither compiled nor included by one that was."""
        path = PurePath(file)
        if path.suffix not in COMPILED or not self._names or path.name in self._names:
            return False
        including = {each for sources in self._sources for each in sources.includers(file)}
        return all(PurePath(each).name not in self._names for each in including)
