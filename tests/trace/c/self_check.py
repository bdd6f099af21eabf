"""Every step of a recorded process, computed again from what it read and compared with the record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from afterd.logic.evaluation import same_value
from afterd.model.term import SortKind, Term, Value, concretised_terms, reads
from afterd.model.trace import StepKind
from afterd.trace.c.ir.constants import from_word
from afterd.trace.c.ir.recorded import returns_twice
from afterd.trace.c.read.process import Process
from afterd.trace.c.read.statements import Statement
from afterd.trace.c.read.values import known_value
from afterd.trace.c.window import records

MOST = 4000  # records of a process that are looked at, the last ones


@dataclass(frozen=True)
class Checked:
    """What was compared: how many steps, how many of them by their value, and what did not agree."""

    steps: int
    compared: int
    wrong: tuple[str, ...]
    unknown: tuple[str, ...]  # scalars of at most 64 bits whose value is not known


def check(process: Process) -> Checked:
    """Check the last records of a process."""
    recording = process.recording
    steps, compared = 0, 0
    wrong: list[str] = []
    unknown: list[str] = []
    for position in range(max(recording.first, recording.end - MOST), recording.end):
        for what, term, value in _terms(process, position):
            steps += 1
            now = known_value(term)
            small = term.sort.kind is not SortKind.OPAQUE and term.sort.width <= 64
            if now is None and small:
                unknown.append(f"{position}: {what}")
            if now is not None and value is not None:
                compared += 1
                if not same_value(now, value):
                    wrong.append(f"{position}: {what} is {now!r}, recorded as {value!r}")
            wrong += [f"{position}: {what}: {found}" for found in _unlike(process, term)]
        wrong += _from_nowhere(process, position)
    return Checked(steps, compared, tuple(wrong), tuple(unknown))


def _terms(process: Process, position: int) -> Iterator[tuple[str, Term, Value]]:
    """What is defined at a record: (text, term, recorded value)."""
    match process.recording.tag(position):
        case records.LSTORE | records.STORE | records.BLOCK:
            statement = process.statements.statement(process.ids.of(position))
            if statement.instance is None:
                if not _began_inside(process, statement):
                    yield f"lost at {position}", statement.term, "lost"
                return
            text = statement.instance.instructions[statement.instruction].text.strip()
            assert process.statements.control(statement.step) != statement.step
            yield text, statement.term, statement.value
        case records.LOAD:
            instance = process.frames.instance(position)
            if instance is None:
                return
            index = process.frames.instruction_of(instance, position)
            instruction = instance.instructions[index] if index >= 0 else None
            if instruction is None:
                yield f"lost at {position}", process.statements.statement(-1).term, position
            elif instruction.opcode == "load":
                term = process.values.register(instance, index)
                yield (
                    instruction.text.strip(),
                    term,
                    from_word(process.recording.value(position), term.sort),
                )


def _from_nowhere(process: Process, position: int) -> Iterator[str]:
    """A block that does not follow the one that was executed before it; a jump back begins one anew."""
    here = process.frames.instance_at(position) if _is_block(process, position) else None
    before = process.frames.previous(here) if here else None
    if not here or not before:
        return
    if returns_twice(here.instructions[0]):
        return
    label = here.view.function.blocks[here.block].label
    leading = before.instructions[-1].text
    if f"label %{label}" not in leading.replace('"', ""):
        yield f"{position}: {label} of {here.view.name} follows {leading.strip()}"


def _is_block(process: Process, position: int) -> bool:
    return process.recording.tag(position) == records.BLOCK


def _began_inside(process: Process, statement: Statement) -> bool:
    """Whether a lost statement belongs to an activation of which the beginning was not recorded."""
    position = process.ids.position(statement.step)
    return process.frames.entry(position) < 0


def _unlike(process: Process, term: Term) -> Iterator[str]:
    """Reads that are not what the step they read defined, and values that the theory got wrong."""
    for part in concretised_terms(term):
        if "otherwise" in part.reason:
            yield part.reason
    for read in reads(term):
        source = process.statements.statement(read.step)
        both = read.value is not None and source.value is not None and read.sort == source.term.sort
        if both and not same_value(read.value, source.value):
            yield f"reads {read.value!r} where {source.target or source.kind} is {source.value!r}"
        if source.kind is not StepKind.INITIAL and read.step >= process.ids.of(
            process.recording.end
        ):
            yield "reads what was not yet executed"
