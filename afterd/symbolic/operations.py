"""What instructions compute from their operands: the value of the run, and the term of it."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence

from afterd.logic import UNKNOWN, Evaluator, distinct_reads, signed_value
from afterd.model.term import BOOL, Apply, Concrete, Const, Op, Read, SortKind, Term, Value
from afterd.symbolic.code import Code
from afterd.symbolic.refusal import NotFollowedError, SideEndedError
from afterd.trace.c.ir import arithmetic

Known = tuple[Value, Term | None]
"""A value of the run and its term; None for what only constants went into."""

_DIVISIONS = frozenset({"sdiv", "udiv", "srem", "urem"})


def compute(code: Code, given: Sequence[Known]) -> Known:
    """The result of an instruction without side effects."""
    fast = _FAST.get(code.opcode)
    values = [value for value, _ in given]
    words = [value for value in values if isinstance(value, int)]
    if code.opcode in _DIVISIONS and values[1] == 0:
        raise SideEndedError("a division by zero")
    if fast is not None and code.sort.kind is SortKind.BITVEC:
        value: Value = fast(*words) & ((1 << code.sort.width) - 1)
    elif code.opcode == "icmp" and code.operands[0].sort.kind is SortKind.BITVEC:
        value = _compare(code.detail, words[0], words[1], code.operands[0].sort.width)
    else:
        value = _evaluated_code(code, values)
    if all(term is None for _, term in given):
        return value, None
    return value, _result(code, [as_term(code, at, known) for at, known in enumerate(given)], value)


def as_term(code: Code, at: int, known: Known) -> Term:
    """The term of an operand."""
    value, term = known
    return Const(value, code.operands[at].sort) if term is None else term


def term_of(code: Code, given: Sequence[Term]) -> Term | None:
    """The instruction as an operator over terms; None where no term says it."""
    if code.opcode in {"icmp", "fcmp"}:
        return arithmetic.comparison(code.detail, *given)
    if code.opcode in arithmetic.BINARY:
        return arithmetic.binary(code.opcode, *given)
    if code.opcode in arithmetic.CASTS:
        return arithmetic.cast(code.opcode, given[0], code.detail)
    if code.opcode == "select":
        return Apply(Op.ITE, tuple(given), code.sort)
    if code.opcode == "fneg":
        return Apply(Op.FNEG, tuple(given), code.sort)
    return None


def overflow_free(code: Code, given: Sequence[Known], result: Known) -> Term | None:
    """That a signed sum or difference fits, where the program's language leaves it undefined."""
    if code.detail is not True or code.opcode not in {"add", "sub"} or result[1] is None:
        return None
    left, right = (as_term(code, at, known) for at, known in enumerate(given))
    zero = Const(0, code.sort)
    below = [Apply(Op.LT, (term, zero), BOOL) for term in (left, right, result[1])]
    alike = Op.EQ if code.opcode == "add" else Op.NE
    apart = Apply(Op.NE, (below[0], below[2]), BOOL)
    risky = Apply(alike, (below[0], below[1]), BOOL)
    fits = Apply(Op.NOT, (Apply(Op.AND, (risky, apart), BOOL),), BOOL)
    a, b, c = (
        signed_value(int(v or 0), code.sort.width) < 0
        for v in (given[0][0], given[1][0], result[0])
    )
    overflowed = (a == b if code.opcode == "add" else a != b) and a != c
    return None if overflowed else fits


def _result(code: Code, terms: list[Term], value: Value) -> Term:
    term = term_of(code, terms)
    if term is not None:
        return term
    return Concrete(
        value, code.sort, code.opcode, each_read_once([r for t in terms for r in distinct_reads(t)])
    )


def _evaluated_code(code: Code, values: Sequence[Value]) -> Value:
    if code.opcode in {"sitofp", "uitofp", "fptosi", "fptoui", "fpext", "fptrunc"}:
        return _converted_value(code, values[0])
    term = term_of(code, [Const(v, o.sort) for v, o in zip(values, code.operands, strict=True)])
    value = Evaluator().value(term) if term is not None else UNKNOWN
    if value is UNKNOWN:
        raise NotFollowedError(
            f"an instruction {code.opcode} on {code.operands[0].sort.kind.value}"
        )
    return value


def _converted_value(code: Code, value: Value) -> Value:
    assert isinstance(value, int | float)
    width = code.operands[0].sort.width
    match code.opcode:
        case "sitofp":
            number = float(signed_value(int(value), width or 1))
        case "uitofp":
            number = float(value)
        case "fptosi" | "fptoui":
            try:
                return int(value) & (1 << code.sort.width) - 1
            except (OverflowError, ValueError) as error:
                raise SideEndedError("a number that does not fit") from error
        case _:
            number = float(value)
    if code.sort.width == 32:
        try:
            return float(struct.unpack("<f", struct.pack("<f", number))[0])
        except OverflowError as error:
            raise SideEndedError("a number that does not fit") from error
    return number


def _compare(predicate: str, a: int, b: int, width: int) -> bool:
    if predicate[0] == "s":
        a, b = signed_value(a, width), signed_value(b, width)
    return _ORDERS[predicate[-2:]](a, b)


_ORDERS: Mapping[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
_FAST: Mapping[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}


def each_read_once(found: Sequence[Read]) -> tuple[Read, ...]:
    """Each step once."""
    return tuple({read.step: read for read in found}.values())
