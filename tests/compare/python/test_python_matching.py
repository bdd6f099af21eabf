"""Nodes of one version paired with the other's; control structure; lines of their own."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st
from python_pairs import changes_of

from afterd.compare.python.absence import header, spans
from afterd.compare.python.matching import Matching, match
from afterd.trace.linemap import LineMap
from afterd.trace.python.read.flow import Flow, region
from afterd.trace.python.read.program import Module, Node, load_module, qualified_name
from afterd.trace.python.record.rows import fingerprint
from afterd.trace.python.record.tree import NumberedTree


def module(text: str, folder: Path, path: str = "m.py") -> Module:
    """A module as the analysis sees it: exported and read back."""
    source = dedent(text)
    key = fingerprint(path, source.encode())
    exported = NumberedTree(ast.parse(source)).export()
    file = folder / f"{key}.json"
    file.write_text(json.dumps({"tree": exported, "text": source.splitlines()}))
    return load_module(key, path, file)


def matched(bad: str, good: str, folder: Path) -> tuple[Module, Module, Matching]:
    """Two texts of one module."""
    lines = LineMap(changes_of({"m.py": good}, {"m.py": bad}))
    mine, other = module(bad, folder), module(good, folder)
    return mine, other, match([mine], [other], lines)


def statement(found: Module, text: str) -> Node:
    """The statement whose first line is ``text``."""
    return next(node for node in found.nodes.values() if node.is_statement and node.text == text)


PAIRS = [
    (
        "class New(Base):\n    def go(self, x):\n        y = x + 1\n        return y\n",
        "class Old:\n    def go(self, x):\n        y = x + 1\n        return y\n"
        "class New:\n    pass\n",
        "return y",
        "return y",
    ),
    ("x = 1\ny = 2\n", "y = 2\n", "y = 2", "y = 2"),
    ("x = f(1)\n", "x = 1\n", "x = f(1)", "x = 1"),
    (
        "def f(a):\n    return a\n",
        "def g(): pass\ndef f(a):\n    return a + 1\n",
        "return a",
        "return a + 1",
    ),
    ("if c:\n    x = 1\n", "x = 1\n", "x = 1", "x = 1"),
    ("for i in a:\n    p(i)\n    q(i)\n", "for i in b:\n    q(i)\n", "q(i)", "q(i)"),
    (
        "class A:\n    def m(self):\n        return 2\n",
        "class A:\n    def n(self): pass\n    def m(self):\n        return 1\n",
        "return 2",
        "return 1",
    ),
]


@pytest.mark.parametrize(("bad", "good", "mine", "other"), PAIRS)
def test_statements_are_paired(bad: str, good: str, mine: str, other: str, tmp_path: Path) -> None:
    """By text, by name, by kind; also where a statement moved into another."""
    left, right, pairs = matched(bad, good, tmp_path)
    assert pairs.good[statement(left, mine)] is statement(right, other)


def test_value_of_an_altered_assignment_keeps_its_role(tmp_path: Path) -> None:
    """The right side is the right side, whatever kind of expression it became."""
    left, right, pairs = matched("x = f(1)\n", "x = 1\n", tmp_path)
    assert pairs.good[statement(left, "x = f(1)")["value"]] is statement(right, "x = 1")["value"]


@given(
    st.lists(st.sampled_from(["a = 1", "b = 2", "f(a)", "if a: b = 3", "del b"]), max_size=6),
    st.lists(st.sampled_from(["a = 1", "b = 2", "f(a)", "if a: b = 3"]), max_size=6),
)
def test_pairs_are_one_to_one(bad: list[str], good: list[str]) -> None:
    """Whatever changed, no node has two partners, and an equal text is paired entirely."""
    folder = Path(__import__("tempfile").mkdtemp())
    mine, other, pairs = matched("\n".join(bad) + "\n", "\n".join(good) + "\n", folder)
    assert len(set(pairs.good.values())) == len(pairs.good)
    assert {good_node: bad_node for bad_node, good_node in pairs.good.items()} == pairs.bad
    if bad == good:
        assert set(pairs.good) == set(mine.nodes.values())
        assert set(pairs.bad) == set(other.nodes.values())


FLOW = """\
def f(a):
    if a > 1:
        return 1
    x = 2
    while x:
        if a:
            break
        x -= 1
    try:
        y = 3
    except ValueError:
        y = 4
    return x
"""


@pytest.mark.parametrize(
    ("text", "deciders"),
    [
        ("return 1", [2]),
        ("x = 2", [2]),
        ("if a:", [5]),
        ("x -= 1", [5, 6]),
        ("y = 3", [2]),
        ("y = 4", [11]),
        ("return x", [2]),
    ],
)
def test_deciders(text: str, deciders: list[int], tmp_path: Path) -> None:
    """Enclosing branches, and earlier ones that may leave the block."""
    found = Flow().deciders(statement(module(FLOW, tmp_path), text))
    assert sorted(node.line for node in found) == deciders


def test_region_of_the_other_side(tmp_path: Path) -> None:
    """Where one side leaves, the rest of the block belongs to the other."""
    branch = statement(module(FLOW, tmp_path), "if a > 1:")
    assert "x = 2" in {node.text for node in region(branch, taken=False)}
    assert "x = 2" not in {node.text for node in region(branch, taken=True)}


def test_lines_of_their_own(tmp_path: Path) -> None:
    """A compound statement is its header; a bare annotation is its class's."""
    text = "@deco\ndef f(\n    a,\n    b=1,\n):\n    return a\nclass A:\n    x: int\n    y = 1\n"
    found = module(text, tmp_path)
    function = next(node for node in found.nodes.values() if node.type == "FunctionDef")
    assert header(function) == (1, 5)
    assert qualified_name(function) == "f"
    argument = next(node for node in found.nodes.values() if node["arg"] == "b")
    assert spans(argument) == [(4, 4)]
    owner = next(node for node in found.nodes.values() if node.type == "ClassDef")
    assert spans(owner) == [(7, 7), (8, 8)]
