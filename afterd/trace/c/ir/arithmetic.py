"""LLVM's operators as term operators."""

from __future__ import annotations

from afterd.model.term import BOOL, Apply, Const, Op, Sort, SortKind, Term, bitvec
from afterd.trace.c.ir.constants import sort_of
from afterd.trace.c.ir.irtypes import split_top
from afterd.trace.c.ir.recorded import split_typed

BINARY = {
    "add": Op.ADD,
    "sub": Op.SUB,
    "mul": Op.MUL,
    "sdiv": Op.SDIV,
    "udiv": Op.UDIV,
    "srem": Op.SREM,
    "urem": Op.UREM,
    "shl": Op.SHL,
    "lshr": Op.LSHR,
    "ashr": Op.ASHR,
    "and": Op.BITAND,
    "or": Op.BITOR,
    "xor": Op.BITXOR,
    "fadd": Op.FADD,
    "fsub": Op.FSUB,
    "fmul": Op.FMUL,
    "fdiv": Op.FDIV,
}
_INTEGER_COMPARISONS = {
    "eq": Op.EQ,
    "ne": Op.NE,
    "slt": Op.LT,
    "sle": Op.LE,
    "sgt": Op.GT,
    "sge": Op.GE,
    "ult": Op.ULT,
    "ule": Op.ULE,
    "ugt": Op.UGT,
    "uge": Op.UGE,
}
_FLOAT_COMPARISONS = {"lt": Op.FLT, "le": Op.FLE, "gt": Op.FGT, "ge": Op.FGE, "eq": Op.FEQ}
_OPPOSITES = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne", "ne": "eq"}
CASTS = frozenset(
    [
        "zext",
        "sext",
        "trunc",
        "ptrtoint",
        "inttoptr",
        "bitcast",
        "addrspacecast",
        "freeze",
        "fptrunc",
        "fpext",
    ]
)


def binary_operands(body: str) -> tuple[str, str, str]:
    """(type, left, right) of a binary instruction's body."""
    kind, rest = split_typed(body)
    left, right = split_top(rest)
    return kind, left, right


def binary(opcode: str, left: Term, right: Term) -> Term:
    """A binary operation; on i1 the bitwise ones are the logical ones."""
    if left.sort == BOOL:
        if opcode == "xor":
            return Apply(Op.NE, (left, right), BOOL)
        return Apply(Op.AND if opcode == "and" else Op.OR, (left, right), BOOL)
    return Apply(BINARY[opcode], (left, right), left.sort)


_EXTREMES = {"max": Op.GT, "min": Op.LT, "umax": Op.UGT, "umin": Op.ULT}


def atomic(name: str, old: Term, given: Term) -> Term | None:
    """What ``atomicrmw name`` leaves in memory; None for the operations that no term has."""
    if name == "xchg":
        return given
    if name == "nand":
        return Apply(Op.BITNOT, (Apply(Op.BITAND, (old, given), old.sort),), old.sort)
    if name in _EXTREMES:
        keep = Apply(_EXTREMES[name], (old, given), BOOL)
        return Apply(Op.ITE, (keep, old, given), old.sort)
    known = name in {"add", "sub", "and", "or", "xor"}
    return Apply(BINARY[name], (old, given), old.sort) if known else None


def comparison(predicate: str, left: Term, right: Term) -> Term | None:
    """An icmp or fcmp by its predicate, IEEE's unordered ones as the negation of their opposites."""
    both = (left, right)
    if left.sort.kind is not SortKind.FLOAT:  # "ult" means two things
        return Apply(_INTEGER_COMPARISONS[predicate], both, BOOL)
    ordered, name = predicate[:1] == "o", predicate[1:]
    if name == "ne" and ordered:
        return Apply(Op.OR, (Apply(Op.FLT, both, BOOL), Apply(Op.FGT, both, BOOL)), BOOL)
    if ordered and name in _FLOAT_COMPARISONS:
        return Apply(_FLOAT_COMPARISONS[name], both, BOOL)
    if predicate in {"ord", "uno"}:
        numbers = tuple(Apply(Op.FEQ, (side, side), BOOL) for side in both)
        return (
            negation(Apply(Op.AND, numbers, BOOL))
            if predicate == "uno"
            else Apply(Op.AND, numbers, BOOL)
        )
    opposite = comparison(f"o{_OPPOSITES[name]}", left, right) if name in _OPPOSITES else None
    return negation(opposite) if opposite else None


def negation(term: Term) -> Term:
    """The negation of a Boolean term."""
    return Apply(Op.NOT, (term,), BOOL)


def cast(opcode: str, argument: Term, kind: str) -> Term | None:
    """A conversion between integers, pointers and i1; None where only the value is known."""
    to = sort_of(kind)
    if argument.sort == to:
        return argument
    if argument.sort == BOOL and to.kind is SortKind.BITVEC:
        one = (1 << to.width) - 1 if opcode == "sext" else 1
        return Apply(Op.ITE, (argument, Const(one, to), Const(0, to)), to)
    if argument.sort.kind is not SortKind.BITVEC:
        return None
    if to == BOOL:
        low = Apply(Op.EXTRACT, (argument,), bitvec(1), 0)
        return Apply(Op.EQ, (low, Const(1, bitvec(1))), BOOL)
    return (
        resized_term(argument, to, signed=opcode == "sext") if to.kind is SortKind.BITVEC else None
    )


def resized_term(term: Term, to: Sort, *, signed: bool = False) -> Term:
    """A bit-vector made wider or narrower."""
    if term.sort.width == to.width:
        return term
    if term.sort.width > to.width:
        return Apply(Op.EXTRACT, (term,), to, 0)
    return Apply(Op.SEXT if signed else Op.ZEXT, (term,), to)


def equals(left: Term, right: Term) -> Term:
    """Equality, IEEE where the sort is (NaN differs from itself)."""
    return Apply(Op.FEQ if left.sort.kind is SortKind.FLOAT else Op.EQ, (left, right), BOOL)


def conjunction(parts: list[Term]) -> Term:
    """The conjunction of Boolean terms (true for none)."""
    if not parts:
        return Const(True, BOOL)  # noqa: FBT003 - the literal true
    return parts[0] if len(parts) == 1 else Apply(Op.AND, tuple(parts), BOOL)
