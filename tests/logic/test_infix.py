"""Terms as a person reads them."""

from __future__ import annotations

import pytest

from afterd.logic.infix import infix
from afterd.model.explanation import EMPTY, NOT_EMPTY
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
    Term,
    bitvec,
)

WORD = bitvec(32)
ONE, NINE = (Read(step, INT, name, value) for step, name, value in ((1, "i", 1), (2, "n", 9)))


def apply(op: Op, *args: Term, like: Term | None = None) -> Apply:
    return Apply(op, args, (like or args[0]).sort)


def compare(op: Op, *args: Term) -> Apply:
    return Apply(op, args, BOOL)


def _truth(text: str) -> Term:
    """``if text``, as a recorded run has it."""
    length = Apply(Op.STR_LEN, (Read(3, STRING, "text", text),), INT)
    return compare(Op.NE, length, Const(0, INT))


@pytest.mark.parametrize(
    ("term", "text"),
    [
        (compare(Op.EQ, apply(Op.SREM, apply(Op.SUB, NINE, ONE), Const(3, INT)), Const(0, INT)),
         "(9 - 1) % 3 == 0"),
        (apply(Op.SUB, NINE, apply(Op.SUB, ONE, Const(2, INT))), "9 - (1 - 2)"),
        (apply(Op.SUB, apply(Op.SUB, NINE, ONE), Const(2, INT)), "9 - 1 - 2"),
        (Apply(Op.NOT, (compare(Op.LT, ONE, NINE),), BOOL), "1 >= 9"),
        (compare(Op.NE, compare(Op.NE, ONE, NINE), Const(value=True, sort=BOOL)), "1 == 9"),
        (compare(Op.EQ, compare(Op.LT, ONE, NINE), Const(value=True, sort=BOOL)), "1 < 9"),
        (compare(Op.LT, Const(0xFFFFFFFF, WORD), Const(1, WORD)), "-1 < 1"),
        (compare(Op.ULT, Const(0xFFFFFFFF, WORD), Const(1, WORD)), "4294967295 < 1"),
        (compare(Op.NE, Apply(Op.ZEXT, (compare(Op.LT, ONE, NINE),), WORD), Const(0, WORD)), "1 < 9"),
        (Apply(Op.ITE, (Const(value=True, sort=BOOL), compare(Op.LT, ONE, NINE), Free("other", BOOL)), BOOL), "1 < 9"),
        (apply(Op.SDIV, NINE, ONE), "9 // 1"),
        (apply(Op.SDIV, Const(9, WORD), Const(2, WORD)), "9 / 2"),
        (apply(Op.STR_CONCAT, Const("a", STRING), Const("b", STRING)), "'a' + 'b'"),
        (_truth(""), EMPTY),
        (_truth("tools"), NOT_EMPTY),
        (Apply(Op.NOT, (_truth("tools"),), BOOL), NOT_EMPTY),
        (compare(Op.EQ, Free("mine", INT), Free("other", INT)), ""),
        (compare(Op.LT, ONE, Free("other", INT)), ""),
        (ONE, ""),
        (compare(Op.EQ, ONE, Concrete(None, OPAQUE, "an object")), ""),
    ],
)  # fmt: skip
def test_what_is_computed(term: Term, text: str) -> None:
    assert infix(term) == text


def test_other_values_may_be_put_in() -> None:
    assert infix(apply(Op.ADD, NINE, ONE), lambda read: {1: 4, 2: 5}[read.step]) == "5 + 4"


def test_what_is_too_long_is_shortened_from_within_and_what_is_too_deep_is_no_recursion() -> None:
    long: Term = NINE
    for _ in range(5000):
        long = apply(Op.ADD, long, ONE)
    assert infix(long).endswith(" + 1 + 1")
    assert len(infix(long)) <= 60
