"""The project of ``afterd bench day``: a program of 40 tests, of whose every version is known what fails.

A version is a mapping of choices, such as ``line 12`` to ``wrong``. Branches are merged choice by choice, as
git merges lines that stand apart; what a test does in a version follows from the choices alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

State = Mapping[str, str]

FUNCTIONS = 36
_A_MODULE = 4
MODULES = FUNCTIONS // _A_MODULE
_TIMES = 4  # what the tests call the functions with
OUTSIDE = "rates_of_others"  # a module that is not in the repository: a dependency
_RATE = 3


class Fault(StrEnum):
    """What is wrong with a function."""

    WRONG = "wrong"
    RAISES = "raises"
    FLAKY = "flaky"
    HANGS = "hangs"


def fault_of(state: State, number: int) -> Fault | None:
    """What is wrong with a function in a version."""
    found = state.get(f"line {number}", "")
    return Fault(found) if found else None


def files(state: State) -> dict[str, str]:
    """The whole work tree of a version."""
    found = {}
    for first in range(0, FUNCTIONS, _A_MODULE):
        module, numbers = first // _A_MODULE, range(first, first + _A_MODULE)
        found[f"prices_{module}.py"] = _module(state, module, numbers)
        found[f"test_prices_{module}.py"] = _tests(module, numbers)
    scale = state.get("scale", "10")
    half = "value // 5" if state.get("half") else "value // (SCALE // 2)"
    found["writer.py"] = f"SCALE = {scale}\n\n\ndef written(value):\n    return value * SCALE\n"
    found["reader.py"] = (
        "from writer import SCALE\n\n\ndef read(value):\n    return value // SCALE\n\n\n"
        f"def halves(value):\n    return {half}\n"
    )
    found["rates.py"] = f"import {OUTSIDE}\n\n\ndef rate(n):\n    return n * {OUTSIDE}.RATE\n"
    found["test_others.py"] = _OTHERS
    found["notes.txt"] = f"Revision {state.get('notes', '0')}\n"
    return found


def outside(*, broken: bool) -> str:
    """The dependency, as it should be and as its new release is."""
    return f"RATE = {_RATE + broken}\n"


def causes(state: State, test: str, *, broken: bool = False) -> frozenset[str]:
    """The lines of a version that make a test fail, without indentation; empty where it passes.

    ``broken``: the dependency is, which no line of a version is to blame for.
    """
    name = test.rpartition(".")[2]
    if name == "test_halves":
        clash = state.get("half") and state.get("scale", "10") != "10"
        return (
            frozenset({f"SCALE = {state['scale']}", "return value // 5"}) if clash else frozenset()
        )
    if name == "test_rate":
        return frozenset({OUTSIDE}) if broken else frozenset()
    number = name.removeprefix("test_price_")
    if not number.isdigit() or fault_of(state, int(number)) is None:
        return frozenset()
    lines, sound = (_function(one, int(number)).splitlines() for one in (state, {}))
    return frozenset(line.strip() for line in lines if line not in sound)


def failing(state: State) -> dict[str, frozenset[str]]:
    """The tests that fail in a version each time they are run, by their own names, with their causes."""
    names = [*(f"test_price_{number}" for number in range(FUNCTIONS)), "test_halves"]
    flaky = {f"test_price_{n}" for n in range(FUNCTIONS) if fault_of(state, n) is Fault.FLAKY}
    return {name: found for name in names if name not in flaky and (found := causes(state, name))}


def hanging(state: State) -> list[int]:
    """The functions that do not end."""
    return [number for number in range(FUNCTIONS) if fault_of(state, number) is Fault.HANGS]


def flaky(state: State) -> list[int]:
    """The functions that are wrong every other time."""
    return [number for number in range(FUNCTIONS) if fault_of(state, number) is Fault.FLAKY]


def merged(base: State, ours: State, theirs: State) -> dict[str, str]:
    """Both sides' choices; where both made one, ours."""
    found = dict(ours)
    for key in theirs.keys() | base.keys():
        if ours.get(key) == base.get(key) and theirs.get(key) != base.get(key):
            found[key] = theirs.get(key, "")
    return found


def _module(state: State, module: int, numbers: range) -> str:
    remark = state.get(f"remark {module}", "0")
    head = f'"""Prices, part {module}."""\n\n# Revision {remark}\nimport secrets\nimport time\n'
    slow = f"\nPAUSE = {state.get(f'pause {module}', '0.001')}\n"
    return head + slow + "".join(_function(state, number) for number in numbers)


def _function(state: State, number: int) -> str:
    fault = fault_of(state, number)
    factor = number + 3 + (fault is Fault.WRONG)
    added = f"missing_{number}" if fault is Fault.RAISES else str(factor)
    step = 0 if fault is Fault.HANGS else 1
    more = " + secrets.randbelow(2)" if fault is Fault.FLAKY else ""
    return (
        f"\n\ndef price_{number}(count):\n    left = count\n    total = 0\n"
        f"    while left > 0:\n        time.sleep(PAUSE)\n        total += {added}\n        left -= {step}\n"
        f"    return total + {number}{more}\n"
    )


def _tests(module: int, numbers: range) -> str:
    head = (
        f"import unittest\n\nimport prices_{module}\n\n\nclass Prices{module}(unittest.TestCase):\n"
    )
    return head + "\n".join(
        f"    def test_price_{n}(self):\n"
        f"        self.assertEqual(prices_{module}.price_{n}({_TIMES}), {_TIMES * (n + 3) + n})\n"
        for n in numbers
    )


_OTHERS = f"""\
import unittest

from rates import rate
from reader import halves, read
from writer import written


class Others(unittest.TestCase):
    def test_round(self):
        self.assertEqual(read(written(7)), 7)

    def test_halves(self):
        self.assertEqual(halves(written(7)), 14)

    def test_rate(self):
        self.assertEqual(rate(5), {5 * _RATE})

    def test_nothing(self):
        self.assertEqual(read(0), 0)
"""
