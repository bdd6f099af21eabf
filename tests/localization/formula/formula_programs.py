"""C programs of the papers' examples, compiled by the machine's clang and executed by ours.

A statement is named by the number in the comment behind it: the paper's numbers.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from afterd.execution import toolchain
from afterd.logic.correction import Diagnosis
from afterd.symbolic.observing import Event, Expectation
from afterd.symbolic.unrolling import Program, load

PROGRAMS = Path(__file__).parent / "programs"
_NUMBERED = re.compile(r"/\* (\d+) \*/")


@cache
def compiler() -> toolchain.Toolchain:
    return toolchain.find(os.environ)


def loaded(file: Path, entry: str = "main") -> Program:
    return load([file], compiler(), file.parent, entry)


def program(name: str, entry: str = "main") -> Program:
    return loaded(PROGRAMS / f"{name}.c", entry)


def changed(name: str, changes: Mapping[str, str], directory: Path) -> Path:
    """A copy of a program with pieces of its text replaced."""
    text = (PROGRAMS / f"{name}.c").read_text()
    for old, new in changes.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    file = directory / f"{name}.c"
    file.write_text(text)
    return file


@cache
def numbers(name: str) -> Mapping[int, int]:
    """Line → the paper's number of its statement."""
    lines = (PROGRAMS / f"{name}.c").read_text().splitlines()
    found = {at + 1: _NUMBERED.search(line) for at, line in enumerate(lines)}
    return {at: int(number.group(1)) for at, number in found.items() if number}


def named(name: str, lines: Iterable[tuple[str, int]]) -> frozenset[int]:
    """Lines by the paper's numbers."""
    return frozenset(numbers(name)[line] for _, line in lines)


def sets(name: str, diagnoses: Iterable[Diagnosis]) -> frozenset[frozenset[int]]:
    """Diagnoses by the paper's numbers."""
    return frozenset(named(name, [s.line for s in diagnosis]) for diagnosis in diagnoses)


def printed(*values: int) -> Expectation:
    """Each value on a line of its own."""
    return Expectation(tuple(Event("%d\n", (value,)) for value in values))
