"""Are two objects of two runs alike? Their type, then what was written into them; else their origin.

A row keeps of an object its type and identity only. What it holds is read off the rows that wrote
its attributes, or that gave it its parts when it was made (a generated ``__init__`` leaves no
other trace). Attributes that only one version has are left out: they were renamed, or are new. Where one run
alone wrote one that both have, that two objects are alike is a guess.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from afterd.compare.python.alignment import Alignment
from afterd.compare.python.unread import mentioned_names
from afterd.limits import PYTHON_PAIR
from afterd.trace.python.read import (
    CONTAINERS,
    Comparison,
    Node,
    Recorded,
    Steps,
    Unknown,
    identity,
    recorded_items,
)
from afterd.trace.python.record.describe import CUT

_TOLD_BY_TYPE = frozenset({"generator", "coroutine", "function", "method", "module"})
_HOLDING = CONTAINERS | {"t"}


class _Known(NamedTuple):
    """An answer that was given, and how often it rests on types alone, on what was recorded of neither, or on two
    calls of which one was given more.
    """

    alike: bool
    guessed: int = 0
    unseen: int = 0
    given_more: int = 0


class Likeness:
    """Compares values of the failing run with values of the green one."""

    def __init__(self, steps: Steps, green: Steps, alignment: Alignment) -> None:
        self.steps = steps
        self.green = green
        self.alignment = alignment
        types, green_types = (run.trace.raw.header["types"] for run in (steps, green))
        addresses = steps.trace.addresses, green.trace.addresses
        own, green_own = (self._own_modules(run) for run in (steps, green))
        clocks = steps.trace.clock, green.trace.clock
        self.comparison = Comparison(types, green_types, addresses, (own, green_own), clocks)
        self._known: dict[tuple[int, int, int, int, int], _Known] = {}
        self.guessed = 0  # answers so far for which nothing but a type was known
        self.unseen = 0  # those for which what lies deeper was recorded of neither
        self.given_more = 0  # guesses on what two calls made of which one alone was given something

    @staticmethod
    def _own_modules(run: Steps) -> Callable[[str], bool]:
        return lambda module: run.cells.names.module_named(module) is not None

    def alike(
        self,
        value: Recorded,
        position: int,
        other: Recorded,
        row: int,
        depth: int = PYTHON_PAIR.deep,
    ) -> bool:
        """Whether a value seen at a position is as green's was at a row."""
        if not self.comparison.equal(value, other):
            return self._relatives(value, position, other, row, depth)
        if CUT in (value, other):
            self.guessed += value != other
            self.unseen += value == other
            return True
        if not isinstance(value, tuple) or not depth:
            return True
        if value[0] in _HOLDING:
            pairs = zip(recorded_items(value), recorded_items(other), strict=False)
            # The order of a set differs from process to process.
            items = value[0] == "s" or all(
                self.alike(mine, position, twin, row, depth - 1) for mine, twin in pairs
            )
            return items and (
                identity(value) is None or self._same_origin(value, position, other, row)
            )
        if value[0] != "o" or self.steps.trace.raw.header["types"][value[2]][1] in _TOLD_BY_TYPE:
            return True
        key = (identity(value) or 0, position, identity(other) or 0, row, depth)
        known = self._known.get(key)
        if known is not None:
            self.guessed += known.guessed
            self.unseen += known.unseen
            self.given_more += known.given_more
            return known.alike
        self._known[key] = _Known(alike=True)  # what holds itself is as alike as the rest of it
        guessed, unseen, given_more = self.guessed, self.unseen, self.given_more
        alike = self._same_content(value, position, other, row, depth)
        self._known[key] = _Known(
            alike, self.guessed - guessed, self.unseen - unseen, self.given_more - given_more
        )
        return alike

    def _relatives(
        self, value: Recorded, position: int, other: Recorded, row: int, depth: int
    ) -> bool:
        """Whether an object of a new subclass, say, holds what the other one did: maybe it does."""
        if not depth or not self.comparison.related(value, other):
            return False
        shared = self._shared(value, position, other, row)
        self.guessed += 1
        return bool(shared) and self._hold_alike(shared, depth)

    def _same_origin(self, value: Recorded, position: int, other: Recorded, row: int) -> bool:
        """Whether two objects were born at the same point of the two runs, or the same place of
        the program, as far as is known: one type does not make them one.
        """
        born = self.steps.cells.births.made(value, position)
        twin = self.green.cells.births.made(other, row)
        if born is None or twin is None or not self.is_another(value, position, other, row):
            return True
        node = self.steps.trace.node(born)
        meant = None if node is None else self.alignment.matching.good.get(node)
        return meant is self.green.trace.node(twin)

    def is_another(self, value: Recorded, position: int, other: Recorded, row: int) -> bool:
        """Whether the green run has an object for this one, and it is known not to be that one."""
        born = self.steps.cells.births.made(value, position)
        twin = self.green.cells.births.made(other, row)
        aligned = None if born is None else self.alignment.row(born)
        return aligned is not None and twin is not None and aligned != twin

    def is_unlike(self, value: Recorded, position: int, other: Recorded, row: int) -> bool:
        """Whether two objects, whatever they hold, are certainly not each other's counterpart: of classes that have
        nothing to do with each other, or another one than green's.
        """
        if self.comparison.of_one_class(value, other):
            return self.is_another(value, position, other, row)
        return not self.comparison.related(value, other)

    def _same_content(
        self, value: Recorded, position: int, other: Recorded, row: int, depth: int
    ) -> bool:
        shared = self._shared(value, position, other, row)
        if shared:
            return self._hold_alike(shared, depth)
        return self._made_alike(value, position, other, row, depth)

    def _shared(
        self, value: Recorded, position: int, other: Recorded, row: int
    ) -> list[tuple[int, int]]:
        """Where each attribute that both have was written, by name. One that was written in one run alone, though the
        other's code reads it too, has there what it was made with, which nobody saw.
        """
        mine = self.steps.cells.attributes.attributes(value, position)
        theirs = self.green.cells.attributes.attributes(other, row)
        read, read_there = self._read_names
        unseen = (mine.keys() - theirs.keys()) & read_there | (theirs.keys() - mine.keys()) & read
        self.guessed += bool(unseen)
        return [(mine[name], theirs[name]) for name in sorted(mine.keys() & theirs.keys())]

    @cached_property
    def mentioned(self) -> frozenset[str]:
        """The names that the code reads which ran, in either version."""
        read, read_there = self._read_names
        return read | read_there

    @cached_property
    def mentioned_in_both(self) -> frozenset[str]:
        """Those that both versions' code reads."""
        read, read_there = self._read_names
        return read & read_there

    @cached_property
    def _read_names(self) -> tuple[frozenset[str], frozenset[str]]:
        return mentioned_names(self.steps.trace), mentioned_names(self.green.trace)

    def _hold_alike(self, shared: list[tuple[int, int]], depth: int) -> bool:
        written = self.steps.trace.value, self.green.trace.value
        return all(
            self.alike(written[0](here), here, written[1](there), there, depth - 1)
            for here, there in shared
        )

    def sure(self, question: Callable[[], bool]) -> bool | None:
        """The answer to a question about likeness; None for a yes that rests on types alone."""
        before = self.guessed
        answer = question()
        return None if answer and self.guessed > before else answer

    def _made_alike(
        self, value: Recorded, position: int, other: Recorded, row: int, depth: int
    ) -> bool:
        """What two calls that made them were given, argument by argument; where one was given more, nobody knows what
        that makes of it.
        """
        born = self.steps.cells.births.made(value, position)
        twin = self.green.cells.births.made(other, row)
        if born is not None and twin is not None:
            mine, theirs = _given_arguments(self.steps, born), _given_arguments(self.green, twin)
            if mine is not None and theirs is not None:
                more = mine.keys() != theirs.keys()
                self.guessed += more
                self.given_more += more
                if pairs := list(_shared_values(mine, theirs)):
                    return all(self.alike(a, born, b, twin, depth - 1) for a, b in pairs)
        self.guessed += value[3] in (None, CUT) and other != value
        return self._same_origin(value, position, other, row)


def _shared_values(
    mine: Mapping[object, Recorded | Unknown], theirs: Mapping[object, Recorded | Unknown]
) -> Iterator[tuple[Recorded, Recorded]]:
    """What both were given, as far as known."""
    for name in mine.keys() & theirs.keys():
        here, there = mine[name], theirs[name]
        if not isinstance(here, Unknown) and not isinstance(there, Unknown):
            yield here, there


def _given_arguments(run: Steps, row: int) -> Mapping[object, Recorded | Unknown] | None:
    """The arguments of the call that made an object at a row, by place or name; None where that was no call."""
    frame, node = run.trace.frame(row), run.trace.node(row)
    caller = None if frame is None else frame.parent
    if frame is not None and node is not None and node.type == "arg" and frame.left and caller:
        following = run.trace.next_in_frame(caller, frame.left)
        row, frame = (row if following is None else following), caller
        node = run.trace.node(row)
    if node is None or frame is None or node.type != "Call":
        return None
    named: dict[object, Node] = dict(enumerate(node["args"]))
    named.update((word["arg"], word["value"]) for word in node["keywords"] if word["arg"])
    return {name: run.cells.value_of(part, row, frame) for name, part in named.items()}
