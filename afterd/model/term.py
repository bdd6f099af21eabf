"""Typed expressions over the definitions that a step read: the language both tracers speak.

A term never mentions memory. A tracer resolves what a load read to the *definitions* (steps) that
wrote it, so that a trace is in SSA form: ``Read(step)`` is the value that step defined. Wider and
narrower accesses are EXTRACT and CONCAT of reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

StepId = int
Value = bool | int | float | str | bytes | None


class SortKind(StrEnum):
    """The sorts a term may have; OPAQUE values are concrete and only equal to themselves."""

    BOOL = "bool"
    BITVEC = "bitvec"
    INT = "int"
    FLOAT = "float"
    STRING = "string"
    OPAQUE = "opaque"


@dataclass(frozen=True, slots=True)
class Sort:
    """A sort; ``width`` in bits for BITVEC (any) and FLOAT (32 or 64), otherwise 0."""

    kind: SortKind
    width: int = 0


BOOL = Sort(SortKind.BOOL)
INT = Sort(SortKind.INT)
STRING = Sort(SortKind.STRING)
OPAQUE = Sort(SortKind.OPAQUE)


def bitvec(width: int) -> Sort:
    """The sort of bit-vectors of ``width`` bits (values are kept unsigned, 0 ≤ v < 2^width)."""
    return Sort(SortKind.BITVEC, width)


def ieee(width: int) -> Sort:
    """The sort of IEEE 754 binary floats of 32 or 64 bits."""
    return Sort(SortKind.FLOAT, width)


class Op(StrEnum):
    """Operators. U* and S* are the unsigned and the signed reading of bit-vectors."""

    NOT = "not"
    AND = "and"
    OR = "or"
    XOR = "xor"
    EQ = "="
    NE = "!="
    ITE = "ite"
    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="
    ULT = "u<"
    ULE = "u<="
    UGT = "u>"
    UGE = "u>="
    NEG = "neg"
    ADD = "+"
    SUB = "-"
    MUL = "*"
    SDIV = "/"  # truncating for BITVEC; Python's // for INT
    UDIV = "u/"
    SREM = "%"  # sign of the dividend for BITVEC; Python's % for INT
    UREM = "u%"
    SHL = "<<"
    LSHR = "u>>"
    ASHR = ">>"
    BITNOT = "~"
    BITAND = "&"
    BITOR = "|"
    BITXOR = "^"
    ZEXT = "zext"
    SEXT = "sext"
    TRUNC = "trunc"
    EXTRACT = "extract"  # Apply.parameter = lowest bit; the sort's width says how many
    CONCAT = "concat"  # first argument holds the highest bits
    FADD = "f+"
    FSUB = "f-"
    FMUL = "f*"
    FDIV = "f/"
    FDIVT = "true-div"  # Python's / on INT or FLOAT
    FNEG = "fneg"
    FLT = "f<"
    FLE = "f<="
    FGT = "f>"
    FGE = "f>="
    FEQ = "f="
    FNE = "f!="
    STR_CONCAT = "str+"
    STR_LEN = "str.len"
    STR_AT = "str.at"
    STR_CONTAINS = "str.contains"
    STR_PREFIX = "str.prefix"
    STR_SUFFIX = "str.suffix"


@dataclass(frozen=True, slots=True)
class Const:
    """A literal of the program."""

    value: Value
    sort: Sort


@dataclass(frozen=True, slots=True)
class Read:
    """The value defined by ``step``; ``name`` is what the source calls it; ``value`` what it was.

    ``of_type``: no more than the type of the object was asked for. ``into``: the step did not define what is read, but
    wrote into the object that it is.
    """

    step: StepId
    sort: Sort
    name: str = ""
    value: Value = None
    of_type: bool = False
    into: bool = False


@dataclass(frozen=True, slots=True)
class Free:
    """An unconstrained value: what would have been read had an address or an index been another.

    A load through a computed address is ``ite(address = observed, Read(writer), Free)``: whatever
    is proved about the value then also proves the address.
    """

    name: str
    sort: Sort


@dataclass(frozen=True, slots=True)
class Concrete:
    """A value the theory does not follow: known, and dependent on ``reads``; ``reason`` is reported."""

    value: Value
    sort: Sort
    reason: str
    reads: tuple[Read, ...] = ()


@dataclass(frozen=True, slots=True)
class Apply:
    """An operator over terms; ``parameter`` is the low bit of an EXTRACT."""

    op: Op
    args: tuple[Term, ...]
    sort: Sort
    parameter: int = 0


Term = Const | Read | Free | Concrete | Apply


def reads(term: Term) -> Iterator[Read]:
    """The reads of a term, left to right, repetitions kept; iterative, so depth is no limit."""
    stack: list[Term] = [term]
    while stack:
        top = stack.pop()
        if isinstance(top, Read):
            yield top
        elif isinstance(top, Concrete):
            stack.extend(reversed(top.reads))
        elif isinstance(top, Apply):
            stack.extend(reversed(top.args))


def concretised_terms(term: Term) -> Iterator[Concrete]:
    """The sub-terms that were made concrete, left to right."""
    stack: list[Term] = [term]
    while stack:
        top = stack.pop()
        if isinstance(top, Concrete):
            yield top
        elif isinstance(top, Apply):
            stack.extend(reversed(top.args))
