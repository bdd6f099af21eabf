"""Which function of the good version is the same function, where it has another name there."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import cast

import pytest

from afterd.compare.c.function_pairs import FunctionPairs
from afterd.model.change import Change
from afterd.model.location import LineSpan, Location
from afterd.trace.c.read import FunctionView, Program
from afterd.trace.linemap import LineMap


@dataclass(eq=False)
class View:
    """A function of a file with a statement on each of its lines."""

    name: str
    first: int
    last: int
    unit: object = field(init=False)
    function: object = field(init=False)

    def __post_init__(self) -> None:
        self.source_name = self.name
        module = SimpleNamespace(source="a.c", directory="/built")
        self.unit = SimpleNamespace(module=module, relative=lambda _: Location("a.c", 1))
        self.location = Location("a.c", self.first, 0, self.name)
        block = SimpleNamespace(instructions=range(self.first, self.last + 1))
        self.function = SimpleNamespace(blocks=[block])

    def place(self, block: int, instruction: int) -> Location:
        assert block == 0
        return Location("a.c", self.first + instruction, 0, self.name)


@dataclass(eq=False)
class Views:
    """A program of such functions."""

    views: list[View]

    def has(self, name: str) -> bool:
        return name in self.names()

    def names(self) -> list[str]:
        return [view.name for view in self.views]

    def functions_named(self, name: str) -> list[View]:
        return [view for view in self.views if view.name == name]


def _hunk(number: int, old: LineSpan, new: LineSpan) -> Change:
    return Change(f"c{number}", "a.c", "a.c", old, new)


HEAD = _hunk(1, LineSpan(10, 1), LineSpan(12, 1))
MOVED_BY_TWO = _hunk(2, LineSpan(2, 0), LineSpan(3, 2))
WHOLE = _hunk(1, LineSpan(10, 5), LineSpan(12, 5))


@pytest.mark.parametrize(
    ("changes", "good", "found"),
    [
        ([MOVED_BY_TWO, HEAD], "parse", "parse"),  # its head alone is another one
        ([MOVED_BY_TWO, WHOLE], "parse", ""),  # and all of it: another function took its place
        ([MOVED_BY_TWO], "parse", "parse"),  # the name was made by a macro
    ],
)
def test_a_function_whose_head_stood_there_is_the_same_under_another_name(
    changes: list[Change], good: str, found: str
) -> None:
    mine, other = View("json_parse", 12, 16), View(good, 10, 14)
    programs = [Views([mine, View("main", 20, 22)]), Views([other, View("main", 18, 20)])]
    bad, green = (cast("Program", program) for program in programs)
    pairs = FunctionPairs(bad, green, LineMap(changes), lambda _view: True)
    same = pairs.of(cast("FunctionView", mine))
    assert (same.name if same else "") == found


def test_a_function_that_the_failing_version_has_as_well_is_itself() -> None:
    mine, other = View("json_parse", 12, 16), View("parse", 10, 14)
    bad = cast("Program", Views([mine, View("parse", 30, 34)]))
    green = cast("Program", Views([other]))
    pairs = FunctionPairs(bad, green, LineMap([MOVED_BY_TWO, HEAD]), lambda _view: True)
    assert pairs.of(cast("FunctionView", mine)) is None
