"""Where the globals of the program were in the traced process."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from afterd.trace.c.ir.initialisers import Image, image_of, type_and_value
from afterd.trace.c.read.program import GlobalVariable, Program, Unit
from afterd.trace.c.read.steps import Cells
from afterd.trace.c.window.recording import Recording

_LITERAL = ".str"  # what clang calls string literals, which are numbered


@dataclass(frozen=True, slots=True)
class Placed:
    """A symbol of a module at its address; ``variable`` is None for a function."""

    address: int
    symbol: str
    unit: Unit
    variable: GlobalVariable | None
    size: int


class Symbols:
    """Address ↔ symbol, from what each module's constructor reported."""

    def __init__(self, recording: Recording, program: Program) -> None:
        self._placed: list[Placed] = []
        self._of_unit: dict[tuple[int, str], int] = {}
        for first, addresses in recording.globals().items():
            unit = program.unit_of_first_block(first)
            if unit is None:
                continue
            for symbol, address in zip(unit.symbols, addresses, strict=False):
                name = symbol[1:].strip('"')
                self._of_unit[id(unit), name] = address
                variable = unit.globals.get(name)
                self._placed.append(Placed(address, name, unit, variable, _size(unit, variable)))
        self._placed.sort(key=lambda placed: placed.address)
        self._addresses = [placed.address for placed in self._placed]
        self._anywhere = {placed.symbol: placed.address for placed in self._placed}
        self._image = cache(self._image_uncached)

    def variables(self) -> Iterator[Placed]:
        """The variables of the program, each where it was."""
        return (placed for placed in self._placed if placed.variable is not None)

    def address(self, unit: Unit, symbol: str) -> int | None:
        """The address of ``@symbol`` as a module sees it; None for what no traced module defines."""
        name = symbol.removeprefix("@").strip('"')
        return self._of_unit.get((id(unit), name), self._anywhere.get(name))

    def named(self, symbol: str) -> Placed | None:
        """A global by its name."""
        address = self._anywhere.get(symbol)
        return self.at(address) if address is not None else None

    def at(self, address: int) -> Placed | None:
        """The symbol whose bytes include an address."""
        number = bisect.bisect_right(self._addresses, address) - 1
        if number < 0:
            return None
        placed = self._placed[number]
        return placed if address < placed.address + max(placed.size, 1) else None

    def function(self, address: int) -> str:
        """The name of the function that begins at an address; empty where none does."""
        placed = self.at(address)
        return placed.symbol if placed and placed.variable is None else ""

    def initial(self, address: int, size: int) -> int | None:
        """The bits that a global's initialiser put at an address; None where that is not known."""
        placed = self.at(address)
        image = self._image(placed) if placed and placed.variable else None
        return image.bits(address - placed.address, size) if placed and image else None

    def _image_uncached(self, placed: Placed) -> Image | None:
        if placed.variable is None:
            return None
        unit = placed.unit
        return image_of(
            placed.variable.definition, unit.layout, lambda name: self.address(unit, name)
        )

    def literal(self, address: int) -> bytes | None:
        """What a string literal holds from an address on; None where none is there."""
        placed = self.at(address)
        if placed is None or placed.variable is None or not placed.symbol.startswith(_LITERAL):
            return None
        image = self._image(placed)
        return image.data[address - placed.address :] if image else None

    def is_table(self, address: int) -> bool:
        """Whether an address is in a variable that the source declares, which no string literal is."""
        placed = self.at(address)
        variable = placed.variable if placed else None
        return variable is not None and variable.name != "" and variable.location.line > 0

    def places(self, address: int) -> list[tuple[Placed, int]]:
        """The variables that an address may mean, and where in them: one's start is another's end."""
        found = self.at(address)
        before = self.at(address - 1) if found is None or found.address == address else None
        within = [(placed, address - placed.address) for placed in (found, before) if placed]
        return [(placed, offset) for placed, offset in within if placed.variable]


def initial_counterpart(bad: Symbols, green: Symbols, cells: Cells) -> int | None:
    """The bits that the green version's initialiser has where the failing version has ``cells``.

    The same offset of the global of the same name; None where its type is another one.
    """
    placed = bad.at(cells.address)
    other = green.named(placed.symbol) if placed else None
    if placed is None or other is None or not _same_type(placed, other):
        return None
    return green.initial(other.address + cells.address - placed.address, cells.size)


def is_initial_alike(bad: Symbols, green: Symbols, cells: Cells, mine: int | None) -> bool:
    """Whether the green version's initialiser has the same there: addresses of the program are compared by what
    they mean.
    """
    other = initial_counterpart(bad, green, cells)
    if mine is None or other is None:
        return False
    known = bad.at(mine) is not None and green.at(other) is not None
    return mine == other or (known and same_address(bad, green, mine, other))


def same_address(bad: Symbols, green: Symbols, mine: int, other: int) -> bool:
    """Whether two addresses mean the same: functions by their names, string literals by their text,
    variables that both programs have by name and offset, anything else by being null.

    Addresses of data differ between two programs for no reason.
    """
    here, there = bad.function(mine), green.function(other)
    if here or there:
        return here == there
    texts = bad.literal(mine), green.literal(other)
    if None not in texts:
        return texts[0] == texts[1]
    if bool(mine) != bool(other):
        return False
    meant, others = bad.places(mine), green.places(other)
    known = all(_has(green, placed) for placed, _ in meant)
    if not (meant and others and known and all(_has(bad, placed) for placed, _ in others)):
        return True
    wanted = {(placed.symbol, offset) for placed, offset in others}
    return any((placed.symbol, offset) in wanted for placed, offset in meant)


def in_variable_of_both(own: Symbols, others: Symbols, address: int) -> bool:
    """Whether an address is in a variable that the other program has too."""
    placed = own.at(address)
    return placed is not None and placed.variable is not None and _has(others, placed)


def _has(symbols: Symbols, placed: Placed) -> bool:
    """Whether the other program has a variable too, of the same type."""
    other = symbols.named(placed.symbol)
    return other is not None and _same_type(placed, other)


def _same_type(one: Placed, other: Placed) -> bool:
    if one.variable is None or other.variable is None or one.size != other.size:
        return False
    kinds = [
        type_and_value(placed.variable.definition)[0] for placed in (one, other) if placed.variable
    ]
    structs = re.findall(r"%[-\w.$]+", kinds[0])
    return kinds[0] == kinds[1] and all(
        one.unit.layout.fields(name) == other.unit.layout.fields(name) for name in structs
    )


def _size(unit: Unit, variable: GlobalVariable | None) -> int:
    return unit.layout.size(type_and_value(variable.definition)[0]) if variable else 1
