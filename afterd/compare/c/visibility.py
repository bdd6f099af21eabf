"""Where what a file declares can be known: in modules that are made of it or include it.

A field is tied to statements by its name alone, and names are few: nasm's ``offset`` stood in a struct of
one output format that was taken away, and each statement that read another struct's ``offset`` was said to be
without it. Includes are compared by name, so the answer may be too large; where nobody includes a file by its name
(a header that a compiler's option includes, a grammar, a template) nothing is told, and it counts as known everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from afterd.compare.c.alignment import Alignment
from afterd.model.change import Change, ChangeId
from afterd.trace.c.build.source import Sources
from afterd.trace.c.read import Unit


class Visibility:
    """Which modules of two versions may know what a change declares."""

    def __init__(
        self, changes: Iterable[Change], versions: tuple[Sources, Sources], alignment: Alignment
    ) -> None:
        self._versions = versions
        self._files = {change.id: {change.old_file, change.file} for change in changes}
        units = (*alignment.bad.program.units, *alignment.green.program.units)
        self._made_of = frozenset(unit.file for unit in units)
        self._knowing = cache(self._knowing_files)

    def reaches(self, change: ChangeId, unit: Unit) -> bool:
        """Whether a module may know what a change declares, also where that cannot be told."""
        module = unit.file
        if all(module not in version.compiled for version in self._versions):
            return True
        knowing = [self._knowing(file) for file in self._files[change]]
        return any(not files or module in files for files in knowing)

    def _knowing_files(self, file: str) -> frozenset[str]:
        """The files of the modules that may know what a file declares; none where it is not told."""
        reached = frozenset[str]().union(*(version.includers(file) for version in self._versions))
        return reached | ({file} & self._made_of)
