"""Terms of the model as circuits: the meaning of ``evaluate``, written for a SAT solver.

Integers are words of their width (unbounded ones of 64 bits); Booleans words of one bit; a float is
its 64 bits, a string or an opaque value a number of its own: for these only identity is followed.
An operator that the theory does not follow becomes a *point*: on the arguments that it had, it gave
what it gave; elsewhere it is free. ``notes`` say which.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from functools import reduce

from afterd.limits import LOGIC
from afterd.logic import words
from afterd.logic.evaluation import UNKNOWN, Evaluator, Known, observed_value
from afterd.logic.gates import FALSE, TRUE, Gates, Literal, Word
from afterd.logic.terms import bottom_up
from afterd.model.term import (
    Apply,
    Concrete,
    Const,
    Free,
    Op,
    Read,
    Sort,
    SortKind,
    StepId,
    Term,
)

Lookup = Callable[[StepId, Sort], Word]


def width(sort: Sort) -> int:
    """How many bits stand for a value of the sort."""
    match sort.kind:
        case SortKind.BOOL:
            return 1
        case SortKind.BITVEC:
            return sort.width
        case SortKind.INT | SortKind.FLOAT:
            return LOGIC.unbounded_bits
    return LOGIC.interned_bits


class Blaster:
    """Turns terms into words over one circuit; operators on equal words are one circuit."""

    def __init__(self, gates: Gates) -> None:
        self.gates = gates
        self.notes: dict[str, None] = {}
        self._operations: dict[tuple[object, ...], Word] = {}
        self._interned: dict[object, int] = {}

    def words_of(self, terms: list[Term], lookup: Lookup) -> list[Word]:
        """The words of terms in which ``lookup`` answers for the reads; shared sub-terms once."""
        done: set[int] = set()
        found: dict[int, Word] = {}
        evaluator = Evaluator(observed_value)
        for term in terms:
            for node in bottom_up(term, done):
                found[id(node)] = self._node(node, found, lookup, evaluator)
        return [found[id(term)] for term in terms]

    def constant(self, value: Known, sort: Sort) -> Word:
        """The word of a value; UNKNOWN is one that nothing is known about."""
        if value is UNKNOWN:
            return self.free(sort)
        match sort.kind, value:
            case SortKind.BOOL, bool() | int():
                return (TRUE if value else FALSE,)
            case ((SortKind.BITVEC | SortKind.INT), bool() | int()):
                return words.constant(int(value), width(sort))
            case SortKind.FLOAT, float() | int():
                bits = int.from_bytes(struct.pack("<d", float(value)), "little")
                return words.constant(bits, LOGIC.unbounded_bits)
        number = self._interned.setdefault((sort.kind, repr(value)), len(self._interned))
        return words.constant(number, LOGIC.interned_bits)

    def free(self, sort: Sort) -> Word:
        """A word that nothing is known about."""
        return tuple(self.gates.new() for _ in range(width(sort)))

    def _node(
        self, node: Term, found: Mapping[int, Word], lookup: Lookup, evaluator: Evaluator
    ) -> Word:
        match node:
            case Const():
                return self.constant(node.value, node.sort)
            case Read():
                return lookup(node.step, node.sort)
            case Free():
                return self.free(node.sort)
            case Concrete():
                self.notes[node.reason] = None
                arguments = [found[id(read)] for read in node.reads]
                return self._point(node, node.reads, arguments, evaluator)
            case Apply():
                arguments = [found[id(argument)] for argument in node.args]
                key = (node.op, node.sort, node.parameter, node.args[0].sort, *arguments)
                if key not in self._operations:
                    self._operations[key] = self._apply(node, arguments, evaluator)
                return self._operations[key]

    def _apply(self, node: Apply, arguments: list[Word], evaluator: Evaluator) -> Word:
        kind = node.args[0].sort.kind
        operator = _OPERATORS.get(node.op) if kind in _FOLLOWED or node.op in _IDENTITY else None
        if operator and node.op in _LARGE and self.gates.size > LOGIC.circuit:
            operator = None
        if operator is None or (kind is SortKind.INT and node.op in _WORDS_ONLY):
            self.notes[f"{node.op.value} on {kind.value}"] = None
            return self._point(node, node.args, arguments, evaluator)
        result = operator(self.gates, node, *arguments)
        return result if isinstance(result, tuple) else (result,)

    def _point(
        self,
        node: Concrete | Apply,
        given: tuple[Term, ...] | tuple[Read, ...],
        arguments: list[Word],
        evaluator: Evaluator,
    ) -> Word:
        """What ``node`` was where its arguments are what they were; elsewhere free."""
        value = evaluator.value(node)
        values = [evaluator.value(argument) for argument in given]
        result = self.free(node.sort)
        if value is UNKNOWN or any(v is UNKNOWN for v in values):
            return result
        here: Literal = TRUE
        for argument, v, word in zip(given, values, arguments, strict=True):
            known = self.constant(v, argument.sort)
            here = self.gates.both(here, words.equality(self.gates, word, known))
        return words.choose(self.gates, here, self.constant(value, node.sort), result)


_Operator = Callable[..., Word | Literal]
_FOLLOWED = frozenset({SortKind.BOOL, SortKind.BITVEC, SortKind.INT})
_IDENTITY = frozenset({Op.EQ, Op.NE, Op.ITE})
_LARGE = frozenset({Op.MUL, Op.SDIV, Op.UDIV, Op.SREM, Op.UREM})
_WORDS_ONLY = frozenset({Op.SHL, Op.ASHR, Op.LSHR})


def _fold(operation: Callable[[Gates, Word, Word], Word]) -> _Operator:
    return lambda gates, _node, *given: reduce(lambda a, b: operation(gates, a, b), given)


def _bitwise(gate: Callable[[Gates, Literal, Literal], Literal]) -> _Operator:
    def operation(gates: Gates, a: Word, b: Word) -> Word:
        return tuple(gate(gates, x, y) for x, y in zip(a, b, strict=True))

    return _fold(operation)


def _compare(
    relation: Callable[[Gates, Word, Word], Literal], *, swapped: bool, denied: bool
) -> _Operator:
    def operation(gates: Gates, _node: Apply, a: Word, b: Word) -> Literal:
        held = relation(gates, b, a) if swapped else relation(gates, a, b)
        return -held if denied else held

    return operation


def _division_operator(part: int) -> _Operator:
    def operation(gates: Gates, node: Apply, a: Word, b: Word) -> Word:
        floor = node.args[0].sort.kind is SortKind.INT
        return (words.divide_floor if floor else words.divide_signed)(gates, a, b)[part]

    return operation


def _extended_word(gates: Gates, node: Apply, a: Word) -> Word:
    del gates
    fill = a[-1] if node.op is Op.SEXT else FALSE
    return a + (fill,) * (width(node.sort) - len(a))


def _concatenated_word(_gates: Gates, _node: Apply, *parts: Word) -> Word:
    return tuple(bit for part in reversed(parts) for bit in part)


_OPERATORS: Mapping[Op, _Operator] = {
    Op.NOT: lambda _gates, _node, a: words.inverted_word(a),
    Op.AND: _bitwise(Gates.both),
    Op.OR: _bitwise(Gates.either),
    Op.XOR: _bitwise(Gates.differ),
    Op.EQ: _compare(words.equality, swapped=False, denied=False),
    Op.NE: _compare(words.equality, swapped=False, denied=True),
    Op.ITE: lambda gates, _node, c, a, b: words.choose(gates, c[0], a, b),
    Op.LT: _compare(words.below_signed, swapped=False, denied=False),
    Op.GE: _compare(words.below_signed, swapped=False, denied=True),
    Op.GT: _compare(words.below_signed, swapped=True, denied=False),
    Op.LE: _compare(words.below_signed, swapped=True, denied=True),
    Op.ULT: _compare(words.less_than, swapped=False, denied=False),
    Op.UGE: _compare(words.less_than, swapped=False, denied=True),
    Op.UGT: _compare(words.less_than, swapped=True, denied=False),
    Op.ULE: _compare(words.less_than, swapped=True, denied=True),
    Op.NEG: lambda gates, _node, a: words.negate(gates, a),
    Op.ADD: _fold(words.add),
    Op.SUB: _fold(words.subtract),
    Op.MUL: _fold(words.multiply),
    Op.SDIV: _division_operator(0),
    Op.SREM: _division_operator(1),
    Op.UDIV: lambda gates, _node, a, b: words.divide(gates, a, b)[0],
    Op.UREM: lambda gates, _node, a, b: words.divide(gates, a, b)[1],
    Op.SHL: lambda gates, _node, a, b: words.shift(gates, a, b, FALSE, left=True),
    Op.LSHR: lambda gates, _node, a, b: words.shift(gates, a, b, FALSE, left=False),
    Op.ASHR: lambda gates, _node, a, b: words.shift(gates, a, b, a[-1], left=False),
    Op.BITNOT: lambda _gates, _node, a: words.inverted_word(a),
    Op.BITAND: _bitwise(Gates.both),
    Op.BITOR: _bitwise(Gates.either),
    Op.BITXOR: _bitwise(Gates.differ),
    Op.ZEXT: _extended_word,
    Op.SEXT: _extended_word,
    Op.TRUNC: lambda _gates, node, a: a[: width(node.sort)],
    Op.EXTRACT: lambda _gates, node, a: a[node.parameter : node.parameter + width(node.sort)],
    Op.CONCAT: _concatenated_word,
}
