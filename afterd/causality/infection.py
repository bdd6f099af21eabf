"""What the green run beside the failing one says about a step.

An infected value is one that the green run did not have at that point. Infection enters at a step
that is infected although all that reached it is as in green: that step, or something that should
have happened before it and did not, was changed. A step with green's value carries nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum

from afterd.logic.terms import distinct_reads
from afterd.model.term import SortKind
from afterd.model.trace import Alignment, Execution, Step


class Role(IntEnum):
    """A step's part in the infection, the most telling first."""

    ENTRY = 1  # infected, though all it depends on is as in green
    GUARDED = 2  # not executed in green, on values as in green: the branch above decided
    CARRIER = 3  # infected, and so is something it read
    UNKNOWN = 4  # the green run says nothing
    CLEAN = 5  # as in green


def infected(step: Step) -> bool:
    """Whether the green run had another value here, or did not come here."""
    return step.green.alignment in {Alignment.DIFFERENT, Alignment.ABSENT}


def clean(step: Step) -> bool:
    """Whether the green run had the same value here."""
    return step.green.alignment is Alignment.SAME


def settled(step: Step) -> bool:
    """Whether a step need not be followed further back: its value is known, and as in green.

    Not for opaque values: that two objects are rendered alike does not make them one.
    """
    return clean(step) and step.value is not None and step.term.sort.kind is not SortKind.OPAQUE


def role(execution: Execution, step: Step) -> Role:
    """The part of ``step`` in the infection."""
    if clean(step):
        return Role.CLEAN
    if not infected(step):
        return Role.UNKNOWN
    inputs = [execution.step(read.step) for read in distinct_reads(step.term)]
    if not all(map(clean, inputs)):
        return Role.CARRIER
    guard = execution.step(step.control) if step.control is not None else None
    if guard is None or clean(guard):
        return Role.ENTRY
    return Role.GUARDED if step.green.alignment is Alignment.ABSENT else Role.ENTRY


def carriers_into(execution: Execution, step: Step) -> Iterator[Step]:
    """What may have infected ``step``: infected steps that it read, and the branch above it."""
    for read in distinct_reads(step.term):
        source = execution.step(read.step)
        if infected(source):
            yield source
    if step.control is not None and infected(guard := execution.step(step.control)):
        yield guard
