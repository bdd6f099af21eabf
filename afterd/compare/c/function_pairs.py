"""Which function of the good version is the same function as one of the failing version.

In C it has the same name; of two names that only one version has each, the one whose head stood where
the other's stands. A C++ name holds the types of the parameters and the arguments of the template, so
that a parameter more, or another type, gives the same function a new one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, cached_property

from afterd.model.location import Location
from afterd.trace.c.read import FunctionView, Program
from afterd.trace.linemap import LineMap, Reversed

_Declared = tuple[str, str]
_PLAIN = re.compile(r"operator\W+|[^<]*")


class FunctionPairs:
    """Functions of the failing version ↔ functions of the good one.

    Several instantiations of a template are told apart by the calls that began them: ``meet`` says
    which two were called by the same call.
    """

    def __init__(
        self,
        bad: Program,
        good: Program,
        lines: LineMap | Reversed,
        executed: Callable[[FunctionView], bool],
    ) -> None:
        self._bad, self._good, self._lines = bad, good, lines
        self._executed = executed
        self._met: dict[str, FunctionView] = {}
        self._named = cache(self._by_name)

    def of(self, view: FunctionView) -> FunctionView | None:
        """The same function of the good version; None where that is not known."""
        return (
            self._named(view)
            or self._met.get(view.name)
            or self._declared(view)
            or self._renamed(view)
        )

    def is_new(self, view: FunctionView) -> bool:
        """Whether the good version has no function of this very name."""
        return not self._good.has(view.name)

    def meet(self, view: FunctionView, other: FunctionView) -> bool:
        """One call began ``view`` here and ``other`` in the good version; whether that is one function."""
        if self.of(view) is None and self._alike(view, other):
            self._met[view.name] = other
        return self.of(view) is other

    def _by_name(self, view: FunctionView) -> FunctionView | None:
        """The function of this name: of the same file first, and of its copies in several modules the
        one in the same module where each has its own, or else the one that ran.
        """
        file = self._lines.to_good(view.location.file, 1)[0]
        module = self._lines.to_good(_source(view), 1)[0]

        def likeness(other: FunctionView) -> tuple[bool, bool, bool, bool]:
            same = _source(other) == module
            own = same and " internal " in other.function.header
            return other.location.file == file, own, self._executed(other), same

        found = self._good.functions_named(view.name)
        return max(found, key=likeness, default=None)

    def _alike(self, view: FunctionView, other: FunctionView) -> bool:
        place = self._lines.to_good(view.location.file, view.location.line)
        return plain_name(view) == plain_name(other) and place == (
            other.location.file,
            other.location.line,
        )

    def _declared(self, view: FunctionView) -> FunctionView | None:
        """The only function of its plain name in its file that either version has under another name."""
        file = self._lines.to_good(view.location.file, 1)[0]
        here = self._unnamed_here.get((view.location.file, plain_name(view)), [])
        there = self._unnamed_there.get((file, plain_name(view)), [])
        return there[0] if len(here) == len(there) == 1 else None

    def _renamed(self, view: FunctionView) -> FunctionView | None:
        """The function whose head stood where this one's stands, where a line of either is one of the other's."""
        if self._good.has(view.name):
            return None
        file, line = self._lines.to_good(view.location.file, view.location.line)
        for other in self._unnamed_there_by_place.get((file, line), []):
            if not self._bad.has(other.name) and self._share_a_line(view, other):
                return other
        return None

    def _share_a_line(self, view: FunctionView, other: FunctionView) -> bool:
        to_good, there = self._lines.to_good, _lines(other)
        return any(
            self._lines.is_kept(file, line) and to_good(file, line) in there
            for file, line in _lines(view)
        )

    @cached_property
    def _unnamed_there_by_place(self) -> dict[tuple[str, int], list[FunctionView]]:
        found: dict[tuple[str, int], list[FunctionView]] = {}
        for views in self._unnamed_there.values():
            for view in views:
                found.setdefault((view.location.file, view.location.line), []).append(view)
        return found

    @cached_property
    def _unnamed_here(self) -> dict[_Declared, list[FunctionView]]:
        return _without_namesake(self._bad, self._good)

    @cached_property
    def _unnamed_there(self) -> dict[_Declared, list[FunctionView]]:
        return _without_namesake(self._good, self._bad)


def _source(view: FunctionView) -> str:
    """The file that the compiler was given, relative where it is in the repository."""
    module = view.unit.module
    path = module.source
    path = path if path.startswith("/") else f"{module.directory}/{path}"
    return view.unit.relative(Location(path, 1)).file


def _lines(view: FunctionView) -> set[tuple[str, int]]:
    """The lines of a function's instructions."""
    places = (
        view.place(number, instruction)
        for number, block in enumerate(view.function.blocks)
        for instruction in range(len(block.instructions))
    )
    return {(place.file, place.line) for place in places if place.line != view.location.line}


def plain_name(view: FunctionView) -> str:
    """A function's name in the source, without the arguments of a template."""
    found = _PLAIN.match(view.source_name)
    return found.group() if found else ""


def _without_namesake(program: Program, other: Program) -> dict[_Declared, list[FunctionView]]:
    """The functions that the other version has not by name, by file and plain name, each once."""
    found: dict[_Declared, list[FunctionView]] = {}
    for name in program.names():
        if not other.has(name):
            view = program.functions_named(name)[0]
            found.setdefault((view.location.file, plain_name(view)), []).append(view)
    return found
