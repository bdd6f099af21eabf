"""What a failure is said to have seen and to have expected."""

from __future__ import annotations

import sys
from pathlib import Path

from python_pairs import one_file, traced_pair

from afterd.model.term import reads

TESTS = """\
import unittest
from lib import words, count

def test_equal():
    assert count() == 3

def test_member():
    assert "c" in words()

def test_no_member():
    assert "a" not in words()

def test_bare():
    found = words()
    assert not found

def test_order():
    assert count() < 2

def test_other():
    assert count() != 2

def test_chain():
    assert 0 < count() < 2

def test_grown():
    found = words()
    assert found == ["x"], found.append("later")

class Cases(unittest.TestCase):
    def test_method(self):
        self.assertEqual(count(), 4)

    def test_in(self):
        self.assertIn("c", words())
"""
LIB = """\
def words():
    return ["a", "b"]

def count():
    return {count}
"""


def test_observed_and_expected_of_every_form(tmp_path: Path) -> None:
    good, bad = ({"test_lib.py": TESTS, "lib.py": LIB.format(count=n)} for n in (3, 2))
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    found = traced_pair(tmp_path, good, bad, command).failures()
    said = {failure.text: (failure.observed, failure.expected) for failure in found}
    assert said == {
        "assert count() == 3": ("2", "3"),
        'assert "c" in words()': ("['a', 'b']", ""),
        'assert "a" not in words()': ("['a', 'b']", ""),
        "assert not found": ("['a', 'b']", ""),
        "assert count() < 2": ("2", "< 2"),
        "assert count() != 2": ("2", "not 2"),
        "assert 0 < count() < 2": ("2", "< 2"),
        'assert found == ["x"], found.append("later")': ("['a', 'b']", "['x']"),
        "self.assertEqual(count(), 4)": ("2", "4"),
        'self.assertIn("c", words())': ("['a', 'b']", ""),
    }


def test_an_exception_is_not_what_its_statement_compares(tmp_path: Path) -> None:
    """A comparison that raises has no value that was expected."""
    good = """
        def same(one, other):
            if not isinstance(other, dict):
                return False
            return one is other or dict(one.items()) == dict(other.items())
    """
    bad = good.replace("return False", "other = str(other)")
    test = """
        from lib import same
        def test():
            assert not same({1: 2}, "text")
    """
    failure = one_file(tmp_path, good, bad, test).failures()[0]
    assert failure.message == "AttributeError: 'str' object has no attribute 'items'"
    assert (failure.observed, failure.expected) == ("", "")


def test_of_long_values_the_part_that_differs(tmp_path: Path) -> None:
    """Pytest cuts both sides where they look the same; what code gave that is not followed is in its words alone."""
    good = """
        def tree(sign):
            for n in range(9):
                yield f"a long name, number {n}{sign}"
    """
    bad = good.replace("{n}{sign}", "{n // 2}{sign}")
    test = """
        import lib
        def test():
            assert "/".join(lib.tree("")).split("/") == [
                "a long name, number 0",
                "a long name, number 1",
                "a long name, number 2",
                "a long name, number 3",
            ]
    """
    failure = one_file(tmp_path, good, bad, test).failures()[0]
    values = ("'a long name, number 0'", "'a long name, number 1'")
    assert (failure.observed, failure.expected) == values


RAISING = """\
from contextlib import nullcontext
import pytest

def checked(n):
    limit = {limit}
    if n > limit:
        if n > 2 * limit:
            raise OverflowError(n)
        raise ValueError(n)
    return n

def test_raised():
    assert checked(3) == 3

def test_not_raised():
    with pytest.raises(ValueError):
        checked(9)
"""


def test_where_it_failed_is_the_raising_line_and_the_block_that_saw_nothing(tmp_path: Path) -> None:
    good, bad = ({"test_lib.py": RAISING.format(limit=limit)} for limit in (6, 2))
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    (raised, otherwise) = traced_pair(tmp_path / "one", good, bad, command).failures()
    assert raised.failed_at is not None
    assert (raised.text, raised.failed_at.line) == ("raise ValueError(n)", 9)
    assert otherwise.text == "raise OverflowError(n)"
    (missed,) = traced_pair(
        tmp_path / "two", good, {"test_lib.py": RAISING.format(limit=9)}, command
    ).failures()
    assert missed.failed_at is not None
    assert (missed.failed_at.line, missed.text) == (16, "with pytest.raises(ValueError):")
    assert (missed.observed, missed.expected) == ("no exception", "ValueError")


def test_a_list_that_was_filled_elsewhere_is_not_shown_as_it_was_made(tmp_path: Path) -> None:
    good = """
        def told(watchers):
            for watcher in watchers:
                watcher()
    """
    test = """
        from lib import told
        def test():
            values = []
            def one():
                values.append("x")
            def two():
                values.append("X")
            told([one, two])
            assert values == ["x", "X"]
    """
    bad = good.replace("in watchers", "in watchers[::-1]")
    failure = one_file(tmp_path, good, bad, test).failures()[0]
    assert (failure.observed, failure.expected) == ("", "['x', 'X']")
    assert failure.message == "AssertionError: assert ['X', 'x'] == ['x', 'X']"


TYPED = """\
class Raw:
    pass

class Path:
    def __eq__(self, other):
        return type(other) is Path or type(other) is Raw

class Missing(Exception):
    def __init__(self, path):
        self.path = path

def find():
    raise Missing({made}())
"""
ASKED = """\
import pytest
from lib import Missing, Path, find

def test_class():
    with pytest.raises(Missing) as info:
        find()
    assert info.value.path == Path()
    assert info.value.path.__class__ is Path
"""


def test_a_class_that_was_looked_up_elsewhere_was_not_made_there(tmp_path: Path) -> None:
    """`type(other)` of another assertion's `__eq__` stood in the story, as what gave the class."""
    execution = one_file(tmp_path, TYPED.format(made="Path"), TYPED.format(made="Raw"), ASKED)
    (failure,) = execution.failures()
    pending, texts = [failure.step, *(read.step for read in reads(failure.condition))], set[str]()
    while pending:
        step = execution.step(pending.pop())
        texts.add(step.text)
        pending += [read.step for read in reads(step.term)]
    assert "self.path = path" in texts
    assert not any("type(other)" in text for text in texts)


CAUGHT = """\
import pytest

class Names:
    def __init__(self, of):
        self.of = of

    def show(self, key):
        BODY

def test_unknown():
    names = Names({1: "one"})
    with pytest.raises(KeyError):
        names.show(2)
"""


def test_an_exception_that_was_expected_was_caught_on_its_way(tmp_path: Path) -> None:
    body = "try:\n            return self.of[key]\n        except KeyError:\n            return key"
    good = {"test_lib.py": CAUGHT.replace("BODY", "return self.of[key]")}
    bad = {"test_lib.py": CAUGHT.replace("BODY", body)}
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    execution = traced_pair(tmp_path, good, bad, command)
    (missed,) = execution.failures()
    assert missed.text == "with pytest.raises(KeyError):"
    assert (missed.observed, missed.expected) == ("no exception", "KeyError")
    assert execution.step(missed.step).text == "except KeyError:"
    assert execution.step(missed.step).changes
