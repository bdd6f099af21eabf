"""How control went on, or which function it went into, is traced back to the change that said so."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from python_pairs import one_file, suspects

_GUARDED = """
def positive(number):
    if number < 0:
        {}
    return number
def f():
    try:
        return positive(-1)
    except ValueError:
        return 0
"""
_SKIPPED = """
def f():
    kept = []
    for number in range(3):
        if number == 1:
            {}
        kept.append(number)
    return kept
"""
_TABLE = """
def one(): return 1
def two(): return 2
table = {{"a": {}}}
def f(): return table["a"]()
"""
_TRUTH = """
class Basket:
    def __{}__(self):
        return {}
def f(): return 1 if Basket() else 2
"""
_IF_TRUTH = """
class Basket:
    def __bool__(self):
        return {}
def f():
    basket = Basket()
    if basket:
        return 1
    return 2
"""
_EXIT = """
class Quiet:
    def __enter__(self): return self
    def __exit__(self, *_):
        {}
def f():
    with Quiet():
        raise ValueError
    return 2
"""
_ORDER = """
class Card:
    def __init__(self, number): self.number = number
    def __lt__(self, other): return self.number {} other.number
def f():
    return "low" if min([Card(1), Card(2)], key=lambda card: card).number == 1 else "high"
"""


@pytest.mark.parametrize(
    ("good", "bad", "wanted"),
    [
        (_SKIPPED.format("continue"), _SKIPPED.format("pass"), "[0, 2]"),
        (_SKIPPED.format("break"), _SKIPPED.format("pass"), "[0]"),
        (_GUARDED.format("raise ValueError"), _GUARDED.format("pass"), "0"),
        (_TABLE.format("one"), _TABLE.format("two"), "1"),
        (_TRUTH.format("len", "1"), _TRUTH.format("len", "0"), "1"),
        (_TRUTH.format("bool", "True"), _TRUTH.format("bool", "False"), "1"),
        (_IF_TRUTH.format("True"), _IF_TRUTH.format("False"), "1"),
        (_EXIT.format("return True"), _EXIT.format("return False"), "2"),
        (_EXIT.format("return True"), _EXIT.format("pass"), "2"),
        (_ORDER.format("<"), _ORDER.format(">"), "'low'"),
    ],
    ids=["continue", "break", "raise", "table", "len", "bool", "if", "exit", "exit-none", "order"],
)
def test_control_that_went_on_elsewhere(tmp_path: Path, good: str, bad: str, wanted: str) -> None:
    test = f"from lib import f\nassert f() == {wanted}\n"
    execution = one_file(tmp_path, good, bad, test, (sys.executable, "test_lib.py"))
    assert suspects(execution) == {"c1"}
