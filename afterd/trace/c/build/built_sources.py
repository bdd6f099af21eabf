"""Which source files a project's builds compile: beside these stand examples, benchmarks, other programs.

Files are told apart by their names alone, as a build may copy a source before it compiles it: too many are said to be
compiled, never too few.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache, cached_property
from pathlib import Path, PurePath

from afterd.limits import VARIANT_TEXT
from afterd.model.change import Change
from afterd.trace.c.build.compilations import compilations
from afterd.trace.c.build.generators import MADE_AS
from afterd.trace.c.build.modules import ModuleStore
from afterd.trace.c.build.source import Sources
from afterd.trace.c.build.syntax_check import COMPILED
from afterd.vcs.grammar_names import GRAMMARS

_LINE = re.compile(rb'^[ \t]*#[ \t]*(?:line[ \t]+)?\d+[ \t]+"([^"\n]+)"', re.MULTILINE)
_WORD = re.compile(rb"[\w./+-]+\.\w+")


class BuiltSources:
    """What the builds in some stores compiled, woven or not; ``sources`` are their versions' files."""

    def __init__(self, stores: Sequence[ModuleStore], sources: Sequence[Sources]) -> None:
        self._compiled = frozenset(
            each.source for store in stores for each in compilations(store.directory)
        )
        plain = (PurePath(path).name for store in stores for path in store.opaque_sources())
        self._names = frozenset([*(path.name for path in self._compiled), *plain])
        self._sources = sources
        self.lack = cache(self._lack)

    def lack_both_of(self, change: Change) -> bool:
        """Whether they lack a change's file in either version: nothing of the program needs it, or is needed by it."""
        return self.lack(change.file) and self.lack(change.old_file)

    def _lack(self, file: str) -> bool:
        """Whether a file is a source that was neither compiled nor included by one that was, or a grammar of which
        nothing was made that was.
        """
        path = PurePath(file)
        if not self._names or path.name in self._names:
            return False
        if path.suffix in GRAMMARS:
            made = (f"{path.stem}.", *MADE_AS)
            named = path.name in self._made_of
            return not named and not any(name.startswith(made) for name in self._names)
        if path.suffix not in COMPILED:
            return False
        including = {each for sources in self._sources for each in sources.includers(file)}
        return all(PurePath(each).name not in self._names for each in including)

    @cached_property
    def _made_of(self) -> frozenset[str]:
        """The files that what was compiled says it was made of: in its first lines, or of one of its lines."""
        return frozenset(PurePath(name).name for path in self._compiled for name in _named(path))


def _named(path: Path) -> Iterator[str]:
    with suppress(OSError):  # a build may remove what it made
        text = path.read_bytes()
        for name in (*_LINE.findall(text), *_WORD.findall(text[: VARIANT_TEXT.generated])):
            yield os.fsdecode(name)
