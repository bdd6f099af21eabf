"""A test that is not followed, as one outside of the repository: it is told as its runner saw it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from python_pairs import PYTEST, one_file, traced_pair, written

GOOD = {
    "lib.py": """\
        class Box:
            def __init__(self, items):
                self.items = items

            def first(self):
                return self.items[0]

            def clear(self):
                if self.items:
                    self.items = []
        """
}
BAD = {"lib.py": GOOD["lib.py"].replace("[0]", "[1]").replace("if self.items", "if not self.items")}
PYTESTS = """\
    from lib import Box

    def test_first():
        assert Box([1, 2]).first() == 1, "it begins with %s" % "two"

    def test_not():
        assert not Box([1, 2]).first() > 1

    def test_attribute():
        box = Box([1, 2])
        box.clear()
        assert box.items == []
    """
UNITTESTS = """\
    import unittest
    from lib import Box

    class Cases(unittest.TestCase):
        def test_first(self):
            self.assertEqual(Box([1, 2]).first(), 1)

        def test_truth(self):
            self.assertTrue(Box([1, 2]).first() < 2)
    """


@pytest.mark.parametrize(
    ("test", "line", "text", "values", "message"),
    [
        ("test_first", 4, "assert Box", ("2", "1"), "AssertionError: it begins with two"),
        ("test_not", 7, "assert not", ("", ""), "AssertionError: assert not 2 > 1"),
        (
            "test_attribute",
            12,
            "assert box",
            ("[1, 2]", "[]"),
            "AssertionError: assert [1, 2] == []",
        ),
    ],
)
def test_what_pytest_s_own_test_said(
    tmp_path: Path, test: str, line: int, text: str, values: tuple[str, str], message: str
) -> None:
    """The output was said to be 'F' where '.' was expected."""
    outside = written(tmp_path / "outside", {"test_out.py": PYTESTS}) / "test_out.py"
    (failure,) = traced_pair(tmp_path, GOOD, BAD, (*PYTEST, f"{outside}::{test}")).failures()
    assert failure.by_others
    assert failure.text.startswith(text)
    assert (failure.observed, failure.expected) == values
    assert failure.message == message
    at = failure.failed_at
    assert at is not None
    assert (at.file, at.line) == (str(outside), line)


@pytest.mark.parametrize(
    ("test", "values", "message"),
    [
        ("test_first", ("2", "1"), "AssertionError: 2 != 1"),
        ("test_truth", ("", ""), "AssertionError: False is not true"),
    ],
)
def test_what_unittest_s_own_test_said(
    tmp_path: Path, test: str, values: tuple[str, str], message: str
) -> None:
    """Nothing is written to standard output, so there was no failed assertion at all."""
    outside = str(written(tmp_path / "outside", {"test_out.py": UNITTESTS}))
    command = (sys.executable, "-m", "unittest", "discover", "-s", outside, "-k", test)
    (failure,) = traced_pair(tmp_path, GOOD, BAD, command).failures()
    assert (failure.observed, failure.expected) == values
    assert failure.message == message


def test_what_was_given_last_that_green_did_not_give(tmp_path: Path) -> None:
    """A value is told once: that the function has ended is no second one, and gave nothing."""
    outside = written(tmp_path / "outside", {"test_out.py": PYTESTS}) / "test_out.py"
    execution = traced_pair(tmp_path, GOOD, BAD, (*PYTEST, f"{outside}::test_first"))
    (failure,) = execution.failures()
    step = execution.step(failure.step)
    assert (step.target, step.rendered, step.green.shown) == ("return", "2", "1")


SCOPED = """\
    class Scopes:
        def __init__(self):
            self.names = ["outer"]

        def check(self, items):
            {begin}
                for item in items:
                    yield self.names[-1] + item
            {end}
                self.names.pop()
    """
PUSHED = """self.names.append("inner")
            try:"""
SCOPE_TEST = """\
    from lib import Scopes

    def test_scopes():
        assert list(Scopes().check("ab")) == ["innera", "innerb"]
    """


def test_what_is_missing_is_told_by_what_it_did(tmp_path: Path) -> None:
    """A bare "try:" that does not run stood for the call before it, which tells nobody anything."""
    good = SCOPED.format(begin=PUSHED, end="finally:")
    bad = SCOPED.format(begin="if items:", end="if not items:")
    execution = one_file(tmp_path, good, bad, SCOPE_TEST)
    missed = execution.missed("c1")
    assert missed is not None
    assert missed.text == 'self.names.append("inner")'


MOVED = """\
    class Scopes:
        def __init__(self):
            self.names = ["outer"]

        def check(self, items):
            {body}
            {end}
                self.names.pop()
    """
WITHIN = """self.names.append("inner")
            try:
                for item in items:
                    yield self.names[-1] + item"""
ALONE = """for item in items:
                yield self.names[-1] + item"""


def test_what_was_only_moved_is_not_said_not_to_run(tmp_path: Path) -> None:
    """The loop of which another indentation stands in the failing version runs there."""
    good = MOVED.format(body=WITHIN, end="finally:")
    bad = MOVED.format(body=ALONE, end="if not items:")
    execution = one_file(tmp_path, good, bad, SCOPE_TEST)
    missed = execution.missed("c1")
    assert missed is not None
    assert missed.text == 'self.names.append("inner")'


@pytest.mark.parametrize(
    ("added", "operation"),
    [
        ("    def __eq__(self, other):\n        return self.side == other.side\n", "hash(box)"),
        ("    __hash__ = None\n", "hash(box)"),
        ("    __slots__ = ('side',)\n", "setattr(box, 'name', 1)"),
    ],
)
def test_what_python_looks_up_in_a_class_is_no_row(
    tmp_path: Path, added: str, operation: str
) -> None:
    text = "class Box:\n    def __init__(self, side):\n        self.side = side\n"
    test = f"from lib import Box\ndef test():\n    box = Box(1)\n    {operation}\n"
    execution = one_file(tmp_path, text, text + added, test)
    (failure,) = execution.failures()
    assert list(execution.omitted(failure.step)) == ["c1"]
