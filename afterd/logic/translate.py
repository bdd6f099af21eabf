"""Terms of the model as z3 expressions: the meaning of ``evaluate``, written a second time.

Runs only in the solver's child process. Sub-terms are converted once (by identity), bottom up, so
neither depth nor sharing is a limit here; z3's own recursion is kept shallow by giving every
``LOGIC.depth``-th level a name of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import z3

from afterd.limits import LOGIC
from afterd.logic import theory
from afterd.logic.evaluation import UNKNOWN, Evaluator, Known, observed_value
from afterd.logic.terms import bottom_up
from afterd.logic.theory import Precision
from afterd.model.term import Apply, Concrete, Const, Free, Op, Read, Sort, SortKind, StepId, Term

Expression = Any  # z3 ships no types
_LARGEST_CHARACTER = 0x2FFFF  # of z3's strings


class Translator:
    """Translates terms into one z3 context; ``facts`` must be asserted beside the results.

    Facts are definitions of fresh names and what is known of terms made concrete: they hold
    whatever the program does, so they are never part of a core.
    """

    def __init__(self, context: Expression, precision: Precision = Precision.EXACT) -> None:
        self.context = context
        self._precision = precision
        self._observed = Evaluator(observed_value)
        self._expressions: dict[int, Expression] = {}
        self._depths: dict[int, int] = {}
        self._done: set[int] = set()
        self._alive: list[Term] = []  # an id is only unique among the living
        self._opaque: dict[str, Expression] = {}
        self._fresh = 0
        self._facts: list[Expression] = []

    @property
    def facts(self) -> list[Expression]:
        """What to assert beside the translated terms."""
        distinct = list(self._opaque.values())
        return [*self._facts, z3.Distinct(*distinct)] if len(distinct) > 1 else list(self._facts)

    @property
    def translated(self) -> int:
        """How many distinct terms were translated."""
        return len(self._expressions)

    def variable(self, step: StepId, sort: Sort) -> Expression:
        """The SSA name of what ``step`` defined; another sort is another name."""
        name = f"v{step}" if sort.kind is not SortKind.BITVEC else f"v{step}.{sort.width}"
        return z3.Const(f"{name}.{sort.kind.value}", self.sort(sort))

    def sort(self, sort: Sort) -> Expression:
        """The z3 sort."""
        match sort.kind:
            case SortKind.BOOL:
                return z3.BoolSort(self.context)
            case SortKind.BITVEC:
                return z3.BitVecSort(sort.width, self.context)
            case SortKind.INT:
                return z3.IntSort(self.context)
            case SortKind.STRING:
                return z3.StringSort(self.context)
            case SortKind.FLOAT:
                return self._float_sort(sort.width)
        return z3.DeclareSort("Opaque", self.context)

    def term(self, term: Term) -> Expression:
        """The z3 expression of ``term``."""
        for node in bottom_up(term, self._done):
            self._alive.append(node)
            self._expressions[id(node)] = self._shallow(node, self._node(node))
        return self._expressions[id(term)]

    def constant(self, value: Known, sort: Sort) -> Expression:
        """A literal; what cannot be one is a fresh name that nothing is known about."""
        context = self.context
        match sort.kind, value:
            case SortKind.OPAQUE, _ if value is not UNKNOWN:
                literal = self._opaque_constant(value)
            case SortKind.BOOL, int():
                literal = z3.BoolVal(bool(value), context)
            case SortKind.BITVEC, int():
                literal = z3.BitVecVal(int(value), sort.width, context)
            case SortKind.INT, int():
                literal = z3.IntVal(int(value), context)
            case SortKind.FLOAT, int() | float():
                literal = z3.FPVal(float(value), None, self._float_sort(sort.width), context)
            case SortKind.STRING, str() if max(map(ord, value), default=0) <= _LARGEST_CHARACTER:
                literal = z3.StringVal(_escaped_text(value), context)
            case _:
                literal = self._name(self.sort(sort))
        return literal

    def _node(self, term: Term) -> Expression:
        match term:
            case Const():
                return self.constant(self._observed.value(term), term.sort)
            case Read():
                return self.variable(term.step, term.sort)
            case Free():
                return self._name(self.sort(term.sort))
            case Concrete():
                return self._point(term, term.reads)
            case Apply():
                if theory.made_concrete(term, self._precision):
                    return self._point(term, term.args)
                return self._apply(term)

    def _apply(self, term: Apply) -> Expression:
        arguments = [self._expressions[id(arg)] for arg in term.args]
        kind = term.args[0].sort.kind
        operator = _TABLES.get(kind, {}).get(term.op) or _ANY_SORT.get(term.op)
        if operator is None:
            return self._point(term, term.args)
        try:
            result = operator(term, *arguments)
        except z3.Z3Exception:  # ill-sorted: a tracer's slip must not cost the whole answer
            return self._point(term, term.args)
        return result if result.sort() == self.sort(term.sort) else self._point(term, term.args)

    def _point(self, term: Concrete | Apply, arguments: tuple[Term, ...]) -> Expression:
        """What ``term`` was at the arguments it had; elsewhere nothing is said of it."""
        result = self._name(self.sort(term.sort))
        value = self._observed.value(term)
        values = [self._observed.value(argument) for argument in arguments]
        if value is UNKNOWN or any(v is UNKNOWN for v in values):
            return result
        here = [
            self._expressions[id(argument)] == self.constant(v, argument.sort)
            for argument, v in zip(arguments, values, strict=True)
        ]
        fact = result == self.constant(value, term.sort)
        self._facts.append(z3.Implies(z3.And(*here), fact) if here else fact)
        return result

    def _shallow(self, term: Term, expression: Expression) -> Expression:
        """``expression``, or a name for it when it has become deep."""
        arguments = term.args if isinstance(term, Apply) else ()
        depth = 1 + max((self._depths[id(arg)] for arg in arguments), default=0)
        self._depths[id(term)] = 0 if depth > LOGIC.depth else depth
        if depth <= LOGIC.depth:
            return expression
        name = self._name(expression.sort())
        self._facts.append(name == expression)
        return name

    def _name(self, sort: Expression) -> Expression:
        self._fresh += 1
        return z3.Const(f"k{self._fresh}", sort)

    def _opaque_constant(self, value: Known) -> Expression:
        key = f"{type(value).__name__} {value!r}"
        if key not in self._opaque:
            self._opaque[key] = self._name(z3.DeclareSort("Opaque", self.context))
        return self._opaque[key]

    def _float_sort(self, width: int) -> Expression:
        return z3.Float32(self.context) if width == 32 else z3.Float64(self.context)


def _escaped_text(text: str) -> str:
    r"""As z3 reads string literals: a backslash of the program must not begin an escape."""
    return "".join(c if " " <= c <= "~" and c != "\\" else f"\\u{{{ord(c):x}}}" for c in text)


# Every function below takes (term, *argument expressions).
_Operator = Callable[..., Expression]


def _plain_operator(operation: Callable[..., Expression]) -> _Operator:
    return lambda _term, *arguments: operation(*arguments)


def _fold(operation: Callable[[Expression, Expression], Expression]) -> _Operator:
    return lambda _term, *arguments: reduce(operation, arguments)


def _nearest_operator(operation: Callable[..., Expression]) -> _Operator:
    """IEEE round to nearest, ties to even: what C and Python do."""
    return lambda _term, a, b: operation(z3.RoundNearestTiesToEven(a.ctx), a, b, ctx=a.ctx)


def _ieee(operation: Callable[..., Expression]) -> _Operator:
    """z3's float functions take another context than their arguments' unless told, and crash."""
    return lambda _term, *arguments: operation(*arguments, ctx=arguments[0].ctx)


def _bit(term: Apply, condition: Expression, one: int) -> Expression:
    width, context = term.sort.width, condition.ctx
    return z3.If(condition, z3.BitVecVal(one, width, context), z3.BitVecVal(0, width, context))


def _floor_division(_term: Apply, a: Expression, b: Expression) -> Expression:
    """Python's //: z3's integer division leaves a remainder that is never negative."""
    return z3.If(z3.Or(b > 0, a % b == 0), a / b, a / b - 1)


def _floor_remainder(_term: Apply, a: Expression, b: Expression) -> Expression:
    return z3.If(z3.Or(b > 0, a % b == 0), a % b, a % b + b)


def _mask(term: Apply, a: Expression, _b: Expression) -> Expression:
    mask = term.args[1]
    assert isinstance(mask, Const)
    assert isinstance(mask.value, int)
    return a % z3.IntVal(mask.value + 1, a.ctx)


def _shift(term: Apply) -> int:
    amount = term.args[1]
    assert isinstance(amount, Const)
    assert isinstance(amount.value, int)
    return 1 << amount.value


def _zero_extended(term: Apply, a: Expression) -> Expression:
    return z3.ZeroExt(term.sort.width - term.args[0].sort.width, a)


def _sign_extended(term: Apply, a: Expression) -> Expression:
    return z3.SignExt(term.sort.width - term.args[0].sort.width, a)


def _extracted(term: Apply, a: Expression) -> Expression:
    return z3.Extract(term.parameter + term.sort.width - 1, term.parameter, a)


_ANY_SORT: Mapping[Op, _Operator] = {
    Op.EQ: _plain_operator(lambda a, b: a == b),
    Op.NE: _plain_operator(lambda a, b: z3.Not(a == b)),
    Op.ITE: _plain_operator(z3.If),
}

_COMPARE: Mapping[Op, _Operator] = {
    Op.LT: _plain_operator(lambda a, b: a < b),
    Op.LE: _plain_operator(lambda a, b: a <= b),
    Op.GT: _plain_operator(lambda a, b: b < a),
    Op.GE: _plain_operator(lambda a, b: b <= a),
}

_BOOL: Mapping[Op, _Operator] = {
    Op.NOT: _plain_operator(z3.Not),
    Op.AND: _plain_operator(z3.And),
    Op.OR: _plain_operator(z3.Or),
    Op.XOR: _fold(z3.Xor),
    Op.ZEXT: lambda term, a: _bit(term, a, 1),
    Op.SEXT: lambda term, a: _bit(term, a, -1),
}

_BITVEC: Mapping[Op, _Operator] = {
    **_COMPARE,
    Op.ULT: _plain_operator(z3.ULT),
    Op.ULE: _plain_operator(z3.ULE),
    Op.UGT: _plain_operator(z3.UGT),
    Op.UGE: _plain_operator(z3.UGE),
    Op.NEG: _plain_operator(lambda a: -a),
    Op.ADD: _fold(lambda a, b: a + b),
    Op.SUB: _plain_operator(lambda a, b: a - b),
    Op.MUL: _fold(lambda a, b: a * b),
    Op.SDIV: _plain_operator(lambda a, b: a / b),
    Op.SREM: _plain_operator(z3.SRem),
    Op.UDIV: _plain_operator(z3.UDiv),
    Op.UREM: _plain_operator(z3.URem),
    Op.SHL: _plain_operator(lambda a, b: a << b),
    Op.LSHR: _plain_operator(z3.LShR),
    Op.ASHR: _plain_operator(lambda a, b: a >> b),
    Op.BITNOT: _plain_operator(lambda a: ~a),
    Op.BITAND: _fold(lambda a, b: a & b),
    Op.BITOR: _fold(lambda a, b: a | b),
    Op.BITXOR: _fold(lambda a, b: a ^ b),
    Op.ZEXT: _zero_extended,
    Op.SEXT: _sign_extended,
    Op.TRUNC: _extracted,
    Op.EXTRACT: _extracted,
    Op.CONCAT: _plain_operator(lambda *parts: z3.Concat(*parts) if len(parts) > 1 else parts[0]),
}

_INT: Mapping[Op, _Operator] = {
    **_COMPARE,
    Op.NEG: _plain_operator(lambda a: -a),
    Op.ADD: _fold(lambda a, b: a + b),
    Op.SUB: _plain_operator(lambda a, b: a - b),
    Op.MUL: _fold(lambda a, b: a * b),
    Op.SDIV: _floor_division,
    Op.SREM: _floor_remainder,
    Op.BITNOT: _plain_operator(lambda a: -a - 1),
    Op.BITAND: _mask,
    Op.SHL: lambda term, a, _b: a * _shift(term),
    Op.ASHR: lambda term, a, _b: a / _shift(term),
}

_FLOAT: Mapping[Op, _Operator] = {
    Op.FADD: _nearest_operator(z3.fpAdd),
    Op.FSUB: _nearest_operator(z3.fpSub),
    Op.FMUL: _nearest_operator(z3.fpMul),
    Op.FDIV: _nearest_operator(z3.fpDiv),
    Op.FDIVT: _nearest_operator(z3.fpDiv),
    Op.FNEG: _ieee(z3.fpNeg),
    Op.FLT: _ieee(z3.fpLT),
    Op.FLE: _ieee(z3.fpLEQ),
    Op.FGT: _ieee(z3.fpGT),
    Op.FGE: _ieee(z3.fpGEQ),
    Op.FEQ: _ieee(z3.fpEQ),
    Op.FNE: _ieee(z3.fpNEQ),
}

_STRING: Mapping[Op, _Operator] = {
    **_COMPARE,
    Op.STR_CONCAT: _plain_operator(
        lambda *parts: z3.Concat(*parts) if len(parts) > 1 else parts[0]
    ),
    Op.STR_LEN: _plain_operator(z3.Length),
    Op.STR_AT: _plain_operator(lambda text, index: z3.SubString(text, index, 1)),
    Op.STR_CONTAINS: _plain_operator(z3.Contains),
    Op.STR_PREFIX: _plain_operator(lambda text, part: z3.PrefixOf(part, text)),
    Op.STR_SUFFIX: _plain_operator(lambda text, part: z3.SuffixOf(part, text)),
}

_TABLES: Mapping[SortKind, Mapping[Op, _Operator]] = {
    SortKind.BOOL: _BOOL,
    SortKind.BITVEC: _BITVEC,
    SortKind.INT: _INT,
    SortKind.FLOAT: _FLOAT,
    SortKind.STRING: _STRING,
}
