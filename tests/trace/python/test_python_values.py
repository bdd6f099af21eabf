"""Recorded values: what is written down of an object, and what is read of it, beside the object itself."""

from __future__ import annotations

import operator
from collections import OrderedDict, defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afterd.model.term import BOOL, INT, OPAQUE, STRING, ieee
from afterd.trace.python.read.evaluation import constant, folded_operator
from afterd.trace.python.read.program import Module, Node
from afterd.trace.python.read.values import (
    Comparison,
    identity,
    plain_value,
    render,
    sort_of,
    truth,
)
from afterd.trace.python.record.describe import CUT, Describer, Recorded, TypeTable
from afterd.trace.trees import TREES

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-1000, 1000),
    st.floats(allow_nan=False),
    st.text(max_size=6),
    st.binary(max_size=6),
)
FLAT = st.one_of(
    SCALARS,
    st.lists(SCALARS, max_size=5),
    st.lists(SCALARS, max_size=5).map(tuple),
    st.dictionaries(st.text(max_size=3), SCALARS, max_size=4),
)


class Recording:
    """One run's values with its types."""

    def __init__(self) -> None:
        self.table = TypeTable()
        self.describer = Describer(self.table)

    def of(self, value: object) -> Recorded:
        return self.describer.describe(value)

    @property
    def types(self) -> list[tuple[Any, ...]]:
        return list(self.table.rows)


def _same(left: object, right: object) -> bool:
    """Equal and of one type, also within a container: 1, 1.0 and True are three values."""
    if type(left) is not type(right):
        return False
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(_same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return len(left) == len(right) and all(
            _same(*pair) for pair in zip(left.items(), right.items(), strict=True)
        )
    return bool(left == right)


@settings(max_examples=80)
@given(left=FLAT, right=FLAT)
def test_values_of_two_runs_are_equal_where_the_objects_are(left: object, right: object) -> None:
    one, other = Recording(), Recording()
    mine, theirs = one.of(left), other.of(right)
    compare = Comparison(one.types, other.types)
    assert compare.equal(mine, theirs) is _same(left, right)
    assert compare.equal(mine, other.of(left))


@settings(max_examples=80)
@given(value=FLAT)
def test_what_is_read_of_a_value_is_what_it_was(value: object) -> None:
    run = Recording()
    described = run.of(value)
    assert truth(described) is bool(value)
    assert render(described, run.types, limit=10_000) == repr(value)
    assert (identity(described) is not None) is isinstance(value, list | dict)
    if not isinstance(value, list | dict | tuple):
        assert _same(plain_value(described), value)


class Base:
    def __init__(self, held: object = None) -> None:
        self.held = held


class Derived(Base):
    pass


def test_objects_are_told_by_their_class_and_relatives_known() -> None:
    one, other = Recording(), Recording()
    base, derived = one.of(Base()), one.of(Derived())
    twin, green_derived, stranger = other.of(Base()), other.of(Derived()), other.of(ValueError("x"))
    compare = Comparison(one.types, other.types)
    assert compare.equal(base, twin)
    assert not compare.equal(base, green_derived)
    assert compare.related(derived, twin)
    assert compare.related(base, green_derived)
    assert not compare.related(base, twin), "one class is not made from itself"
    assert not compare.related(base, stranger)
    assert not compare.related(1, twin)


class Watched(list[object]):
    """A list whose own methods must not be called by whoever only looks at it."""

    def __iter__(self) -> Iterator[object]:
        raise AssertionError

    def __len__(self) -> int:
        raise AssertionError


class Renamed(dict[str, int]):
    def items(self) -> Any:  # noqa: ANN401 - never called
        raise AssertionError


class Point(NamedTuple):
    x: int
    y: int


@pytest.mark.parametrize(
    ("one", "other", "shown"),
    [
        (Watched([1, "a"]), Watched([1, "b"]), "Watched([1, 'a'])"),
        (Renamed(a=1), Renamed(a=2), "Renamed({'a': 1})"),
        (Point(1, 2), Point(1, 3), "Point(1, 2)"),
        (OrderedDict(a=1), OrderedDict(b=1), "OrderedDict({'a': 1})"),
        (defaultdict(list, {1: [2]}), defaultdict(list, {1: [3]}), "defaultdict({1: [2]})"),
    ],
)
def test_a_subclass_of_a_container_is_told_by_what_it_holds(
    one: object, other: object, shown: str
) -> None:
    run = Recording()
    assert render(run.of(one), run.types) == shown
    assert Comparison(run.types, run.types).equal(run.of(one), run.of(one))
    assert not Comparison(run.types, run.types).equal(run.of(one), run.of(other))


def test_a_set_is_equal_in_any_order_and_what_was_cut_speaks_against_nothing() -> None:
    one, other = Recording(), Recording()
    words = [f"w{at}" for at in range(8)]
    mine, theirs = one.of(set(words)), other.of(set(words))
    theirs = (*theirs[:3], *reversed(theirs[3:]))
    compare = Comparison(one.types, other.types)
    assert compare.equal(mine, theirs)
    assert not compare.equal(mine, other.of({*words, "more"}))
    assert compare.equal(CUT, theirs)


def test_a_long_value_is_shown_in_part() -> None:
    run = Recording()
    assert render(run.of("x" * 5000), run.types).endswith("…")
    assert len(render(run.of("x" * 5000), run.types, limit=40)) == 40
    assert render(run.of(list(range(100))), run.types, limit=10_000).startswith("[0, 1, 2,")
    assert render(run.of(set()), run.types) == "set()"
    assert render(run.of((1,)), run.types) == "(1,)"
    assert "Base" in render(run.of(Base()), run.types)


@pytest.mark.parametrize(
    ("value", "sort"),
    [(True, BOOL), (3, INT), (1.5, ieee(64)), ("a", STRING), (b"a", OPAQUE), (None, OPAQUE)],
)
def test_sorts(value: object, sort: object) -> None:
    assert sort_of(value) == sort


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ({"int": "-0xff"}, -255),
        ({"float": "inf"}, float("inf")),
        ({"bytes": "\xff"}, b"\xff"),
        (7, 7),
    ],
)
def test_literals_that_json_has_not(written: object, value: object) -> None:
    assert constant(written) == value


def _node(kind: str, **fields: object) -> Node:
    return Node(kind, 1, 1, 1, 1, 1, dict(fields), Module(0, "text.py", []))


BINARY = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mult": operator.mul,
    "FloorDiv": operator.floordiv,
    "Mod": operator.mod,
    "BitAnd": operator.and_,
    "BitOr": operator.or_,
    "BitXor": operator.xor,
}
COMPARED = {
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
}
NUMBERS = st.one_of(st.integers(-50, 50), st.booleans(), st.floats(-9, 9), st.text(max_size=3))


@settings(max_examples=150)
@given(name=st.sampled_from([*BINARY, *COMPARED]), left=NUMBERS, right=NUMBERS)
def test_an_operator_is_computed_as_python_does_or_not_at_all(
    name: str,
    left: Any,  # noqa: ANN401 - whatever an operator takes
    right: Any,  # noqa: ANN401
) -> None:
    meant = BINARY.get(name) or COMPARED[name]
    node = _node("BinOp", op=name) if name in BINARY else _node("Compare", ops=[name])
    known, found = folded_operator(node, [left, right])
    if known:
        assert _same(found, meant(left, right))
    elif not isinstance(left, str) and not isinstance(right, str):
        with pytest.raises((TypeError, ValueError, ArithmeticError)):
            meant(left, right)


def test_what_would_cost_too_much_is_not_computed() -> None:
    assert folded_operator(_node("BinOp", op="Mult"), ["x", 10**9]) == (False, None)
    assert folded_operator(_node("BinOp", op="Mod"), ["%s", 3]) == (False, None)
    assert folded_operator(_node("BinOp", op="Mult"), [1 << 100_000, 1 << 100_000]) == (False, None)
    assert folded_operator(_node("BinOp", op="Add"), [("l", 1, 0), 2]) == (False, None)
    assert folded_operator(_node("Tuple"), [1, "a"]) == (True, ("t", 1, "a"))
    assert folded_operator(_node("UnaryOp", op="Not"), [0]) == (True, True)
    assert folded_operator(_node("Compare", ops=["Lt", "Lt"]), [1, 2, 3]) == (False, None)


@pytest.mark.parametrize(
    ("mine", "other", "alike"),
    [
        ("/tmp/s/afterd-run-ab_1/tmp/tmpqu26h6x4", "/tmp/s/afterd-run-zz9/tmp/tmpbqn4farl", True),
        ("no '/tmp/afterd-run-ab/x1' here", "no '/tmp/afterd-run-cd/x23' here", True),
        (b"/afterd-run-ab/tmpqu26h6x4/dest", b"/afterd-run-cd/tmpbqn4farl/dest", True),
        ("/tmp/afterd-run-ab/x/ffmpeg", "/tmp/afterd-run-cd/x/ffprobe", False),
        ("/tmp/afterd-run-ab/x/ffmpeg", "/tmp/afterd-run-cd/x/avconv", False),
        ("/tmp/afterd-run-ab/x/y", "/tmp/afterd-run-cd/x", False),
        ("/tmp/afterd-run-ab/config_a", "/tmp/afterd-run-cd/config_b", False),
        (b"/tmp/afterd-run-ab/x is", b"/tmp/afterd-run-cd/y was", False),
        ("no '/tmp/afterd-run-ab/x' here", "no '/tmp/afterd-run-cd/y' there", False),
        ("/tmp/afterd-run-ab/x", "/tmp/elsewhere", False),
        ("/tmp/tmpqu26h6x4", "/tmp/tmpbqn4farl", False),
    ],
)
def test_a_name_in_the_folder_of_one_run_is_no_difference(
    mine: str | bytes, other: str | bytes, *, alike: bool
) -> None:
    """Biopython's story had the name that tempfile.mkstemp() drew."""
    assert Comparison([], []).equal(mine, other) is alike


def test_where_the_versions_trees_lie_is_no_difference() -> None:
    run = Recording()
    compare = Comparison(run.types, run.types)
    here, there = (f"file:///p/.git/afterd/traced/trees/{name}/{'a' * 500}" for name in TREES)
    for one, other in ((here, there), (here[:50], there[:50]), ([here], [there])):
        assert compare.equal(run.of(one), run.of(other))
    assert not compare.equal(run.of(here), run.of(there + "b"))
    assert not compare.equal(run.of(here[:50] + "x"), run.of(there[:50] + "y"))
