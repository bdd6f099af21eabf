"""Nodes of one version paired with the other's; control structure; lines of their own."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st
from python_pairs import changes_of

from afterd.compare.python.matching import Matching, match
from afterd.trace.linemap import LineMap
from afterd.trace.python.read.program import Module, Node, load_module
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
    ("x: int = 1\ny: str = 'a'\n", "y = 'b'\nx = 1\n", "y: str = 'a'", "y = 'b'"),
    ("x = y\nz = 2\n", "x: int = 1\n", "x = y", "x: int = 1"),
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
    assert pairs.good.get(statement(left, mine)) is statement(right, other)


OTHER_NAMES = {
    "a function with half of the other's lines": (
        "x = a\n    return x",
        "x = b\n    return x",
        True,
    ),
    "one that took the place of another": ("return a.lower()", "yield b, c", False),
}


@pytest.mark.parametrize("case", OTHER_NAMES.values(), ids=OTHER_NAMES)
def test_definitions_of_two_names_are_one_if_they_are_alike(
    case: tuple[str, str, bool], tmp_path: Path
) -> None:
    mine, other, alike = case
    bad, good = f"def f(p):\n    {mine}\n", f"def g(p):\n    {other}\n"
    left, right, pairs = matched(bad, good, tmp_path)
    twin = pairs.good.get(statement(left, "def f(p):"))
    assert twin is (statement(right, "def g(p):") if alike else None)


def test_value_of_an_altered_assignment_keeps_its_role(tmp_path: Path) -> None:
    """The right side is the right side, whatever kind of expression it became."""
    left, right, pairs = matched("x = f(1)\n", "x = 1\n", tmp_path)
    assert (
        pairs.good.get(statement(left, "x = f(1)")["value"]) is statement(right, "x = 1")["value"]
    )


def test_what_gives_a_name_its_value_does_so_with_an_annotation_too(tmp_path: Path) -> None:
    """chameleon: a class of eleven attributes had types added, and each was called where the infection enters."""
    left, right, pairs = matched("x: int = 1\n", "x = 1\n", tmp_path)
    mine, other = statement(left, "x: int = 1"), statement(right, "x = 1")
    assert pairs.good.get(mine["target"]) is other["targets"][0]
    assert pairs.good.get(mine["value"]) is other["value"]
    left, right, pairs = matched("x: int\n", "x = 1\n", tmp_path)
    assert pairs.good.get(statement(left, "x: int")) is None


@given(
    st.lists(st.sampled_from(["a = 1", "b = 2", "f(a)", "if a: b = 3", "del b"]), max_size=6),
    st.lists(st.sampled_from(["a = 1", "b = 2", "f(a)", "if a: b = 3"]), max_size=6),
)
def test_pairs_are_one_to_one(bad: list[str], good: list[str]) -> None:
    """Whatever changed, no node has two partners, and an equal text is paired entirely."""
    with TemporaryDirectory() as folder:
        mine, other, pairs = matched("\n".join(bad) + "\n", "\n".join(good) + "\n", Path(folder))
    to_good = {node: pairs.good.get(node) for node in mine.nodes.values() if node in pairs.good}
    to_bad = {node: pairs.bad.get(node) for node in other.nodes.values() if node in pairs.bad}
    assert to_bad == {partner: node for node, partner in to_good.items()}
    assert len(to_bad) == len(to_good)
    if bad == good:
        assert set(to_good) == set(mine.nodes.values())
        assert set(to_bad) == set(other.nodes.values())


def test_a_text_that_both_runs_loaded_is_read_once_and_is_its_own_partner(tmp_path: Path) -> None:
    one, other, pairs = matched("x = 1\n", "x = 1\n", tmp_path)
    assert one is other
    assert all(pairs.good.get(node) is node for node in one.nodes.values())


def test_a_condition_is_paired_with_the_one_that_it_is_most_like(tmp_path: Path) -> None:
    """Not with the first that is left: a story said what another condition would have been."""
    good = (
        "def parse(patterns):\n    if npattern:\n        compiled()\n"
        "    if not patterns and known is not None:\n        default()\n"
    )
    bad = (
        "def parse(patterns):\n    if not patterns and known:\n        default(1)\n"
        "    if nodir:\n        only()\n"
    )
    mine, other, found = matched(bad, good, tmp_path)
    twin = found.good.get(statement(mine, "if not patterns and known:"))
    assert twin is statement(other, "if not patterns and known is not None:")
    assert found.good.get(statement(mine, "if nodir:")) is None


def test_imports_and_parameters_are_paired_by_their_names(tmp_path: Path) -> None:
    """Laid out anew, in another order, from elsewhere: a name in the place of another one is not that one."""
    good = "from a import Z, f, g\nimport os\ndef h(x, y):\n    return k(a=x, b=y)\n"
    bad = (
        "import os, re\nfrom a import (\n    Y,\n    f,\n    Z,\n)\nfrom b import g\n"
        "def h(y, x):\n    return k(b=y, a=x)\n"
    )
    mine, other, found = matched(bad, good, tmp_path)
    kinds = ("alias", "arg", "keyword")
    names = {node: str(node["name"] or node["arg"]) for node in other.of_type(*kinds)}
    pairs = {
        str(node["name"] or node["arg"]): names.get(twin)
        if (twin := found.good.get(node))
        else None
        for node in mine.of_type(*kinds)
    }
    assert pairs == {name: name for name in ("os", "f", "Z", "g", "x", "y", "a", "b")} | {
        "re": None,
        "Y": None,
    }


def test_a_statement_that_moved_to_another_function_is_what_it_was(tmp_path: Path) -> None:
    """Where one alone of each version has no partner and that text, and it does something."""
    good = "def f(a):\n    a.notes = {}\n    a.tags = []\n    a.tags = []\n    return a\n"
    bad = "def f(a):\n    return g(a, 1)\ndef g(a, b):\n    a.notes = {}\n    a.tags = []\n    return b\n"
    mine, other, found = matched(bad, good, tmp_path)
    moved = statement(mine, "a.notes = {}")
    assert found.good.get(moved) is statement(other, "a.notes = {}")
    assert found.good.get(moved["value"]) is statement(other, "a.notes = {}")["value"]
    assert found.good.get(statement(mine, "a.tags = []")) is None
