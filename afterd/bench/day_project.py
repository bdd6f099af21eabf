"""What the projects of ``afterd bench day`` have in common: of their every version is known what fails.

A version is a mapping of choices, such as ``line 12`` to ``wrong``. Branches are merged choice by choice, as
git merges lines that stand apart; what a test does in a version follows from the choices alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from enum import StrEnum
from typing import ClassVar

State = Mapping[str, str]

BUILD = "the build"
"""The test that a build is, by the name that afterd gives it."""
SCALE = "10"
"""What the writer multiplies by, where nobody changed it."""
BASE = "0"
"""What all functions of a module add, where nobody changed it."""
CALLED_WITH = 4
"""What the tests call the functions with."""


class Fault(StrEnum):
    """What is wrong with a function."""

    WRONG = "wrong"
    CRASHES = "crashes"
    FLAKY = "flaky"
    HANGS = "hangs"
    UNBUILDABLE = "unbuildable"


def fault_of(state: State, number: int) -> Fault | None:
    """What is wrong with a function in a version."""
    found = state.get(f"line {number}", "")
    return Fault(found) if found else None


def base_of(state: State, module: int) -> str:
    """What all functions of a module add in a version."""
    return state.get(f"base {module}", BASE)


def sound_value(number: int) -> int:
    """What a function gives its test, where nothing is wrong with it."""
    return CALLED_WITH * (number + 3) + number


def merged_choices(base: State, ours: State, theirs: State) -> dict[str, str]:
    """Both sides' choices; where both made one, ours."""
    found = dict(ours)
    for key in theirs.keys() | base.keys():
        if ours.get(key) == base.get(key) and theirs.get(key) != base.get(key):
            found[key] = theirs.get(key, "")
    return found


class Project(ABC):
    """A program of many small functions with a test each, in modules of ``A_MODULE``, and a writer and a
    reader that must agree on a scale.
    """

    A_MODULE = 4
    name: ClassVar[str]
    functions: ClassVar[int]
    faults: ClassVar[Mapping[Fault, int]]  # how often each is made, in proportion
    build: ClassVar[tuple[str, ...]] = ()
    test: ClassVar[tuple[str, ...]]
    test_of_a_function: ClassVar[str]  # the beginning of its name; the function's number follows

    @property
    def modules(self) -> int:
        """How many files the functions are in."""
        return self.functions // self.A_MODULE

    def functions_of(self, module: int) -> range:
        """The numbers of the functions in one file."""
        return range(module * self.A_MODULE, (module + 1) * self.A_MODULE)

    @abstractmethod
    def files(self, state: State) -> dict[str, str]:
        """The whole work tree of a version, all in one folder."""

    @abstractmethod
    def function(self, state: State, number: int) -> str:
        """The text of one function."""

    @abstractmethod
    def base_line(self, state: State, module: int) -> str:
        """The line of a module that all its functions add to what they give."""

    @abstractmethod
    def lines_that_clash(self, scale: str) -> frozenset[str]:
        """The lines that do not agree, where the writer has another scale and the reader counts on the first."""

    def causes(self, state: State, test: str, *, broken: bool = False) -> frozenset[str]:  # noqa: ARG002 - not
        # every project depends on something
        """The lines of a version that make a test fail, without indentation; empty where it passes.

        Of the build they are those that cannot be compiled, of the suite as a whole those that keep it from
        ending. ``broken``: what the project depends on is, which no line of a version is to blame for.
        """
        if test == BUILD:
            return self._lines(state, self.having(state, Fault.UNBUILDABLE))
        name = test.rpartition(".")[2]
        if name == "test_halves":
            scale = state.get("scale", SCALE)
            met = state.get("half") and scale != SCALE
            return self.lines_that_clash(scale) if met else frozenset()
        if not name.startswith("test_"):
            return self._lines(state, self.having(state, Fault.HANGS))
        number = name.removeprefix(self.test_of_a_function)
        if not number.isdigit() or int(number) >= self.functions:
            return frozenset()
        based = base_of(state, int(number) // self.A_MODULE) != BASE
        shared = {self.base_line(state, int(number) // self.A_MODULE)} if based else set()
        return self._lines(state, [int(number)]) | shared

    def failing(self, state: State) -> dict[str, frozenset[str]]:
        """What fails in a version each time it is built and tested, by name, with its causes; of what follows a
        build that fails nothing is seen.
        """
        if found := self.causes(state, BUILD):
            return {BUILD: found}
        names = [*(self.test_name(number) for number in range(self.functions)), "test_halves"]
        flaky = {self.test_name(number) for number in self.having(state, Fault.FLAKY)}
        every = {name: self.causes(state, name) for name in names if name not in flaky}
        return {name: found for name, found in every.items() if found}

    def having(self, state: State, fault: Fault) -> list[int]:
        """The functions with this fault."""
        return [number for number in range(self.functions) if fault_of(state, number) is fault]

    def test_name(self, number: int) -> str:
        """The own name of a function's test."""
        return f"{self.test_of_a_function}{number}"

    def _lines(self, state: State, numbers: list[int]) -> frozenset[str]:
        """The lines of these functions that are not as they should be."""
        found: set[str] = set()
        for number in numbers:
            sound = self.function({}, number).splitlines()
            here = self.function(state, number).splitlines()
            found |= {line.strip() for line in here if line not in sound}
        return frozenset(found)
