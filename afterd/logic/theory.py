"""Where the theory ends: which operators are encoded for the solver, and which are *made concrete*.

A term that is made concrete is a fact about one point: "on the arguments that it had in this run,
the operation gave this result". The chain of causes still passes through it, because the fact only
speaks when the arguments are as they were; and every cause that rests on one says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum

from afterd.limits import LOGIC
from afterd.logic.terms import nodes
from afterd.model.term import Apply, Concrete, Const, Op, SortKind, Term


class Precision(StrEnum):
    """How much is left to the solver; the second is asked when the first was too hard."""

    EXACT = "exact"
    CONCRETE = "hard operators made concrete"


_INT_BITS = frozenset({Op.BITAND, Op.BITOR, Op.BITXOR})
_INT_SHIFTS = frozenset({Op.SHL, Op.ASHR})
_DIVISIONS = frozenset({Op.SDIV, Op.UDIV, Op.SREM, Op.UREM})
_FLOAT_ARITHMETIC = frozenset({Op.FADD, Op.FSUB, Op.FMUL, Op.FDIV, Op.FDIVT})
_STRINGS = frozenset(
    {Op.STR_CONCAT, Op.STR_LEN, Op.STR_AT, Op.STR_CONTAINS, Op.STR_PREFIX, Op.STR_SUFFIX}
)


def made_concrete(term: Apply, precision: Precision = Precision.EXACT) -> str:
    """Why ``term``'s operator is made concrete at this precision; empty when it is encoded."""
    kind = term.args[0].sort.kind if term.args else term.sort.kind
    if kind is SortKind.INT and (reason := _unencodable_integer(term)):
        return reason
    if precision is Precision.CONCRETE and _is_hard_term(term, kind):
        return f"{term.op.value} on {kind.value} was too hard for the solver"
    return ""


def reasons(term: Term, precision: Precision = Precision.EXACT) -> Iterator[str]:
    """Why parts of ``term`` were made concrete, by the tracer or here; repetitions possible."""
    for node in nodes(term):
        if isinstance(node, Concrete):
            yield node.reason
        elif isinstance(node, Apply) and (reason := made_concrete(node, precision)):
            yield reason


def _unencodable_integer(term: Apply) -> str:
    if term.op is Op.FDIVT:
        return "true division of integers"
    if term.op in _INT_BITS and not is_mask(term):
        return f"{term.op.value} of unbounded integers"
    if term.op in _INT_SHIFTS and not _constant_between(term.args[1], 0, LOGIC.shift):
        return f"{term.op.value} of unbounded integers by a variable amount"
    return ""


def is_mask(term: Apply) -> bool:
    """Whether this is ``x & (2^k - 1)``, which is ``x mod 2^k`` for unbounded integers."""
    if term.op is not Op.BITAND or len(term.args) != 2:
        return False
    mask = term.args[1]
    if not isinstance(mask, Const) or not isinstance(mask.value, int):
        return False
    ones = mask.value >= 0 and not mask.value & (mask.value + 1)
    return ones and mask.value.bit_length() < LOGIC.integer_bits


def _constant_between(term: Term, low: int, high: int) -> bool:
    return isinstance(term, Const) and isinstance(term.value, int) and low <= term.value <= high


def has_hard_operators(terms: Iterable[Term]) -> bool:
    """Whether anything is encoded at full precision that is not at the lower one."""
    inside = (node for term in terms for node in nodes(term) if isinstance(node, Apply))
    return any(
        made_concrete(node, Precision.CONCRETE) and not made_concrete(node) for node in inside
    )


def _is_hard_term(term: Apply, kind: SortKind) -> bool:
    """What made queries of the benchmark run away: products, divisions, floats and strings."""
    if kind is SortKind.FLOAT:
        return term.op in _FLOAT_ARITHMETIC
    if kind is SortKind.STRING:
        return term.op in _STRINGS
    if term.op is Op.MUL:
        return sum(not isinstance(arg, Const) for arg in term.args) > 1
    return term.op in _DIVISIONS
