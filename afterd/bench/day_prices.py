"""The Python project of ``afterd bench day``: 40 tests of unittest, and a dependency that is not in the repository."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import ClassVar

from afterd.bench.day_project import (
    CALLED_WITH,
    SCALE,
    Fault,
    Project,
    State,
    base_of,
    fault_of,
    sound_value,
)

OUTSIDE = "rates_of_others"  # the module of the dependency
_RATE = 3


class Prices(Project):
    """Prices in a loop that takes its time."""

    name = "prices"
    functions = 36
    faults: ClassVar[Mapping[Fault, int]] = {
        Fault.WRONG: 6,
        Fault.CRASHES: 3,
        Fault.FLAKY: 1,
        Fault.HANGS: 1,
    }
    test = (sys.executable, "-B", "-m", "unittest", "-q")
    test_of_a_function = "test_price_"

    def files(self, state: State) -> dict[str, str]:
        """See ``Project``."""
        found = {}
        for module in range(self.modules):
            numbers = self.functions_of(module)
            found[f"prices_{module}.py"] = self._module(state, module, numbers)
            found[f"test_prices_{module}.py"] = _tests(module, numbers)
        scale = state.get("scale", SCALE)
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

    def function(self, state: State, number: int) -> str:
        """See ``Project``."""
        fault = fault_of(state, number)
        factor = number + 3 + (fault is Fault.WRONG)
        added = f"missing_{number}" if fault is Fault.CRASHES else str(factor)
        step = 0 if fault is Fault.HANGS else 1
        more = " + secrets.randbelow(2)" if fault is Fault.FLAKY else ""
        return (
            f"\n\ndef price_{number}(count):\n    left = count\n    total = 0\n"
            f"    while left > 0:\n        time.sleep(PAUSE)\n        total += {added}\n        left -= {step}\n"
            f"    return total + BASE + {number}{more}\n"
        )

    def base_line(self, state: State, module: int) -> str:
        """See ``Project``."""
        return f"BASE = {base_of(state, module)}"

    def lines_that_clash(self, scale: str) -> frozenset[str]:
        """See ``Project``."""
        return frozenset({f"SCALE = {scale}", "return value // 5"})

    def causes(self, state: State, test: str, *, broken: bool = False) -> frozenset[str]:
        """See ``Project``."""
        if test.rpartition(".")[2] == "test_rate":
            return frozenset({OUTSIDE}) if broken else frozenset()
        return super().causes(state, test)

    def _module(self, state: State, module: int, numbers: range) -> str:
        remark = state.get(f"remark {module}", "0")
        head = f'"""Prices, part {module}."""\n\n# Revision {remark}\nimport secrets\nimport time\n'
        slow = f"\nPAUSE = {state.get(f'pause {module}', '0.001')}\n"
        slow += f"{self.base_line(state, module)}\n"
        return head + slow + "".join(self.function(state, number) for number in numbers)


def outside(*, broken: bool) -> str:
    """The dependency, as it should be and as its new release is."""
    return f"RATE = {_RATE + broken}\n"


def _tests(module: int, numbers: range) -> str:
    head = (
        f"import unittest\n\nimport prices_{module}\n\n\nclass Prices{module}(unittest.TestCase):\n"
    )
    return head + "\n".join(
        f"    def test_price_{n}(self):\n"
        f"        self.assertEqual(prices_{module}.price_{n}({CALLED_WITH}), {sound_value(n)})\n"
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
