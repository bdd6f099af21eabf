"""Steps of a trace: what a record's statement defined, from what, under which branch."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache

from afterd.logic import same_value
from afterd.model.location import Location
from afterd.model.term import (
    BOOL,
    OPAQUE,
    Apply,
    Concrete,
    Const,
    Op,
    Sort,
    SortKind,
    StepId,
    Term,
    Value,
    reads,
)
from afterd.model.trace import StepKind
from afterd.trace.c.ir import arithmetic
from afterd.trace.c.ir.constants import from_word, recorded_value, sort_of, to_word
from afterd.trace.c.ir.ir import Instruction
from afterd.trace.c.ir.recorded import (
    arguments,
    callee,
    cases,
    operands,
    result_type,
)
from afterd.trace.c.read.formats import LISTED, listed_reads
from afterd.trace.c.read.frames import Call, Frames, Instance
from afterd.trace.c.read.given import given_reads
from afterd.trace.c.read.steps import ADDRESS_BITS, ADDRESSES, StepIds
from afterd.trace.c.read.values import Values, guarded_load, known_value
from afterd.trace.c.window import records

_COPY_ARGUMENTS = 3  # destination, source, length


@dataclass(frozen=True, slots=True)
class Passed:
    """Where a parameter got its value: the caller's instance, its call instruction, which argument."""

    caller: Instance
    call: int
    argument: int


@dataclass(frozen=True, slots=True)
class Statement:
    """A step without its relation to changes and to the green run.

    ``anchor`` is (function view's name, block, instruction) where it happened, for alignment;
    ``unsigned`` says how its value is best read; ``called`` is the function that a call through a
    pointer went to, which makes it a branch with as many sides as there are functions.
    """

    step: StepId
    kind: StepKind
    location: Location
    term: Term
    value: Value
    target: str
    instance: Instance | None
    instruction: int = 0
    unsigned: bool = False
    pointer: bool = False
    passed: Passed | None = None
    called: str = ""

    @property
    def is_address(self) -> bool:
        """Whether the value is an address, also one that a union or a struct passes as a number."""
        word = isinstance(self.value, int) and self.term.sort.width == ADDRESS_BITS
        return self.pointer or (word and self.value in ADDRESSES)


class Statements:
    """Turns step ids into statements."""

    def __init__(self, values: Values) -> None:
        self.values = values
        self.frames: Frames = values.frames
        self.ids: StepIds = values.ids
        self.recording = values.recording
        self.statement = cache(self._statement)
        self.control = cache(self._control)

    def _statement(self, step: StepId) -> Statement:
        """The statement of a step id that was handed out; KeyError for any other."""
        if self.ids.is_initial(step):
            return self._initial(step)
        position = self.ids.position(step)
        try:
            tag = self.recording.tag(position)
        except IndexError:
            raise KeyError(step) from None
        match tag:
            case records.LSTORE | records.STORE:
                return self._store(step, position)
            case records.BLOCK:
                return self._branch(step, position)
            case records.ENTER:
                return self._dispatch(step, position)
            case records.COPY | records.FILL:
                return self._copy(step, position)
            case records.CALL:
                return self._external(step, position)
            case records.RETURN:
                return self._returned(step, position)
        raise KeyError(step)

    def _store(self, step: StepId, position: int) -> Statement:
        instance = self.frames.instance(position)
        index = self.frames.instruction_of(instance, position) if instance else -1
        if instance is None or index < 0:
            return self._lost(step)
        instruction = instance.instructions[index]
        if instruction.opcode != "store":
            return self._atomic(step, position, instance, index)
        (kind, text), (_, pointer) = operands(instruction)
        sort = sort_of(kind)
        value = recorded_value(self.recording.value(position), kind)
        term = self.values.operand(kind, text, instance, index)
        computed = known_value(term)
        if value is None:
            value = computed
        elif not same_value(computed, value):
            term = _only_dependent(term, value, sort)
        return Statement(
            step,
            StepKind.ASSIGN,
            instance.view.place(instance.block, index),
            term,
            value,
            self._target(instance, pointer),
            instance,
            index,
            pointer in instance.view.unsigned,
            kind.startswith("ptr"),
            self._passed(text, instance),
        )

    def _passed(self, text: str, instance: Instance) -> Passed | None:
        """The call that gave a parameter its value, where ``text`` is one: a change of the argument
        acts at the callee's first line, and stands at the caller's.
        """
        if text not in instance.view.parameters:
            return None
        caller = self.frames.caller(instance.position)
        if caller is None:
            return None
        number = instance.view.parameters.index(text)
        given = arguments(caller[0].instructions[caller[1]])
        if number >= len(given):  # code in between that is not followed: the caller called that
            return None
        return Passed(caller[0], caller[1], number)

    def _atomic(self, step: StepId, position: int, instance: Instance, index: int) -> Statement:
        instruction = instance.instructions[index]
        pointer, (kind, _) = operands(instruction)
        value = recorded_value(self.recording.value(position), kind)
        term = self.values.atomic_store(instruction, instance, index)
        if not same_value(known_value(term), value):
            term = _only_dependent(term, value, sort_of(kind))
        place = instance.view.place(instance.block, index)
        target = self._target(instance, pointer[1])
        return Statement(step, StepKind.ASSIGN, place, term, value, target, instance, index)

    def _target(self, instance: Instance, pointer: str) -> str:
        """What the source calls the place that a pointer operand names, as far as the IR tells."""
        view = instance.view
        if pointer in view.slot_names:
            return view.slot_names[pointer]
        if pointer.startswith("@"):
            found = view.unit.globals.get(pointer[1:].strip('"'))
            return found.name if found else pointer[1:]
        return ""

    def _branch(self, step: StepId, position: int) -> Statement:
        """The branch whose outcome was to enter the block at ``position``."""
        taken = self.frames.instance_at(position)
        before = self.frames.previous(taken) if taken else None
        if taken is None or before is None:
            return self._lost(step)
        index = len(before.instructions) - 1
        terminator = before.instructions[-1]
        term = self._condition(terminator, before, index, taken.block)
        outcome = self._outcome(terminator, before, taken.block)
        if known_value(term) is not outcome:
            term = _only_dependent(term, outcome, BOOL)
        place = before.view.place(before.block, index)
        return Statement(step, StepKind.BRANCH, place, term, outcome, "", before, index)

    def _dispatch(self, step: StepId, entry: int) -> Statement:
        """The call through a pointer that began the activation: an interpreter branches by these."""
        caller, entered = self.frames.caller(entry), self.frames.instance_at(entry)
        if caller is None or entered is None:
            return self._lost(step)
        instance, index, call = caller
        pointer = self.values.operand("ptr", callee(instance.instructions[index]), instance, index)
        term = arithmetic.equals(pointer, Const(self.recording.value(call), pointer.sort))
        if known_value(term) is not True:
            term = _only_dependent(term, True, BOOL)  # noqa: FBT003 - the value it had
        place = instance.view.place(instance.block, index)
        name = entered.view.name
        return Statement(
            step,
            StepKind.BRANCH,
            place,
            term,
            True,  # noqa: FBT003 - the value it had
            "",
            instance,
            index,
            called=name,
        )

    def _outcome(self, terminator: Instruction, before: Instance, taken: int) -> bool:
        targets = before.view.targets(terminator)
        return terminator.opcode != "br" or len(targets) < 2 or targets[1] != taken

    def _condition(
        self, terminator: Instruction, instance: Instance, index: int, taken: int
    ) -> Term:
        """The condition as written for ``br``; "the value is one of these cases" for ``switch``."""
        text = terminator.text
        if taken not in instance.view.targets(terminator):
            return Const(True, BOOL)  # noqa: FBT003 - longjmp came back, whatever the branch said
        if terminator.opcode == "br" and (found := re.match(r"  br i1 ([^,]+),", text)):
            return self.values.operand("i1", found.group(1), instance, index)
        if terminator.opcode == "switch" and (
            found := re.match(r"  switch (i\d+) ([^,]+), label", text)
        ):
            value = self.values.operand(found.group(1), found.group(2), instance, index)
            return self._case(terminator, value, instance, taken)
        return Const(True, BOOL)  # noqa: FBT003 - the literal true

    def _case(self, switch: Instruction, value: Term, instance: Instance, taken: int) -> Term:
        numbers = instance.view.block_numbers
        known = [(case, numbers[label]) for case, label in cases(switch)]
        here = [Const(case, value.sort) for case, block in known if block == taken]
        equal: list[Term] = [Apply(Op.EQ, (value, case), BOOL) for case in here]
        if equal:
            return equal[0] if len(equal) == 1 else Apply(Op.OR, tuple(equal), BOOL)
        others: list[Term] = [
            Apply(Op.NE, (value, Const(case, value.sort)), BOOL) for case, _ in known
        ]
        return arithmetic.conjunction(others)

    def _copy(self, step: StepId, position: int) -> Statement:
        instance = self.frames.instance(position)
        index = self.frames.instruction_of(instance, position) if instance else -1
        cells = self.ids.cells.get(step)
        if instance is None or index < 0 or cells is None:
            return self._lost(step)
        sort = sort_of(f"i{8 * cells.size}") if cells.size <= 8 else OPAQUE
        if self.recording.tag(position) == records.FILL:
            kind, text = arguments(instance.instructions[index])[1]
            byte = self.values.operand(kind, text, instance, index)
            term: Term = byte if cells.size == 1 else Apply(Op.CONCAT, (byte,) * cells.size, sort)
        else:
            bits = to_word(self.ids.observed[step], sort)
            term = self.values.memory.copy_source(position, cells.address, cells.size, sort, bits)
            term = self._from_address(term, position, instance, index)
        place = instance.view.place(instance.block, index)
        return Statement(step, StepKind.ASSIGN, place, term, known_value(term), "", instance, index)

    def _from_address(self, copied: Term, position: int, instance: Instance, index: int) -> Term:
        """What a copy took, over the address that it took it from, as for a load.

        A struct read through a pointer is copied: which of two lists it was read from had no cause.
        """
        given = arguments(instance.instructions[index])
        if not self.recording.value(position) or len(given) < _COPY_ARGUMENTS:
            return copied
        where = self.values.operand(*given[1], instance, index)
        return guarded_load(copied, where, copied.sort, instance.view.name)

    def extent(self, statement: Statement) -> tuple[StepId, ...]:
        """The steps that said where, and how much, the copy or fill wrote to whose outputs a statement belongs."""
        if statement.instance is None or self.ids.is_initial(statement.step):
            return ()
        if self.recording.tag(self.ids.position(statement.step)) not in (
            records.COPY,
            records.FILL,
        ):
            return ()
        given = arguments(statement.instance.instructions[statement.instruction])
        terms = [
            self.values.operand(*operand, statement.instance, statement.instruction)
            for operand in (given[0], *given[2:_COPY_ARGUMENTS])
        ]
        return tuple(dict.fromkeys(read.step for term in terms for read in reads(term)))

    def _external(self, step: StepId, position: int) -> Statement:
        """A call of code that is not traced: its result, or bytes that it wrote."""
        made = self.frames.calling(position)
        if made is None:
            return self._lost(step)
        instance, index = made
        instruction = instance.instructions[index]
        sort, value = self._result(step, position, instruction)
        called = callee(instruction)
        call = Call(instance, index, position)
        used = given_reads(self.values, call, self.ids.cells.get(step))
        if called in LISTED:
            used += listed_reads(self.values, call)
        name = self.readable(called[1:], instance) if called.startswith("@") else called
        term = Concrete(
            value, sort, f"{name or 'a function'}() is not traced", tuple(dict.fromkeys(used))
        )
        place = instance.view.place(instance.block, index)
        is_result = step not in self.ids.cells
        is_pointer = is_result and result_type(instruction).startswith("ptr")
        return Statement(
            step,
            StepKind.OPAQUE,
            place,
            term,
            value,
            f"{name}()",
            instance,
            index,
            pointer=is_pointer,
        )

    def readable(self, symbol: str, instance: Instance) -> str:
        """What the source calls a function that an instance calls, or is of."""
        return self.frames.program.readable(symbol, instance.view.unit)

    def _result(self, step: StepId, position: int, instruction: Instruction) -> tuple[Sort, Value]:
        cells = self.ids.cells.get(step)
        if cells:
            return (
                sort_of(f"i{8 * cells.size}") if cells.size <= 8 else OPAQUE
            ), self.ids.observed[step]
        sort = sort_of(result_type(instruction))
        back = self.frames.returned(position)
        kind = result_type(instruction)
        return sort, recorded_value(self.recording.value(back), kind) if back >= 0 else None

    def _returned(self, step: StepId, position: int) -> Statement:
        depth = self.recording.depth_at(position)
        wanted = (
            records.identified_tag_word(records.CALL, self.recording.identifier(position)) | depth
        )
        call = self.recording.last(position, 0, (1 << 64) - 1, wanted)
        term = self.values.returned_term(position, call) if call >= 0 else None
        last = self.frames.instance(position - 1) if term is not None else None
        if term is None or last is None:
            return self._lost(step)
        index = len(last.instructions) - 1
        value = from_word(self.recording.value(position), term.sort)
        place = last.view.place(last.block, index)
        is_pointer = last.instructions[-1].text.startswith("  ret ptr")
        return Statement(
            step,
            StepKind.ASSIGN,
            place,
            term,
            value,
            f"{self.readable(last.view.name, last)}()",
            last,
            index,
            pointer=is_pointer,
        )

    def _initial(self, step: StepId) -> Statement:
        cells = self.ids.cells[step]
        placed = self.values.symbols.at(cells.address)
        variable = placed.variable if placed else None
        sort = sort_of(f"i{8 * cells.size}") if cells.size <= 8 else OPAQUE
        value = self.ids.observed[step]
        reason = "a static initialiser" if variable else "a value from outside the trace"
        term = Concrete(value, sort, reason)
        location = variable.location if variable else Location("")
        return Statement(
            step, StepKind.INITIAL, location, term, value, variable.name if variable else "", None
        )

    def _lost(self, step: StepId) -> Statement:
        term = Concrete(None, OPAQUE, "before the window that was recorded")
        return Statement(step, StepKind.INITIAL, Location(""), term, None, "", None)

    def _control(self, step: StepId) -> StepId | None:
        """The closest enclosing branch instance: in the activation by control dependence, else the
        one that decided the call of the function.
        """
        return self.control_of(self.statement(step).instance)

    def control_of(self, instance: Instance | None) -> StepId | None:
        """The closest enclosing branch instance of a block instance, in its callers if need be.

        A handler of an exception was executed because of what decided that it was thrown.
        """
        while instance is not None:
            found = self.deciding(instance)
            if found is not None:
                return found
            thrower = self.thrower(instance)
            if thrower is None and (dispatch := self._dispatching(instance)) is not None:
                return dispatch
            caller = self.frames.caller(instance.position) if thrower is None else None
            instance = thrower or (caller[0] if caller else None)
        return None

    def _dispatching(self, instance: Instance) -> StepId | None:
        """The call through a pointer that began the activation of a block instance."""
        entry = self.frames.entry(instance.position)
        caller = self.frames.caller(entry) if entry >= 0 else None
        if caller is None or caller[2] != entry - 1:
            return None
        indirect = callee(caller[0].instructions[caller[1]]).startswith("%")
        return self.ids.of(entry) if indirect else None

    def deciding(self, instance: Instance) -> StepId | None:
        """The branch instance in the same activation on which the block instance depends."""
        depends = instance.view.flow.depends[instance.block]
        executed = (self.frames.latest(instance, block, instance.position) for block in depends)
        found = max((one for one in executed if one), key=lambda one: one.position, default=None)
        taken = self.frames.taken(found) if found else -1
        return self.ids.of(taken) if taken >= 0 else None

    def thrower(self, instance: Instance) -> Instance | None:
        """The instance that threw the exception on the way out of which a block was executed."""
        view = instance.view
        if view.flow.reached[instance.block]:
            return None
        pads = (
            self.frames.latest(instance, block, instance.position + 1)
            for block in view.landing_pads
        )
        pad = max((one for one in pads if one), key=lambda one: one.position, default=None)
        return self.frames.instance(pad.position - 1) if pad else None


def _only_dependent(term: Term, value: Value, sort: Sort) -> Term:
    """The recorded value where the term does not compute it: dependence without a formula."""
    if isinstance(term, Concrete) and term.value is None:
        return replace(term, value=value)
    if sort.kind is SortKind.OPAQUE or known_value(term) is None:
        leaves = tuple(dict.fromkeys(reads(term)))
        return (
            Concrete(value, sort, "not computed by the theory", leaves)
            if leaves or value is not None
            else term
        )
    return Concrete(
        value, sort, "recorded otherwise than computed", tuple(dict.fromkeys(reads(term)))
    )
