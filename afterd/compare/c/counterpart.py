"""The step of the green run that corresponds to a step of the failing run, and its value."""

from __future__ import annotations

from afterd.compare.c.alignment import Alignment, Found
from afterd.compare.c.clocks import Clocks
from afterd.compare.c.dual import DualSlice
from afterd.compare.c.given_texts import was_given_otherwise
from afterd.limits import C_TRACE
from afterd.logic import signed_value
from afterd.model.term import SortKind, StepId, Value
from afterd.model.trace import Alignment as Aligned
from afterd.model.trace import GreenValue, StepKind
from afterd.trace.c.read import (
    Allocated,
    Instance,
    Process,
    Statement,
    in_variable_of_both,
    same_address,
)
from afterd.trace.c.window import records
from afterd.trace.rendering import rendered_value

_UNKNOWN = GreenValue(Aligned.UNKNOWN)
_ABSENT = GreenValue(Aligned.ABSENT)


class Counterparts:
    """Green values of statements."""

    def __init__(self, bad: Process, green: Process, alignment: Alignment, dual: DualSlice) -> None:
        self._bad, self._green, self._alignment, self._dual = bad, green, alignment, dual
        self._clocks = Clocks(bad, green)
        self.step = self._step

    def _step(self, statement: Statement) -> StepId | None:
        """The green step that corresponds to a statement; None where there is none.

        A statement that was not rewritten is found by its execution index. Of a rewritten one the data flow knows
        better, and of one of several values that a copy or a call wrote it alone knows which of them it is.
        """
        partner = self._dual.partner(statement.step)
        if partner is not None and not self._unchanged(statement):
            return partner
        if self._is_one_of_several(statement):
            return None
        found = self._instance(statement)
        if found.instance is None or statement.instance is None:
            return None
        if statement.called:
            call = self._record(statement.instance, statement.instruction, found.instance)
            entered = self._green.frames.entered(call) if call >= 0 else None
            return self._green.ids.of(entered.position) if entered else None
        if statement.kind is StepKind.BRANCH:
            return self._leaving(statement, found.instance)[0]
        position = self._record(statement.instance, statement.instruction, found.instance)
        if position < 0:
            return None
        tag = self._green.recording.tag(position)
        if tag == records.CALL and statement.kind is StepKind.ASSIGN:
            position = self._green.frames.returned(position)
        return self._green.ids.of(position) if position >= 0 else None

    def _is_one_of_several(self, statement: Statement) -> bool:
        return statement.step in self._bad.ids.cells

    def _unchanged(self, statement: Statement) -> bool:
        instance = statement.instance
        if instance is None or self._is_one_of_several(statement):
            return False
        blocks = self._alignment.blocks(instance.view)
        return blocks is not None and blocks.unchanged(instance.block, statement.instruction)

    def _instance(self, statement: Statement) -> Found:
        return self._alignment.instance(statement.instance) if statement.instance else Found(None)

    def _branch(self, instance: Instance) -> StepId | None:
        taken = self._green.frames.taken(instance)
        if taken < 0 or self._green.recording.depth_at(taken) != instance.depth:
            return None
        return self._green.ids.of(taken)

    def _record(self, here: Instance, instruction: int, there: Instance) -> int:
        """The record that the corresponding instruction left in the aligned instance; -1 if none."""
        blocks = self._alignment.blocks(here.view)
        number = blocks.instruction(here.block, instruction) if blocks else -1
        return self._green.frames.record_of(there, number) if number >= 0 else -1

    def stood(self, statement: Statement) -> bool:
        """Whether the good version has the statement too, be it rewritten."""
        instance = statement.instance
        blocks = self._alignment.blocks(instance.view) if instance else None
        if instance is None or blocks is None:
            return False
        return blocks.instruction(instance.block, statement.instruction) >= 0

    def green_value(self, statement: Statement) -> GreenValue:
        """How the statement stands to the green run, and what it had there."""
        found = self._instance(statement)
        if found.instance is None:
            return self._by_data_flow(statement) or (_ABSENT if found.absent else _UNKNOWN)
        if statement.called:
            return self._other_function(statement)
        if statement.kind is StepKind.BRANCH:
            return self._outcome(statement, found.instance)
        step = self.step(statement)
        if step is None:
            several = self._is_one_of_several(statement) and self.stood(statement)
            return _UNKNOWN if several else self._returned(statement, found.instance)
        other = self._green.statements.statement(step)
        return self._compared(statement, step, other)

    def valued(self, statement: Statement) -> StepId | None:
        """The green step with whose value a statement's is compared."""
        instance = self._instance(statement).instance
        if instance is None:
            return self._dual.partner(statement.step)
        step = self.step(statement)
        return self._return_step(statement, instance) if step is None else step

    def defined(self, statement: Statement) -> GreenValue | None:
        """The value of the step that green read where the failing run read an initial value."""
        partner = self._dual.partner(statement.step)
        if partner is None or self._green.ids.is_initial(partner):
            return None
        return self._by_data_flow(statement)

    def led_elsewhere(self, statement: Statement) -> bool:
        """Whether green read another initial value where the failing run read this one."""
        mine = self._bad.ids.cells.get(statement.step)
        partner = self._dual.partner(statement.step)
        if mine is None or partner is None or not self._green.ids.is_initial(partner):
            return False
        other = self._green.ids.cells.get(partner)
        return other is not None and not self._same_address(mine.address, other.address)

    def _by_data_flow(self, statement: Statement) -> GreenValue | None:
        """The value of the step that the data flow paired it with, whatever statement that was."""
        partner = self._dual.partner(statement.step)
        if partner is None or statement.kind is StepKind.BRANCH:
            return None
        other = self._green.statements.statement(partner)
        found = self._compared(statement, partner, other)
        return None if found.alignment is Aligned.UNKNOWN else found

    def _returned(self, statement: Statement, instance: Instance) -> GreenValue:
        """The value of a ``return`` in the aligned activation; what else the good version has not is not there."""
        if not _is_return(statement) or instance.instructions[-1].opcode != "ret":
            gone = statement.kind is StepKind.ASSIGN or not self.stood(statement)
            return _ABSENT if gone else _UNKNOWN
        step = self._return_step(statement, instance)
        if step is None:
            return _UNKNOWN
        other = self._green.statements.statement(step)
        return self._compared(statement, step, other)

    def _return_step(self, statement: Statement, instance: Instance) -> StepId | None:
        """What the aligned activation returned."""
        if not _is_return(statement) or instance.instructions[-1].opcode != "ret":
            return None
        caller = self._green.frames.caller(instance.position)
        back = self._green.frames.returned(caller[2]) if caller else -1
        return self._green.ids.of(back) if back >= 0 else None

    def _other_function(self, statement: Statement) -> GreenValue:
        """Whether green's call through the pointer went to the same function."""
        step = self.step(statement)
        if step is None:
            return _UNKNOWN
        other = self._green.statements.statement(step)
        same = other.called == statement.called
        at = other.instance
        shown = self._green.statements.readable(other.called, at) if at else other.called
        return GreenValue(Aligned.SAME if same else Aligned.DIFFERENT, same, shown)

    def _outcome(self, statement: Statement, instance: Instance) -> GreenValue:
        """Whether green's branch went to the same place, even where its condition was rewritten."""
        if statement.instance is None:
            return _UNKNOWN
        step, same = self._leaving(statement, instance)
        if step is None:
            return _UNKNOWN
        there = self._green.statements.statement(step)
        same = there.value == statement.value if same is None else same
        return GreenValue(Aligned.SAME if same else Aligned.DIFFERENT, there.value, _text(there))

    def _leaving(
        self, statement: Statement, instance: Instance
    ) -> tuple[StepId | None, bool | None]:
        """Green's branch, and whether it went to the same place, or else whether what both ask holds for both or for
        neither; None where that is not told. Of a condition of several parts where the failing run has one
        (``a || b``) it is the part that left the condition.
        """
        first = self._branch(instance)
        taken = self._bad.frames.instance_at(self._bad.ids.position(statement.step))
        here = statement.instance
        blocks = self._alignment.blocks(here.view) if here is not None else None
        if first is None or taken is None or here is None or blocks is None:
            return first, None
        step = first
        begun = other = self._green.frames.instance_at(self._green.ids.position(first))
        for _ in range(C_TRACE.inner_branches):
            if other is None:
                break
            if step == first:
                same = blocks.same_way(here.block, taken.block, other.block)
            else:
                same = blocks.same_place(taken.block, other.block)
            if same is not None:
                return step, same
            following = self._branch(other) if blocks.is_further_part(other.block) else None
            if following is None:
                break
            step = following
            other = self._green.frames.instance_at(self._green.ids.position(step))
        return first, None if begun is None else blocks.same_answer(taken.block, begun.block)

    def _compared(self, statement: Statement, there: StepId, other: Statement) -> GreenValue:
        """Addresses differ between two programs for no reason, also those that a union or a calling
        convention passes as numbers: pointers are compared by the objects that they point into. Numbers of
        another width are the same where they stand for the same number.
        """
        mine, value, text = statement.value, other.value, _text(other)
        if mine is None or value is None:
            otherwise = was_given_otherwise(self._bad, statement, self._green, other)
            alignment = Aligned.DIFFERENT if otherwise else Aligned.UNKNOWN
            return GreenValue(alignment, value, text)
        same = (
            mine == value
            if _width(statement) == _width(other)
            else _number(statement) == _number(other)
        )
        if isinstance(mine, int) and isinstance(value, int) and not isinstance(mine, bool):
            told = self._same_object(statement.step, there, mine, value)
            if statement.pointer:
                told = told is not False and self._same_address(mine, value)
            same = same if told is None else told
        same = same or self._clocks.tell_apart(statement.step, there)
        alignment = Aligned.SAME if same else Aligned.DIFFERENT
        return GreenValue(alignment, value, text, self._elsewhere(statement, there))

    def _elsewhere(self, statement: Statement, there: StepId) -> bool:
        """Whether a green step is in another activation than the one that corresponds."""
        instance = statement.instance
        if instance is None or self._green.ids.is_initial(there):
            return False
        if not self._alignment.is_indexed(instance.position):
            return False
        other = self._green.statements.statement(
            there
        ).instance  # a returned value's record is its caller's
        if other is None:
            return False
        return self._alignment.entry(instance.position) != self._green.frames.entry(other.position)

    def _same_address(self, mine: int, other: int) -> bool:
        return same_address(self._bad.symbols, self._green.symbols, mine, other)

    def _is_variable_of_both(self, mine: int, other: int) -> bool:
        """Whether either run's address is in a variable that both programs have."""
        bad, green = self._bad.symbols, self._green.symbols
        return in_variable_of_both(bad, green, mine) or in_variable_of_both(green, bad, other)

    def _same_object(self, here: StepId, there: StepId, mine: int, other: int) -> bool | None:
        """Whether two addresses are the same place in corresponding heap objects; None where that
        cannot be told. A variable that both programs have, as one that stands in for "nothing", is no
        heap object. Sorting a list differently only moves pointers: with all of them taken for
        the same, a wrong order had no cause. Nor has a jump in bytecode that grew in other steps,
        if not even the distance to the object's start is compared.
        """
        place, partner = _allocated(self._bad, here, mine), _allocated(self._green, there, other)
        if place is None or partner is None:
            mixed = self._is_variable_of_both(mine, other) if place or partner else False
            return False if mixed else None
        found = self._alignment.instance(place.instance).instance
        call = self._record(place.instance, place.instruction, found) if found else -1
        if call >= 0 and call != partner.call:
            return False
        return False if place.offset != partner.offset else None if call < 0 else True


def _width(statement: Statement) -> int:
    return statement.term.sort.width


def _number(statement: Statement) -> Value:
    """What a value stands for, with its sign."""
    value, sort = statement.value, statement.term.sort
    if sort.kind is not SortKind.BITVEC or not isinstance(value, int) or statement.unsigned:
        return value
    return signed_value(value, sort.width)


def _allocated(process: Process, step: StepId, address: int) -> Allocated | None:
    """The heap object that an address was in at a step; an initialiser names none."""
    if process.ids.is_initial(step):
        return None
    return process.allocations.of(address, process.ids.position(step))


def _is_return(statement: Statement) -> bool:
    """Whether a statement is what a function returned."""
    instance = statement.instance
    return instance is not None and instance.instructions[statement.instruction].opcode == "ret"


def _text(statement: Statement) -> str:
    return rendered_value(
        statement.value,
        statement.term.sort,
        unsigned=statement.unsigned,
        pointer=statement.is_address,
    )
