"""A failed assertion of one process, before it is put into the model."""

from __future__ import annotations

from dataclasses import dataclass

from afterd.model.location import Location
from afterd.model.outcome import FailureKind
from afterd.model.term import BOOL, Apply, Const, Op, SortKind, StepId, Term
from afterd.trace.c.read.frames import Call, Instance
from afterd.trace.c.read.process import Process
from afterd.trace.c.read.values import known_value
from afterd.trace.c.window import records

NEVER = Const(value=False, sort=BOOL)
"""The condition of a statement that should not have been executed."""


@dataclass(frozen=True, slots=True)
class Failed:
    """Which condition was false, and where.

    ``green_event`` is the position of what green did at this point, where it did something else.
    ``records`` are the positions of the event in the failing run and of its like in the green one,
    ``green`` is the condition as the green run would put it: the data flow is paired from there.
    ``at`` is the block instance that it came up in, where ``step`` is no step of the trace but an id after
    what that did.
    """

    kind: FailureKind
    step: StepId
    condition: Term
    message: str
    location: Location
    observed: str = ""
    expected: str = ""
    records: tuple[int, int] | None = None
    green: Term | None = None
    green_event: int = -1
    at: Instance | None = None


def call_at(process: Process, position: int) -> Call | None:
    """The call that left a CALL record; None for anything else."""
    if position < 0 or process.recording.tag(position) != records.CALL:
        return None
    made = process.frames.calling(position)
    return Call(*made, position) if made else None


def other_way(process: Process, step: StepId) -> Term:
    """The condition under which the branch would not have gone the way it went."""
    statement = process.statements.statement(step)
    return statement.term if statement.value is False else Apply(Op.NOT, (statement.term,), BOOL)


def another_value(term: Term, wanted: Const | None = None) -> Term | None:
    """The value is the wanted one; where that is not known, or was had, it is not the one observed."""
    value = known_value(term)
    is_float = term.sort.kind is SortKind.FLOAT
    if wanted is not None and wanted.sort == term.sort and wanted.value != value:
        return Apply(Op.FEQ if is_float else Op.EQ, (term, wanted), BOOL)
    if value is None or term.sort.kind is SortKind.OPAQUE:
        return None
    return Apply(Op.FNE if is_float else Op.NE, (term, Const(value, term.sort)), BOOL)
