"""What the executed changes did: each changed statement, beside its old text on the same values.

The good version's statement is evaluated where the failing run came to it, on what the failing run had
there: a change whose statements would all have done the same at every sampled point is most likely
harmless, one that made a difference may be to blame, wherever the causes lead.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from afterd.compare.c.coverage import executed_blocks
from afterd.compare.c.ties import Ties
from afterd.compare.c.transplant import Transplant
from afterd.limits import C_PAIR, WORK
from afterd.model.change import ChangeId
from afterd.model.term import StepId
from afterd.model.trace import Conduct, Effect
from afterd.trace.c.read import FunctionView, Instance, Process
from afterd.trace.c.window import records


def conduct(bad: Process, ties: Ties, transplant: Transplant) -> dict[ChangeId, Conduct]:
    """The conduct of each executed change of which something is known, nearest to the failure first.

    PASSED: a statement of it did, at least once, what the good version's would not have done; that
    its calls did something else in the end is not shown by it, as most of a busy commit's changes
    keep other values. NEUTRAL: all its statements did what the good version's would have done, as far
    as was looked.
    """
    seen: dict[ChangeId, set[Effect]] = {}
    recording = bad.recording
    left, until = C_PAIR.statements, recording.work() + WORK.conduct
    for view, block in executed_blocks(bad):
        tied = _tied_instructions(view, block, ties)
        if not tied or left <= 0 or recording.work() > until:
            continue
        for instance in sampled_executions(bad, view, block):
            left -= len(tied)
            for number, changes in tied.items():
                effect = _effect(bad, transplant, instance, number)
                for change in changes:
                    seen.setdefault(change, set()).add(effect)
    return {
        change: Conduct.PASSED if Effect.MATTERS in effects else Conduct.NEUTRAL
        for change, effects in seen.items()
        if Effect.MATTERS in effects or effects == {Effect.NEUTRAL}
    }


def _tied_instructions(
    view: FunctionView, block: int, ties: Ties
) -> dict[int, tuple[ChangeId, ...]]:
    """The instructions of a block that do something, on lines that changes altered."""
    found: dict[int, tuple[ChangeId, ...]] = {}
    for number in doing(view, block):
        place = view.place(block, number)
        changes = ties.of_line(view, place.file, place.line)
        if changes:
            found[number] = changes
    return found


def doing(view: FunctionView, block: int) -> Iterator[int]:
    """The instructions of a block that do something, and not only compute."""
    for number, instruction in enumerate(view.function.blocks[block].instructions):
        if instruction.opcode in {"store", "switch", "ret", "call", "invoke"} or (
            instruction.opcode == "br" and len(view.targets(instruction)) > 1
        ):
            yield number


def sampled_executions(process: Process, view: FunctionView, block: int) -> Iterator[Instance]:
    """Some executions of a block: its last ones, and others evenly over the window."""
    recording = process.recording
    start = max(recording.first, recording.end - C_PAIR.near)
    found = recording.positions(start, recording.end, records.ANY_DEPTH, view.executions(block))
    places = np.unique(
        np.concatenate(
            [
                np.arange(max(len(found) - C_PAIR.latest, 0), len(found)),
                np.linspace(0, max(len(found) - 1, 0), C_PAIR.spread, dtype=np.int64)[: len(found)],
            ]
        )
    )
    for place in places:
        instance = process.frames.instance_at(int(found[int(place)]))
        if instance is not None:
            yield instance


def _effect(bad: Process, transplant: Transplant, instance: Instance, number: int) -> Effect:
    step = step_of(bad, instance, number)
    if step is None:
        return Effect.UNKNOWN
    try:
        return transplant.effect(bad.statements.statement(step))
    except (KeyError, RecursionError):
        return Effect.UNKNOWN


def step_of(process: Process, instance: Instance, number: int) -> StepId | None:
    """The step of an instruction of a block instance, where it left one; calls aside."""
    opcode = instance.instructions[number].opcode
    if opcode == "store":
        position = process.frames.record_of(instance, number)
    elif opcode == "ret":
        caller = process.frames.caller(instance.position)
        position = process.frames.returned(caller[2]) if caller else -1
    elif opcode in {"br", "switch"}:
        position = process.frames.taken(instance)
    else:
        position = -1
    return process.ids.of(position) if position >= 0 else None
