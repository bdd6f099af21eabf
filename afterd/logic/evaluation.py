"""What a term is worth under given values of its reads: the meaning of ``model.term`` in Python.

This is the reference that ``translate`` (the same meaning in z3) is tested against, and the second
opinion on every core that z3 returns: two encoders that share no code rarely share a mistake.
Division by zero and over-long shifts of bit-vectors follow SMT-LIB; of ``INT`` they are UNKNOWN.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from functools import reduce
from typing import Any, Final

from afterd.limits import LOGIC
from afterd.logic.terms import bottom_up
from afterd.model.term import Apply, Concrete, Const, Free, Op, Read, Sort, SortKind, Term, Value


class Unknown(Enum):
    """The one value that is none: ``None`` is a value of the program."""

    UNKNOWN = "unknown"


UNKNOWN: Final = Unknown.UNKNOWN
Known = Value | Unknown


def observed_value(read: Read) -> Known:
    """The value a read had in the run; UNKNOWN where the tracer could not render one."""
    return UNKNOWN if read.value is None and read.sort.kind is not SortKind.OPAQUE else read.value


def evaluate(term: Term, value_of: Callable[[Read], Known] = observed_value) -> Known:
    """The value of ``term`` where each read has ``value_of(read)``; else UNKNOWN."""
    return Evaluator(value_of).value(term)


class Evaluator:
    """Evaluates many terms under one valuation; sub-terms shared by identity are computed once.

    Iterative: a term may be 10^6 deep. Terms are never compared or hashed, which would recurse.
    """

    def __init__(self, value_of: Callable[[Read], Known] = observed_value) -> None:
        self._value_of = value_of
        self._values: dict[int, Known] = {}
        self._done: set[int] = set()
        self._alive: list[Term] = []  # an id is only unique among the living

    def value(self, term: Term, order: Iterable[Term] | None = None) -> Known:
        """The value of ``term``, or UNKNOWN. ``order`` are its sub-terms that were not evaluated yet, operands first,
        where that is known.
        """
        for node in bottom_up(term, self._done) if order is None else order:
            self._alive.append(node)
            self._values[id(node)] = self._node(node)
        return self._values[id(term)]

    def _node(self, term: Term) -> Known:
        match term:
            case Apply():
                return normal(apply(term, [self._values[id(a)] for a in term.args]), term.sort)
            case Const():
                return normal(term.value, term.sort)
            case Read():
                return normal(self._value_of(term), term.sort)
            case Free():
                return UNKNOWN
            case Concrete():
                return self._concrete(term)

    def _concrete(self, term: Concrete) -> Known:
        """Known only where all it depends on is as it was in the run."""
        for read in term.reads:
            now, then = self._values[id(read)], normal(observed_value(read), read.sort)
            if now is UNKNOWN or then is UNKNOWN or not same_value(now, then):
                return UNKNOWN
        return normal(term.value, term.sort)


def normal(value: Known, sort: Sort) -> Known:
    """``value`` as the sort keeps it: bit-vectors unsigned, 32-bit floats rounded to 32 bits.

    UNKNOWN for what is no value of the sort.
    """
    return UNKNOWN if value is UNKNOWN else _NORMAL[sort.kind](value, sort.width)


def same_value(left: Known, right: Known) -> bool:
    """Identity of values: NaN is NaN, 0.0 is not -0.0, and True is not 1."""
    if type(left) is not type(right):
        return False
    if isinstance(left, float) and isinstance(right, float):
        both_nan = math.isnan(left) and math.isnan(right)
        return both_nan or (left == right and math.copysign(1, left) == math.copysign(1, right))
    return left == right


def apply(term: Apply, values: Sequence[Known]) -> Known:
    """The operator of ``term`` applied to the values of its arguments."""
    if term.op in _LAZY:
        return _LAZY[term.op](values)
    if any(value is UNKNOWN for value in values):
        return UNKNOWN
    sort = term.args[0].sort
    table = _TABLES.get(sort.kind, {})
    function = table.get(term.op) or _ANY_SORT.get(term.op)
    if function is None:
        return UNKNOWN
    try:
        result: Known = function(term, sort.width, *values)
    except (ZeroDivisionError, OverflowError, ValueError, TypeError, IndexError):
        return UNKNOWN
    return result


def _word(value: Value, width: int) -> Known:
    return int(value) & ((1 << width) - 1) if isinstance(value, int) else UNKNOWN


def _integer(value: Value, _width: int) -> Known:
    if not isinstance(value, int) or value.bit_length() > LOGIC.integer_bits:
        return UNKNOWN
    return int(value)


def _float(value: Value, width: int) -> Known:
    if isinstance(value, int) and value.bit_length() < LOGIC.float_bits:
        return _rounded_float(float(value), width)
    return _rounded_float(value, width) if isinstance(value, float) else UNKNOWN


_NORMAL: Mapping[SortKind, Callable[[Value, int], Known]] = {
    SortKind.BOOL: lambda value, _width: bool(value) if isinstance(value, int) else UNKNOWN,
    SortKind.BITVEC: _word,
    SortKind.INT: _integer,
    SortKind.FLOAT: _float,
    SortKind.STRING: lambda value, _width: value if isinstance(value, str) else UNKNOWN,
    SortKind.OPAQUE: lambda value, _width: value,
}


def _rounded_float(value: float, width: int) -> float:
    if width != 32 or math.isnan(value) or math.isinf(value):
        return value
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:  # struct refuses what IEEE rounds to infinity
        return math.copysign(math.inf, value)


def _conjunction_value(values: Sequence[Known]) -> Known:
    if any(value is False for value in values):
        return False
    return UNKNOWN if any(value is UNKNOWN for value in values) else True


def _disjunction_value(values: Sequence[Known]) -> Known:
    if any(value is True for value in values):
        return True
    return UNKNOWN if any(value is UNKNOWN for value in values) else False


def _ite(values: Sequence[Known]) -> Known:
    condition, then, otherwise = values
    if condition is UNKNOWN:
        return then if then is not UNKNOWN and same_value(then, otherwise) else UNKNOWN
    return then if condition else otherwise


_LAZY: Mapping[Op, Callable[[Sequence[Known]], Known]] = {
    Op.AND: _conjunction_value,
    Op.OR: _disjunction_value,
    Op.ITE: _ite,
}

# Every function below takes (term, width of the first argument, *argument values).
_Function = Callable[..., Any]


def signed_value(value: int, width: int) -> int:
    """The two's complement reading of an unsigned value."""
    return value - (1 << width) if value >> (width - 1) & 1 else value


def _fold(operation: Callable[[Any, Any], Any]) -> _Function:
    return lambda _term, _width, *values: reduce(operation, values)


def _signed_function(operation: Callable[[int, int], Any]) -> _Function:
    return lambda _term, width, a, b: operation(signed_value(a, width), signed_value(b, width))


def _plain_function(operation: Callable[..., Any]) -> _Function:
    return lambda _term, _width, *values: operation(*values)


def _truncating(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _sdiv(_term: Apply, width: int, a: int, b: int) -> int:
    dividend, divisor = signed_value(a, width), signed_value(b, width)
    if divisor == 0:
        return 1 if dividend < 0 else -1
    return _truncating(dividend, divisor)


def _srem(_term: Apply, width: int, a: int, b: int) -> int:
    dividend, divisor = signed_value(a, width), signed_value(b, width)
    return dividend if divisor == 0 else dividend - divisor * _truncating(dividend, divisor)


def _concat(term: Apply, _width: int, *values: int) -> int:
    result = 0
    for argument, value in zip(term.args, values, strict=True):
        result = result << argument.sort.width | value
    return result


def _shifted_value(a: int, b: int) -> int:
    if not 0 <= b <= LOGIC.integer_bits:
        raise OverflowError
    return a << b


def _ieee_divide(_term: Apply, _width: int, a: float, b: float) -> float:
    if b != 0 or math.isnan(a):
        return a / b
    return math.nan if a == 0 else math.copysign(math.inf, a) * math.copysign(1.0, b)


def _character(text: str, index: int) -> str:
    return text[index] if 0 <= index < len(text) else ""


_COMPARE: Mapping[Op, _Function] = {
    Op.LT: _plain_function(lambda a, b: a < b),
    Op.LE: _plain_function(lambda a, b: a <= b),
    Op.GT: _plain_function(lambda a, b: a > b),
    Op.GE: _plain_function(lambda a, b: a >= b),
}

_ANY_SORT: Mapping[Op, _Function] = {
    Op.EQ: _plain_function(same_value),
    Op.NE: _plain_function(lambda a, b: not same_value(a, b)),
}

_BOOL: Mapping[Op, _Function] = {
    Op.NOT: _plain_function(lambda a: not a),
    Op.XOR: _fold(lambda a, b: a != b),
    Op.ZEXT: _plain_function(int),
    Op.SEXT: _plain_function(lambda a: -int(a)),
}

_BITVEC: Mapping[Op, _Function] = {
    Op.LT: _signed_function(lambda a, b: a < b),
    Op.LE: _signed_function(lambda a, b: a <= b),
    Op.GT: _signed_function(lambda a, b: a > b),
    Op.GE: _signed_function(lambda a, b: a >= b),
    Op.ULT: _COMPARE[Op.LT],
    Op.ULE: _COMPARE[Op.LE],
    Op.UGT: _COMPARE[Op.GT],
    Op.UGE: _COMPARE[Op.GE],
    Op.NEG: _plain_function(lambda a: -a),
    Op.ADD: _fold(lambda a, b: a + b),
    Op.SUB: _plain_function(lambda a, b: a - b),
    Op.MUL: _fold(lambda a, b: a * b),
    Op.SDIV: _sdiv,
    Op.SREM: _srem,
    Op.UDIV: _plain_function(lambda a, b: a // b if b else -1),
    Op.UREM: _plain_function(lambda a, b: a % b if b else a),
    Op.SHL: lambda _term, width, a, b: a << b if b < width else 0,
    Op.LSHR: lambda _term, width, a, b: a >> b if b < width else 0,
    Op.ASHR: lambda _term, width, a, b: signed_value(a, width) >> min(b, width),
    Op.BITNOT: _plain_function(lambda a: ~a),
    Op.BITAND: _fold(lambda a, b: a & b),
    Op.BITOR: _fold(lambda a, b: a | b),
    Op.BITXOR: _fold(lambda a, b: a ^ b),
    Op.ZEXT: _plain_function(lambda a: a),
    Op.SEXT: lambda _term, width, a: signed_value(a, width),
    Op.TRUNC: _plain_function(lambda a: a),
    Op.EXTRACT: lambda term, _width, a: a >> term.parameter,
    Op.CONCAT: _concat,
}

_INT: Mapping[Op, _Function] = {
    **_COMPARE,
    Op.NEG: _plain_function(lambda a: -a),
    Op.ADD: _fold(lambda a, b: a + b),
    Op.SUB: _plain_function(lambda a, b: a - b),
    Op.MUL: _fold(lambda a, b: a * b),
    Op.SDIV: _plain_function(lambda a, b: a // b),
    Op.SREM: _plain_function(lambda a, b: a % b),
    Op.FDIVT: _plain_function(lambda a, b: a / b),
    Op.SHL: _plain_function(_shifted_value),
    Op.ASHR: _plain_function(lambda a, b: a >> b),
    Op.BITNOT: _plain_function(lambda a: ~a),
    Op.BITAND: _fold(lambda a, b: a & b),
    Op.BITOR: _fold(lambda a, b: a | b),
    Op.BITXOR: _fold(lambda a, b: a ^ b),
}

_FLOAT: Mapping[Op, _Function] = {
    Op.FADD: _plain_function(lambda a, b: a + b),
    Op.FSUB: _plain_function(lambda a, b: a - b),
    Op.FMUL: _plain_function(lambda a, b: a * b),
    Op.FDIV: _ieee_divide,
    Op.FDIVT: _ieee_divide,
    Op.FNEG: _plain_function(lambda a: -a),
    Op.FLT: _COMPARE[Op.LT],
    Op.FLE: _COMPARE[Op.LE],
    Op.FGT: _COMPARE[Op.GT],
    Op.FGE: _COMPARE[Op.GE],
    Op.FEQ: _plain_function(lambda a, b: a == b),
    Op.FNE: _plain_function(lambda a, b: a != b),
}

_STRING: Mapping[Op, _Function] = {
    **_COMPARE,
    Op.STR_CONCAT: _fold(lambda a, b: a + b),
    Op.STR_LEN: _plain_function(len),
    Op.STR_AT: _plain_function(_character),
    Op.STR_CONTAINS: _plain_function(lambda text, part: part in text),
    Op.STR_PREFIX: _plain_function(lambda text, part: text.startswith(part)),
    Op.STR_SUFFIX: _plain_function(lambda text, part: text.endswith(part)),
}

_TABLES: Mapping[SortKind, Mapping[Op, _Function]] = {
    SortKind.BOOL: _BOOL,
    SortKind.BITVEC: _BITVEC,
    SortKind.INT: _INT,
    SortKind.FLOAT: _FLOAT,
    SortKind.STRING: _STRING,
}
