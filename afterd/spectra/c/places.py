"""On which source lines the blocks of a function stand."""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import Path

from afterd.model.location import Location
from afterd.trace.c.ir.ir import Block, Function
from afterd.trace.c.read import Unit

# What clang makes of a closing brace.
_GLUE = re.compile(r"^  (?:ret void|%\S+ = load .*, ptr %retval\b)")

_BRACES = re.compile(r"[\s{}();]+")
_JUMP = re.compile(r"^  br label ")  # to the head of a loop; break and goto mostly lead on
_JOINS = frozenset(["phi", "br"])  # all of a block where the operands of a && b come together


class Sources:
    """The source files below a root, read and named once each."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._files: dict[str, list[str]] = {}
        self._relative: dict[str, str] = {}

    def relative(self, unit: Unit, place: Location) -> str:
        """The file of a place relative to the root."""
        if place.file not in self._relative:
            self._relative[place.file] = unit.relative(place).file
        return self._relative[place.file]

    def says_something(self, file: str, line: int) -> bool:
        """Whether there is more on a line than braces; True where it cannot be read."""
        if file not in self._files:
            try:
                text = (self._root / file).read_text(errors="replace")
            except OSError:  # a generated file may be gone
                text = ""
            self._files[file] = text.split("\n")
        lines = self._files[file]
        return line > len(lines) or not _BRACES.fullmatch(lines[line - 1])


class Places:
    """The lines of one function; only those of the function's own file count as statements."""

    def __init__(self, unit: Unit, function: Function, sources: Sources) -> None:
        self._unit = unit
        self._function = function
        self._sources = sources
        self.declared = unit.relative(unit.debug.subprogram(function.header))

    @property
    def file(self) -> str:
        """The file, relative to the root."""
        return self.declared.file

    @property
    def line(self) -> int:
        """Where the function begins."""
        return self.declared.line

    @property
    def name(self) -> str:
        """The function as it is shown."""
        return self.declared.function or self._function.name

    @property
    def is_own(self) -> bool:
        """Whether it is a function of the source tree."""
        return self.file != "" and not self.file.startswith("/")

    @cached_property
    def _lines(self) -> tuple[tuple[int, ...], ...]:
        return tuple(self._of(block) for block in self._function.blocks)

    def _of(self, block: Block) -> tuple[int, ...]:
        """The lines of a block's statements, in the order in which they are first met."""
        found: dict[int, None] = {}
        leaves = block.label.startswith("return")
        joins = len(block.instructions) > 1 and {i.opcode for i in block.instructions} <= _JOINS
        for instruction in block.instructions:
            place = self._unit.debug.location_of(instruction.text)
            if place is None or place.line == 0 or joins:
                continue
            glue = _GLUE.match(instruction.text) or (leaves and instruction.opcode == "ret")
            back = _JUMP.match(instruction.text) and place.line < max(found, default=0)
            if glue or back or self._sources.relative(self._unit, place) != self.file:
                continue
            if self._sources.says_something(self.file, place.line):
                found.setdefault(place.line)
        return tuple(found)

    def lines(self, block: int) -> tuple[int, ...]:
        """The lines on which a block has statements."""
        return self._lines[block]

    def first_line(self, block: int) -> int:
        """Where a block begins; 0 where nothing says so."""
        return self._lines[block][0] if self._lines[block] else self._ending(block)

    def last_line(self, block: int) -> int:
        """Where its last instruction stands."""
        return self._ending(block) or self.first_line(block)

    def _ending(self, block: int) -> int:
        place = self._unit.debug.location_of(self._function.blocks[block].terminator.text)
        return place.line if place is not None else 0
