"""The branches inside a statement: what chose between the values that it read.

``x = a ? b : c`` and ``x = a && b`` are one statement with branches of its own, which meet in a phi
before it ends: it does not depend on them by control, and only reads what was chosen.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from afterd.limits import C_TRACE
from afterd.model.term import StepId
from afterd.trace.c.ir.ir import Instruction
from afterd.trace.c.ir.recorded import arguments
from afterd.trace.c.read.frames import Instance
from afterd.trace.c.read.program import FunctionView
from afterd.trace.c.read.statements import Statement, Statements
from afterd.trace.c.read.values import REGISTER, incoming_value

_OPAQUE = frozenset(["load", "call", "invoke", "alloca"])
"""Where a statement of its own made the value."""


def choices(statements: Statements, statement: Statement) -> tuple[StepId, ...]:
    """The branch steps that chose what a statement read, nearest first."""
    found = dict.fromkeys(_choices(statements, statement))
    return tuple(found)[: C_TRACE.inner_branches]


def _choices(statements: Statements, statement: Statement) -> Iterator[StepId]:
    given = statement.passed
    if given is not None:
        _, text = arguments(given.caller.instructions[given.call])[given.argument]
        waiting = [(given.caller, name) for name in REGISTER.findall(text)]
    elif statement.instance is not None:
        own = statement.instance.instructions[statement.instruction]
        waiting = [(statement.instance, name) for name in _registers(own)]
    else:
        return
    seen = set(waiting)
    while waiting:
        instance, name = waiting.pop()
        if not _has_phi(instance.view):
            continue
        place = instance.view.definitions.get(name)
        at = statements.values.instance_of(place, instance, 1 << 30) if place else None
        if place is None or at is None:
            continue
        made = at.instructions[place[1]]
        if made.opcode in _OPAQUE:
            continue
        if made.opcode == "phi":
            yield from _choosing_branches(statements, at)
        further = {(at, each) for each in _read(statements, made, at)} - seen
        waiting += further
        seen |= further


def _choosing_branches(statements: Statements, phi: Instance) -> Iterator[StepId]:
    """The branch by which a phi was reached, itself or from the arm that it decided about."""
    before = statements.frames.previous(phi)
    if before is None:
        return
    if len(set(phi.view.flow.successors[before.block])) > 1:
        yield statements.ids.of(phi.position)
    elif (decided := statements.deciding(before)) is not None:
        yield decided


def _read(statements: Statements, made: Instruction, at: Instance) -> list[str]:
    """The registers that an instruction read; of a phi the one that it took."""
    if made.opcode != "phi":
        return _registers(made)
    before = statements.frames.previous(at)
    taken = incoming_value(made, before) if before else None
    return REGISTER.findall(taken) if taken else []


@cache
def _has_phi(view: FunctionView) -> bool:
    return any(i.opcode == "phi" for block in view.function.blocks for i in block.instructions)


def _registers(instruction: Instruction) -> list[str]:
    return REGISTER.findall(instruction.body)
