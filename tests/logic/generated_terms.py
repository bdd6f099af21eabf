"""Hypothesis strategies for well-sorted terms over a few reads, with the values those reads had."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from hypothesis import strategies as st

from afterd.model.term import (
    BOOL,
    INT,
    OPAQUE,
    STRING,
    Apply,
    Concrete,
    Const,
    Op,
    Read,
    Sort,
    SortKind,
    Term,
    Value,
    bitvec,
    ieee,
)

Terms = st.SearchStrategy[Term]
SORTS = (BOOL, bitvec(1), bitvec(8), bitvec(32), INT, STRING, ieee(32), ieee(64), OPAQUE)
READS_OF_A_SORT = 2

_COMPARE = (Op.LT, Op.LE, Op.GT, Op.GE)
_UNSIGNED = (Op.ULT, Op.ULE, Op.UGT, Op.UGE)
_IEEE = (Op.FLT, Op.FLE, Op.FGT, Op.FGE, Op.FEQ, Op.FNE)
_WORDS = (Op.ADD, Op.SUB, Op.MUL, Op.SDIV, Op.UDIV, Op.SREM, Op.UREM, Op.SHL, Op.LSHR, Op.ASHR)
_BITS = (Op.BITAND, Op.BITOR, Op.BITXOR)
_INTEGERS = (Op.ADD, Op.SUB, Op.MUL, Op.SDIV, Op.SREM, *_BITS, Op.SHL, Op.ASHR)
_FLOATS = (Op.FADD, Op.FSUB, Op.FMUL, Op.FDIV)


def values(sort: Sort) -> st.SearchStrategy[Value]:
    """Values of a sort, edges included."""
    match sort.kind:
        case SortKind.BOOL:
            return st.booleans()
        case SortKind.BITVEC:
            return st.integers(0, (1 << sort.width) - 1)
        case SortKind.INT:
            return st.integers(-20, 20) | st.integers()
        case SortKind.FLOAT:
            return st.floats(width=64 if sort.width == 64 else 32)
        case SortKind.STRING:
            return st.text(st.sampled_from('ab\\u{}"é\U0001f600\x00'), max_size=4)
    return st.sampled_from([None, 0, 1, True, 1.0, "a", b"a"])


def reads(sort: Sort) -> st.SearchStrategy[Read]:
    """One of the reads of a sort; its step names the sort, its value is drawn with it."""
    first = 10 * SORTS.index(sort)
    steps = st.integers(first, first + READS_OF_A_SORT - 1)
    return st.builds(Read, steps, st.just(sort))


@cache
def terms(sort: Sort, depth: int) -> Terms:
    """Well-sorted terms; ``depth`` bounds the nesting."""
    leaves: list[Terms] = [
        st.builds(Const, values(sort), st.just(sort)),
        reads(sort),
    ]
    if depth == 0:
        return st.one_of(leaves)
    return st.one_of(*leaves, *_applications(sort, depth - 1))


def concrete(sort: Sort) -> Terms:
    """A term that a tracer made concrete."""
    dependences = st.lists(reads(INT), max_size=2).map(tuple)
    return st.builds(Concrete, values(sort), st.just(sort), st.just("a call"), dependences)


def _apply(ops: Sequence[Op], sort: Sort, *args: Terms) -> Terms:
    return st.builds(Apply, st.sampled_from(ops), st.tuples(*args), st.just(sort))


def _applications(sort: Sort, depth: int) -> list[Terms]:
    same = terms(sort, depth)
    choice = _apply([Op.ITE], sort, terms(BOOL, depth), same, same)
    match sort.kind:
        case SortKind.BOOL:
            return [choice, *_conditions(depth)]
        case SortKind.BITVEC:
            return [choice, *_words(sort, depth)]
        case SortKind.INT:
            text = terms(STRING, depth)
            return [
                choice,
                _apply(_INTEGERS, sort, same, same),
                _apply([Op.NEG, Op.BITNOT], sort, same),
                _apply([Op.STR_LEN], sort, text),
            ]
        case SortKind.FLOAT:
            return [choice, _apply(_FLOATS, sort, same, same), _apply([Op.FNEG], sort, same)]
        case SortKind.STRING:
            index = terms(INT, depth)
            return [
                choice,
                _apply([Op.STR_CONCAT], sort, same, same),
                _apply([Op.STR_AT], sort, same, index),
            ]
    return [choice]


def _conditions(depth: int) -> list[Terms]:
    boolean = terms(BOOL, depth)
    found = [
        _apply([Op.AND, Op.OR, Op.XOR], BOOL, boolean, boolean),
        _apply([Op.NOT], BOOL, boolean),
    ]
    for sort in SORTS:
        side = terms(sort, depth)
        found.append(_apply([Op.EQ, Op.NE], BOOL, side, side))
        if sort.kind is SortKind.BITVEC:
            found.append(_apply([*_COMPARE, *_UNSIGNED], BOOL, side, side))
        elif sort.kind is SortKind.FLOAT:
            found.append(_apply(_IEEE, BOOL, side, side))
        elif sort.kind in {SortKind.INT, SortKind.STRING}:
            found.append(_apply(_COMPARE, BOOL, side, side))
    text = terms(STRING, depth)
    found.append(_apply([Op.STR_CONTAINS, Op.STR_PREFIX, Op.STR_SUFFIX], BOOL, text, text))
    return found


def _words(sort: Sort, depth: int) -> list[Terms]:
    same = terms(sort, depth)
    found = [
        _apply([*_WORDS, *_BITS], sort, same, same),
        _apply([Op.NEG, Op.BITNOT], sort, same),
        _apply([Op.ZEXT, Op.SEXT], sort, terms(BOOL, depth)),
    ]
    narrow, wide = bitvec(8), bitvec(32)
    if sort == wide:
        found.append(_apply([Op.ZEXT, Op.SEXT], sort, terms(narrow, depth)))
        part = terms(narrow, depth)
        found.append(_apply([Op.CONCAT], sort, part, part, part, part))
    if sort == narrow:
        found.append(_apply([Op.TRUNC], sort, terms(wide, depth)))
        lowest = st.integers(0, 24)
        word = st.tuples(terms(wide, depth))
        found.append(st.builds(Apply, st.just(Op.EXTRACT), word, st.just(sort), lowest))
    return found
