"""Potential dependence: branches whose other side could have redefined what a step read."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import islice

from afterd.model.term import StepId
from afterd.tracing.llvm.frames import Instance
from afterd.tracing.llvm.ir import Instruction
from afterd.tracing.llvm.irtypes import split_top
from afterd.tracing.llvm.process import Process
from afterd.tracing.llvm.program import FunctionView, Unit
from afterd.tracing.llvm.recorded import callee, pointer_of

_BRANCHES = 2000  # instances looked at between a definition and its use
_MOST = 12  # branches reported for one read, nearest first
_CALL_DEPTH = 4


class Influence:
    """Static reachability of stores from the side of a branch that was not taken."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._written = cache(self._written_uncached)
        self._side = cache(self._side_uncached)

    def between(self, use: StepId, definition: StepId) -> Iterator[StepId]:
        """Branch instances between the two whose other side writes the same place, nearest first."""
        yield from islice(self._candidates(use, definition), _MOST)

    def _candidates(self, use: StepId, definition: StepId) -> Iterator[StepId]:
        statement = self._process.statements.statement(use)
        place = self._place(definition)
        if statement.instance is None or place is None:
            return
        ids = self._process.ids
        start = max(ids.position(definition), self._process.recording.first)
        for taken, before in self._branches(statement.instance, start):
            if place in self._side(before.view, before.block, taken.block):
                yield ids.of(taken.position)

    def _branches(self, instance: Instance, start: int) -> Iterator[tuple[Instance, Instance]]:
        """(block entered, block left) backwards through the activation of the use."""
        frames = self._process.frames
        current: Instance | None = instance
        for _ in range(_BRANCHES):
            before = frames.previous(current) if current else None
            if current is None or before is None or current.position < start:
                return
            if len(set(before.view.flow.successors[before.block])) > 1:
                yield current, before
            current = before

    def _place(self, definition: StepId) -> str | None:
        """What the definition wrote, as stores name it: a slot, a global, or a field of a struct."""
        if self._process.ids.is_initial(definition):
            cells = self._process.ids.cells[definition]
            placed = self._process.symbols.at(cells.address)
            return f"@{placed.symbol}" if placed else None
        statement = self._process.statements.statement(definition)
        instance = statement.instance
        if instance is None or instance.instructions[statement.instruction].opcode != "store":
            return None
        return _place(instance.view, instance.instructions[statement.instruction])

    def _side_uncached(self, view: FunctionView, branch: int, taken: int) -> frozenset[str]:
        """Every place written between the untaken successors of a branch and where the sides meet."""
        stop = view.flow.postdominator[branch]
        stack = [s for s in view.flow.successors[branch] if s != taken]
        seen: set[int] = set()
        places: set[str] = set()
        while stack:
            block = stack.pop()
            if block in seen or block == stop:
                continue
            seen.add(block)
            stack.extend(view.flow.successors[block])
            for instruction in view.function.blocks[block].instructions:
                if instruction.opcode == "store":
                    places.add(_place(view, instruction))
                elif instruction.opcode == "call":
                    places |= self._written(callee(instruction), view.unit, _CALL_DEPTH)
        return frozenset(places)

    def _written_uncached(self, name: str, unit: Unit, depth: int) -> frozenset[str]:
        """The globals and fields that a function of the program may write, through calls a few deep."""
        view = self._process.program.function_named(name[1:], unit) if name.startswith("@") and depth else None
        if view is None:
            return frozenset()
        places: set[str] = set()
        for block in view.function.blocks:
            for instruction in block.instructions:
                if instruction.opcode == "store":
                    place = _place(view, instruction)
                    places |= {place} if place[0] in "@." else set()
                elif instruction.opcode == "call":
                    places |= self._written(callee(instruction), view.unit, depth - 1)
        return frozenset(places)


def _place(view: FunctionView, store: Instruction) -> str:
    """``%slot``, ``@global``, or ``.type:indices`` for a store through a computed pointer."""
    pointer = pointer_of(store)
    if pointer in view.locals or pointer.startswith("@"):
        return pointer
    defined = view.definitions.get(pointer)
    if defined is None:
        return f".{store.text.split(',')[0].split(' ')[3]}"
    instruction = view.function.blocks[defined[0]].instructions[defined[1]]
    if instruction.opcode == "alloca":
        return pointer
    if instruction.opcode == "getelementptr":
        kind, _, *indices = split_top(instruction.body)
        return "." + kind + ":" + ",".join(i.split(" ")[-1] for i in indices if "%" not in i)
    return f".{instruction.opcode}"


