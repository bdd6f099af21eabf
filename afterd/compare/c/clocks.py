"""What two runs have otherwise only because they were made at two times.

A value is as in green where the same arithmetic made it of what the same clocks said, however late. Both terms are
walked side by side, so a changed statement on the way is a difference, and so is whatever was made of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, cached_property

from afterd.limits import C_PAIR
from afterd.model.term import Apply, Concrete, Free, Op, Read, StepId, Term
from afterd.trace.c.ir.recorded import callee
from afterd.trace.c.read import Process, Statement, reads_clock


class Clocks:
    """Pairs of steps of one process in its two runs."""

    def __init__(self, bad: Process, green: Process) -> None:
        self._bad, self._green = bad, green
        self._known: dict[tuple[StepId, StepId], bool] = {}

    def tell_apart(self, mine: StepId, other: StepId) -> bool:
        """Whether all that two steps have otherwise is what clocks said."""
        return self._asked and self._steps(mine, other, C_PAIR.moves)

    @cached_property
    def _asked(self) -> bool:
        """Whether the failing run asked a clock at all."""
        program, recording = self._bad.program, self._bad.recording
        asks = cache(lambda site: reads_clock(callee(program.call_of_site(site))))
        return next(recording.calls(recording.end, recording.first, asks), None) is not None

    def _steps(self, mine: StepId, other: StepId, left: int) -> bool:
        key = mine, other
        if key not in self._known:
            # a value that is made of itself is made of something else first
            self._known[key] = False
            self._known[key] = left > 0 and self._statements(mine, other, left - 1)
        return self._known[key]

    def _statements(self, mine: StepId, other: StepId, left: int) -> bool:
        if self._bad.ids.is_initial(mine) or self._green.ids.is_initial(other):
            return False
        here, there = (
            process.statements.statement(step)
            for process, step in ((self._bad, mine), (self._green, other))
        )
        called = _called(here)
        if called != _called(there):
            return False
        return reads_clock(called) or bool(self._terms(here.term, there.term, left))

    def _terms(self, mine: Term, other: Term, left: int) -> bool | None:
        """Whether clocks alone tell two terms apart; None where something else does, False where nothing."""
        if isinstance(mine, Read) and isinstance(other, Read):
            if mine.value is not None and mine.value == other.value:
                return False
            return self._steps(mine.step, other.step, left) or None
        if isinstance(mine, Concrete) and isinstance(other, Concrete):
            alike = mine.reason == other.reason and len(mine.reads) == len(other.reads)
            return self._all(zip(mine.reads, other.reads, strict=False), left) if alike else None
        if not isinstance(mine, Apply) or not isinstance(other, Apply):
            return False if mine == other else None
        one, two = _operands(mine), _operands(other)
        same = (mine.op, mine.sort, mine.parameter) == (other.op, other.sort, other.parameter)
        return (
            self._all(zip(one, two, strict=True), left) if same and len(one) == len(two) else None
        )

    def _all(self, pairs: Iterable[tuple[Term, Term]], left: int) -> bool | None:
        told = False
        for mine, other in pairs:
            found = self._terms(mine, other, left)
            if found is None:
                return None
            told |= found
        return told


def _operands(term: Apply) -> tuple[Term, ...]:
    """What a value is made of: of a load through a computed address what was read there."""
    if term.op is Op.ITE and isinstance(term.args[2], Free):
        return term.args[1:2]
    return term.args


def _called(statement: Statement) -> str:
    """The function of which a step is what it gave or wrote; empty where it is of none."""
    instance = statement.instance
    instruction = instance.instructions[statement.instruction] if instance is not None else None
    is_call = instruction is not None and instruction.opcode in {"call", "invoke"}
    return callee(instruction) if instruction is not None and is_call else ""
