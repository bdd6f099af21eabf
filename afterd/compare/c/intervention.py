"""A step tested: the failing run once more, with the value or branch that the other run had there.

What can be set is what a record holds all bytes of: what is stored, what a call gave or wrote, the way
of an ``if`` or a ``switch``. An address cannot (the other program's is another place), unless it is NULL;
nor can a call through a pointer, what was copied as a block, or what was there before the program began.

A run that passes only where neither run ever was tells nothing (Sumner and Zhang, comparative causality,
ICSE 2013): a value that skips the failed assertion has repaired nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from afterd.compare.c.alignment import Alignment
from afterd.compare.c.counterpart import Counterparts
from afterd.compare.pair import Pair
from afterd.limits import C_PAIR
from afterd.model.trace import Trial
from afterd.trace.c.ir.constants import recorded_value, sort_of, to_word
from afterd.trace.c.ir.irtypes import scalar_bits
from afterd.trace.c.ir.recorded import decided_by, is_settable, operands, result_type
from afterd.trace.c.read import Process, Statement, known_value
from afterd.trace.c.recorder import RecordedRun, ReplacedRun
from afterd.trace.c.window import records
from afterd.trace.c.window.replacement import Replacement

Again = Callable[[Replacement], ReplacedRun]

_WORD = 8  # bytes


class Intervention:
    """What may be put into a process of the failing run of a pair, and what the run with it tells."""

    def __init__(
        self,
        pair: Pair[RecordedRun],
        mine: Process,
        other: Process,
        alignment: Alignment,
        counterparts: Counterparts,
    ) -> None:
        self._pair = pair
        self._mine, self._other = mine, other
        self._alignment = alignment
        self._counterparts = counterparts
        self._records = sum(process.recording.end for process in pair.mine.processes)
        self._left = C_PAIR.intervened

    def replacement(self, statement: Statement) -> Replacement | None:
        """The other run's value or branch for a step; None where it cannot be put there."""
        recording = self._mine.recording
        followed = not recording.threads and recording.forked_from is None
        if not followed or self._pair.mine.passed or self._left < self._records:
            return None
        position = self._mine.ids.position(statement.step)
        if position < 0:
            return None
        if statement.step in self._mine.ids.cells:
            return self._written_by_a_call(statement, position)
        match recording.tag(position):
            case records.LSTORE | records.STORE:
                instruction = (
                    statement.instance and statement.instance.instructions[statement.instruction]
                )
                if not instruction or instruction.opcode != "store":
                    return None
                return self._value(statement, position, operands(instruction)[0][0])
            case records.CALL | records.RETURN:
                return self._result(statement, position)
            case records.BLOCK:
                return self._branch(statement, position)
        return None

    def trial(self, run: ReplacedRun) -> Trial:
        """What the run with the replacement tells."""
        self._left -= self._records
        if not run.replaced:
            return Trial.ELSEWHERE  # it was another run before it came there
        if not run.passed:
            return Trial.FAILS
        return Trial.PASSES if self._was_there(run.blocks) else Trial.ELSEWHERE

    def _value(self, statement: Statement, record: int, kind: str) -> Replacement | None:
        """What the other run had, in the place of a value of an LLVM type that a record tells."""
        there = self._counterparts.valued(statement)
        if there is None or not is_settable(kind):
            return None
        other = self._other.statements.statement(there)
        if other.term.sort != statement.term.sort:
            return None
        was = self._mine.recording.value(record)
        return self._made(
            record,
            (scalar_bits(kind) + 7) // 8,
            to_word(recorded_value(was, kind), sort_of(kind)),
            to_word(other.value, sort_of(kind)),
            address_there=kind.startswith("ptr") or other.is_address,
        )

    def _made(
        self,
        record: int,
        size: int,
        was: int | None,
        now: int | None,
        *,
        address_there: bool = False,
        address: int = 0,
    ) -> Replacement | None:
        if was is None or now is None or was == now or not 0 <= now < 1 << 8 * size:
            return None
        if now and address_there:
            return None
        return Replacement(self._mine.recording.number, record, size, was, now, address)

    def _result(self, statement: Statement, position: int) -> Replacement | None:
        """What a call gave: its result is on record when it is back."""
        frames = self._mine.frames
        made = frames.calling(position)
        if made is None:
            return None
        called = self._mine.recording.tag(position) == records.CALL
        back = frames.returned(position) if called else position
        kind = result_type(made[0].instructions[made[1]])
        return self._value(statement, back, kind) if back >= 0 else None

    def _written_by_a_call(self, statement: Statement, position: int) -> Replacement | None:
        """Bytes that code which is not traced wrote: they are there when the call is back."""
        cells = self._mine.ids.cells[statement.step]
        there = self._counterparts.valued(statement)
        if self._mine.recording.tag(position) != records.CALL or cells.size > _WORD:
            return None
        back = self._mine.frames.returned(position)
        if back < 0 or there is None:
            return None
        sort = statement.term.sort
        other = self._other.statements.statement(there)
        if other.term.sort != sort:
            return None
        was, now = to_word(statement.value, sort), to_word(other.value, sort)
        return self._made(
            back,
            cells.size,
            was,
            now,
            address_there=other.is_address,
            address=cells.address,
        )

    def _branch(self, statement: Statement, position: int) -> Replacement | None:
        """The other way of a branch; of a switch, the value by which the other run went its way."""
        if statement.instance is None:
            return None
        view, number = statement.instance.view, statement.instruction
        terminator = statement.instance.instructions[number]
        given = decided_by(terminator)
        taken = self._mine.frames.instance_at(position)
        if given is None or taken is None or taken.block not in view.targets(terminator):
            return None
        kind, register = given
        if terminator.opcode == "br":
            was = int(statement.value is True)
            return self._made(position, 1, was, 1 - was)
        there = self._counterparts.step(statement)
        other = self._other.statements.statement(there) if there is not None else None
        if other is None or other.instance is None:
            return None
        decided = decided_by(other.instance.instructions[other.instruction])
        if decided is None or decided[0] != kind:
            return None
        mine, theirs = self._mine.values, self._other.values
        was_given = known_value(mine.operand(kind, register, statement.instance, number))
        now_given = known_value(theirs.operand(*decided, other.instance, other.instruction))
        size, sort = (scalar_bits(kind) + 7) // 8, sort_of(kind)
        return self._made(position, size, to_word(was_given, sort), to_word(now_given, sort))

    def _was_there(self, blocks: Iterable[int]) -> bool:
        """Whether every block that a run came to is one that either recorded run came to."""
        mine, other = _executed_blocks(self._pair.mine), _executed_blocks(self._pair.other)
        return all(self._corresponding(block) in other for block in set(blocks) - mine)

    def _corresponding(self, identifier: int) -> int | None:
        """The other version's block that is one with a block; None where there is none."""
        view = self._mine.program.function_of_block(identifier)
        pairs, there = self._alignment.blocks(view), self._alignment.counterpart(view)
        block = pairs.to_good.get(identifier - view.numbered.first.blocks) if pairs else None
        return None if block is None or there is None else there.numbered.first.blocks + block


def _executed_blocks(run: RecordedRun | None) -> set[int]:
    """The ids of all blocks that any process of a run came to."""
    processes = run.processes if run is not None else ()
    return {block for process in processes for block in process.recording.executed()}
