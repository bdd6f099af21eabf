"""The Python meaning of terms: tables for what the sorts disagree about."""

from __future__ import annotations

import math

import pytest

from afterd.logic.evaluation import UNKNOWN, Known, evaluate, same_value
from afterd.logic.terms import bottom_up, distinct_reads
from afterd.model.term import (
    BOOL,
    INT,
    OPAQUE,
    STRING,
    Apply,
    Concrete,
    Const,
    Free,
    Op,
    Read,
    Sort,
    Term,
    Value,
    bitvec,
    ieee,
)

BYTE, HALF, SINGLE, DOUBLE = bitvec(8), bitvec(16), ieee(32), ieee(64)


def _of(op: Op, sort: Sort, *values: Value, result: Sort | None = None) -> Known:
    return evaluate(Apply(op, tuple(Const(v, sort) for v in values), result or sort))


@pytest.mark.parametrize(
    ("op", "sort", "arguments", "expected"),
    [
        (Op.ADD, BYTE, (255, 2), 1),
        (Op.NEG, BYTE, (1,), 255),
        (Op.SDIV, BYTE, (0xF9, 2), 0xFD),  # -7 / 2 = -3 in C
        (Op.SDIV, INT, (-7, 2), -4),  # -4 in Python
        (Op.SREM, BYTE, (0xF9, 2), 0xFF),  # -7 % 2 = -1 in C
        (Op.SREM, INT, (-7, 2), 1),
        (Op.UDIV, BYTE, (0xF9, 2), 124),
        (Op.SDIV, BYTE, (5, 0), 255),  # SMT-LIB; the program would have trapped
        (Op.UREM, BYTE, (5, 0), 5),
        (Op.SDIV, INT, (5, 0), UNKNOWN),
        (Op.SHL, BYTE, (1, 8), 0),
        (Op.ASHR, BYTE, (0x80, 9), 255),
        (Op.LSHR, BYTE, (0x80, 7), 1),
        (Op.SHL, INT, (1, 100), 1 << 100),
        (Op.SHL, INT, (1, 10**9), UNKNOWN),
        (Op.BITAND, INT, (-1, 6), 6),
        (Op.BITNOT, INT, (6,), -7),
        (Op.STR_CONCAT, STRING, ("a", "b"), "ab"),
        (Op.FADD, SINGLE, (1e38, 3e38), math.inf),
        (Op.FDIV, DOUBLE, (-1.0, 0.0), -math.inf),
        (Op.FDIV, DOUBLE, (0.0, 0.0), math.nan),
    ],
)
def test_operators(op: Op, sort: Sort, arguments: tuple[Value, ...], expected: Known) -> None:
    assert same_value(_of(op, sort, *arguments), expected)


@pytest.mark.parametrize(
    ("op", "sort", "arguments", "expected"),
    [
        (Op.LT, BYTE, (255, 0), True),
        (Op.ULT, BYTE, (255, 0), False),
        (Op.EQ, DOUBLE, (0.0, -0.0), False),
        (Op.FEQ, DOUBLE, (0.0, -0.0), True),
        (Op.EQ, DOUBLE, (math.nan, math.nan), True),
        (Op.FEQ, DOUBLE, (math.nan, math.nan), False),
        (Op.FNE, DOUBLE, (math.nan, 1.0), True),
        (Op.EQ, OPAQUE, (1, True), False),
        (Op.EQ, OPAQUE, (None, None), True),
        (Op.STR_PREFIX, STRING, ("abc", "ab"), True),
        (Op.STR_SUFFIX, STRING, ("abc", "ab"), False),
        (Op.STR_CONTAINS, STRING, ("abc", "bc"), True),
        (Op.LT, STRING, ("a", "ab"), True),
    ],
)
def test_conditions(op: Op, sort: Sort, arguments: tuple[Value, ...], *, expected: bool) -> None:
    assert _of(op, sort, *arguments, result=BOOL) is expected


def test_the_width_of_the_result_is_kept() -> None:
    wide = Apply(Op.CONCAT, (Const(0x12, BYTE), Const(0x34, BYTE)), HALF)
    assert evaluate(wide) == 0x1234
    assert evaluate(Apply(Op.EXTRACT, (wide,), BYTE, 4)) == 0x23
    assert evaluate(Apply(Op.TRUNC, (wide,), BYTE)) == 0x34
    assert evaluate(Apply(Op.SEXT, (Const(0x80, BYTE),), HALF)) == 0xFF80


def test_what_is_not_needed_may_be_unknown() -> None:
    unknown, false = Free("x", BOOL), Const(value=False, sort=BOOL)
    assert evaluate(Apply(Op.AND, (unknown, false), BOOL)) is False
    assert evaluate(Apply(Op.OR, (unknown, false), BOOL)) is UNKNOWN
    one = Const(1, INT)
    assert evaluate(Apply(Op.ITE, (unknown, one, one), INT)) == 1
    assert evaluate(Apply(Op.ITE, (false, Free("y", INT), one), INT)) == 1


def test_a_concrete_term_is_known_only_where_it_was_seen() -> None:
    read = Read(1, INT, "x", 5)
    call = Concrete(7, INT, "external call", (read,))
    assert evaluate(call) == 7
    assert evaluate(call, lambda _read: 6) is UNKNOWN


def test_ill_sorted_terms_are_unknown() -> None:
    assert _of(Op.FADD, INT, 1, 2) is UNKNOWN
    assert evaluate(Apply(Op.ADD, (Const(1, INT), Const("a", STRING)), INT)) is UNKNOWN


def test_depth_and_sharing_are_no_limit() -> None:
    deep: Term = Read(1, INT, "x", 1)
    for _ in range(100_000):
        deep = Apply(Op.ADD, (deep, Const(1, INT)), INT)
    assert evaluate(deep) == 100_001
    shared: Term = Read(1, INT, "x", 1)
    for _ in range(200):  # 2^200 paths
        shared = Apply(Op.SUB, (shared, shared), INT)
    assert evaluate(shared) == 0
    assert len(list(bottom_up(shared))) == 201
    assert [read.step for read in distinct_reads(shared)] == [1]
