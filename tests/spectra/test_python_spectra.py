"""Counts of statements, blocks, edges, predicates and conditions, by test."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from python_pairs import PYTEST, request_for

from afterd.spectra.python.entities import EntityKind
from afterd.spectra.python.spectra import PythonSpectra, counted_spectra

LIB = """\
def f(xs, flag):
    n = 0
    for x in xs:
        if x > 1 and flag:
            n += x
        else:
            n -= 1
    while n > 3:
        n -= 2
    return n
"""
TESTS = """\
import unittest
from lib import f
class T(unittest.TestCase):
    def test_a(self):
        self.assertEqual(f([1, 2, 3], True), 2)
    def test_b(self):
        self.assertEqual(f([], True), 1)
"""


@pytest.mark.parametrize("command", [PYTEST, (sys.executable, "-m", "unittest", "-q", "test_lib")])
def test_counts(command: tuple[str, ...], tmp_path: Path) -> None:
    """Hand-counted, under both runners."""
    request = request_for(tmp_path, {}, {"lib.py": LIB, "test_lib.py": TESTS}, command)
    found = counted_spectra(request, tmp_path / "bad")
    assert sorted((run.test.rpartition("test_")[2], run.passed) for run in found.tests) == [
        ("a", True),
        ("b", False),
    ]
    assert by_line(found, "a", EntityKind.STATEMENT) == {
        "2": 1,
        "3": 1,
        "4": 3,
        "5": 2,
        "7": 1,
        "8": 2,
        "9": 1,
        "10": 1,
    }
    assert by_line(found, "b", EntityKind.STATEMENT) == {"2": 1, "3": 1, "8": 1, "10": 1}
    assert by_line(found, "a", EntityKind.PREDICATE) == {
        "4true": 2,
        "4false": 1,
        "8true": 1,
        "8false": 1,
    }
    assert by_line(found, "a", EntityKind.CONDITION) == {"40:true": 2, "40:false": 1, "41:true": 2}
    assert by_line(found, "a", EntityKind.EDGE) == {
        "23": 1,
        "34": 3,
        "38": 1,
        "45": 2,
        "47": 1,
        "53": 2,
        "73": 1,
        "89": 1,
        "810": 1,
        "98": 1,
    }
    assert by_line(found, "b", EntityKind.BLOCK) == {"2": 1, "3": 1, "8": 1, "10": 1}


def by_line(found: PythonSpectra, test: str, kind: EntityKind) -> dict[str, int]:
    """Line + label: count, of lib.py."""
    return {
        f"{row.line}{row.label}": row.count
        for row in found.rows
        if row.file == "lib.py" and row.kind is kind and row.test.endswith(f"test_{test}")
    }


def test_work_that_was_killed_counts_once(tmp_path: Path) -> None:
    log = tmp_path / "log"
    tests = (
        f"from lib import f\ndef test_a():\n    open({str(log)!r}, 'a').write('x')\n    f([], 1)\n"
    )
    request = request_for(tmp_path, {}, {"lib.py": LIB, "test_lib.py": tests}, PYTEST)
    resumed = replace(request, work="job 1")
    first = counted_spectra(resumed, tmp_path / "bad")
    assert counted_spectra(resumed, tmp_path / "bad") == first
    assert log.read_text() == "x"
    counted_spectra(replace(request, work="job 2"), tmp_path / "bad")
    counted_spectra(request, tmp_path / "bad")
    counted_spectra(request, tmp_path / "bad")
    assert log.read_text() == "xxxx"


def test_entities_know_their_function(tmp_path: Path) -> None:
    """Where each stands: the head of a function is in what is around it."""
    lib = """\
    def f(a):
        if (a and
                not a):
            return 1
        class C:
            def m(self):
                return 2
    f(0)
    """
    test = "import lib\ndef test_a(): lib.f(0)\n"
    request = request_for(tmp_path, {}, {"lib.py": lib, "test_lib.py": test})
    found = counted_spectra(request, tmp_path / "bad")
    names = {e.line: e.function for e in found.known if e.file == "lib.py"}
    wanted = {1: "", 2: "f", 3: "f", 4: "f", 5: "f", 6: "f.C", 7: "f.C.m", 8: ""}
    assert names == wanted
