"""A term as a person reads it, with the values of what it read put in: ``(9 - 1) % 3 == 0``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from afterd.limits import STORY
from afterd.logic.evaluation import UNKNOWN, Evaluator, Known, observed_value
from afterd.model.explanation import EMPTY, NOT_EMPTY
from afterd.model.term import BOOL, INT, Apply, Const, Op, Read, Sort, SortKind, Term

_SIGNS = {
    Op.MUL: ("*", 6), Op.SDIV: ("/", 6), Op.UDIV: ("/", 6), Op.SREM: ("%", 6), Op.UREM: ("%", 6),
    Op.FMUL: ("*", 6), Op.FDIV: ("/", 6), Op.FDIVT: ("/", 6),
    Op.ADD: ("+", 5), Op.SUB: ("-", 5), Op.FADD: ("+", 5), Op.FSUB: ("-", 5), Op.STR_CONCAT: ("+", 5),
    Op.SHL: ("<<", 4), Op.LSHR: (">>", 4), Op.ASHR: (">>", 4),
    Op.BITAND: ("&", 3), Op.BITOR: ("|", 3), Op.BITXOR: ("^", 3),
    Op.EQ: ("==", 2), Op.NE: ("!=", 2), Op.FEQ: ("==", 2), Op.FNE: ("!=", 2),
    Op.LT: ("<", 2), Op.LE: ("<=", 2), Op.GT: (">", 2), Op.GE: (">=", 2),
    Op.ULT: ("<", 2), Op.ULE: ("<=", 2), Op.UGT: (">", 2), Op.UGE: (">=", 2),
    Op.FLT: ("<", 2), Op.FLE: ("<=", 2), Op.FGT: (">", 2), Op.FGE: (">=", 2),
}  # fmt: skip
_UNSIGNED = frozenset({Op.ULT, Op.ULE, Op.UGT, Op.UGE, Op.UDIV, Op.UREM, Op.LSHR})
_OPPOSITE = {
    Op.EQ: Op.NE, Op.FEQ: Op.FNE, Op.LT: Op.GE, Op.GT: Op.LE, Op.ULT: Op.UGE, Op.UGT: Op.ULE,
}  # fmt: skip
_OPPOSITE |= {other: one for one, other in _OPPOSITE.items()}
_CONVERTS = frozenset({Op.ZEXT, Op.SEXT, Op.TRUNC, Op.EXTRACT})
_ALONE = 7  # how tightly a value by itself holds together


@dataclass(frozen=True, slots=True)
class _Written:
    text: str
    tightness: int = _ALONE

    def within(self, tightness: int) -> str:
        """The text as an operand of what holds together so tightly."""
        return self.text if self.tightness > tightness else f"({self.text})"


def infix(term: Term, value_of: Callable[[Read], Known] = observed_value) -> str:
    """``term`` over the values that ``value_of`` gives its reads; empty where nothing is computed, a
    value is not known, or it would be too long to be read.
    """
    values = Evaluator(value_of)
    if (length := _asked_length(_plain_term(term, values))) is not None:
        number = values.value(length)
        return "" if number is UNKNOWN else NOT_EMPTY if number else EMPTY
    for depth in range(STORY.infix_depth, 0, -1):
        written = _written_term(_plain_term(term, values), values, depth, signed=True)
        if written is None or written.tightness == _ALONE:
            return ""
        if len(written.text) <= STORY.infix:
            return written.text
    return ""


def _asked_length(term: Term) -> Term | None:
    """The length of a text of which it is asked whether it is 0: in a source, its truth."""
    if isinstance(term, Apply) and term.op in {Op.EQ, Op.NE}:
        length, zero = term.args
        if isinstance(length, Apply) and length.op is Op.STR_LEN and zero == Const(0, INT):
            return length
    return None


def _plain_term(term: Term, values: Evaluator) -> Term:
    """What a term says without the conversions and choices that the source does not spell."""
    while isinstance(term, Apply):
        inner: Term | None = None
        if term.op is Op.ITE:
            chosen = values.value(term.args[0])
            inner = None if chosen is UNKNOWN else term.args[1 if chosen else 2]
        elif term.op in _CONVERTS and values.value(term) == values.value(term.args[0]):
            inner = term.args[0]
        elif term.op in {Op.NOT, Op.EQ, Op.NE}:
            inner = _of_a_condition(term, values)
        if inner is None:
            return term
        term = inner
    return term


def _of_a_condition(term: Apply, values: Evaluator) -> Term | None:
    """``(a < b) != 0``, ``not (a < b)`` and ``(a < b) != true`` as the comparison that is meant; None: it is none."""
    compared = _plain_term(term.args[0], values)
    is_meant = False
    if term.op is not Op.NOT:
        constant = term.args[1]
        if not isinstance(constant, Const) or compared.sort.kind is not SortKind.BOOL:
            return None
        if constant.value not in ((0, 1) if constant.sort == BOOL else (0,)):
            return None
        is_meant = (term.op is Op.EQ) == bool(constant.value)
    if is_meant:
        return compared
    if isinstance(compared, Apply) and compared.op in _OPPOSITE:
        return Apply(_OPPOSITE[compared.op], compared.args, compared.sort)
    return None


def _written_term(term: Term, values: Evaluator, depth: int, *, signed: bool) -> _Written | None:
    if isinstance(term, Apply) and depth and term.op in _SIGNS:
        sign, tightness = _SIGNS[term.op]
        signed = term.op not in _UNSIGNED
        if term.op is Op.SDIV and term.sort.kind is SortKind.INT:
            sign = "//"
        parts = [
            _written_term(_plain_term(part, values), values, depth - 1, signed=signed)
            for part in term.args
        ]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        left, *right = known
        texts = [left.within(tightness - 1), *(part.within(tightness) for part in right)]
        return _Written(f" {sign} ".join(texts), tightness)
    text = literal(values.value(term), term.sort, signed=signed)
    return _Written(text) if text else None


def literal(value: Known, sort: Sort, *, signed: bool = True) -> str:
    """A value as it is written down; empty where it cannot be."""
    if value is UNKNOWN or value is None or sort.kind is SortKind.OPAQUE:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and sort.kind is SortKind.BITVEC and signed:
        return str(value - (1 << sort.width) if value >> (sort.width - 1) else value)
    if isinstance(value, str | bytes):
        return repr(value) if len(value) <= STORY.literal else ""
    return str(value)
