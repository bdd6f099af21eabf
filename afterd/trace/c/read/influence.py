"""Potential dependence: branches whose other side could have redefined what a step read.

AFTER, Algorithm 3, lines for indirect influence: every branch executed between a definition and its
use, in any activation, from whose other side a store to the same place can be reached before the two
sides meet. Places are told apart as stores name them: a variable, a global, a field of a type.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import islice

from afterd.limits import C_TRACE
from afterd.model.term import StepId
from afterd.trace.c.ir.ir import Instruction
from afterd.trace.c.ir.irtypes import split_top
from afterd.trace.c.ir.recorded import PASSED, arguments, callee, pointer_of
from afterd.trace.c.read import libc
from afterd.trace.c.read.process import Process
from afterd.trace.c.read.program import FunctionView, Unit

Place = str
"""``function%slot``, ``@global``, ``.type:indices`` for a field, ``.opcode`` for any other pointer."""


class Influence:
    """Static reachability of stores from the side of a branch that was not taken."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._written = cache(self._written_uncached)
        self._of_block = cache(
            self._of_block_uncached
        )  # a block lies on the sides of many branches
        self._side = cache(self._side_uncached)
        self._deciders = cache(self._deciders_uncached)
        # each stretch of a recording asks the same of each block that is in it
        self._decides = cache(lambda place: cache(lambda block: self._is_side(block, place)))

    def between(self, use: StepId, definition: StepId) -> Iterator[StepId]:
        """Branch instances between the two whose other side writes the same place, nearest first."""
        yield from islice(self._candidates(use, definition), C_TRACE.influences)

    def _candidates(self, use: StepId, definition: StepId) -> Iterator[StepId]:
        place = self._place(definition)
        end = self._process.ids.position(use)
        if place is None or end < 0:
            return
        frames, ids = self._process.frames, self._process.ids
        start = max(ids.position(definition) + 1, end - C_TRACE.farthest, 0)
        entered = self._process.recording.blocks_back(end, start, self._decides(place))
        for position in islice(entered, C_TRACE.candidates):
            taken = frames.instance_at(position)
            before = frames.previous(taken) if taken else None
            if taken and before and place in self._side(before.view, before.block, taken.block):
                yield ids.of(position)

    def _is_side(self, block: int, place: Place) -> bool:
        """Whether a block id is one side of a branch whose other side may write the place."""
        try:
            view = self._process.program.function_of_block(block)
        except KeyError:
            return False
        return block - view.numbered.first.blocks in self._deciders(view, place)

    def _deciders_uncached(self, view: FunctionView, place: Place) -> frozenset[int]:
        return frozenset(
            taken
            for branch, sides in enumerate(view.flow.successors)
            if len(set(sides)) > 1
            for taken in sides
            if place in self._side(view, branch, taken)
        )

    def _place(self, definition: StepId) -> Place | None:
        """What the definition wrote."""
        if self._process.ids.is_initial(definition):
            cells = self._process.ids.cells[definition]
            placed = self._process.symbols.at(cells.address)
            return f"@{placed.symbol}" if placed else None
        statement = self._process.statements.statement(definition)
        instance = statement.instance
        if instance is None or instance.instructions[statement.instruction].opcode != "store":
            return None
        return _stored_place(instance.view, instance.instructions[statement.instruction])

    def _side_uncached(self, view: FunctionView, branch: int, taken: int) -> frozenset[Place]:
        """Every place written between the untaken successors of a branch and where the sides meet."""
        stop = view.flow.postdominator[branch]
        stack = [s for s in view.flow.successors[branch] if s != taken]
        seen: set[int] = set()
        places: set[Place] = set()
        while stack:
            block = stack.pop()
            if block in seen or block == stop:
                continue
            seen.add(block)
            stack.extend(view.flow.successors[block])
            places |= self._of_block(view, block)
        return frozenset(places)

    def _of_block_uncached(self, view: FunctionView, block: int) -> frozenset[Place]:
        """Every place that a block may write."""
        return frozenset(
            place
            for instruction in view.function.blocks[block].instructions
            for place in self._places(view, instruction, C_TRACE.deep)
        )

    def _places(self, view: FunctionView, instruction: Instruction, depth: int) -> Iterator[Place]:
        """What an instruction may write, as far as its text tells."""
        if instruction.opcode == "store":
            yield _stored_place(view, instruction)
        elif instruction.opcode in {"call", "invoke"} and callee(instruction) != PASSED:
            name = callee(instruction)
            yield from self._written(name, view.unit, depth)
            if not self._process.program.resolved(name.removeprefix("@")):
                for number, (kind, text) in enumerate(arguments(instruction)):
                    if kind.startswith("ptr") and libc.writes_through(name, number):
                        yield _pointed_place(view, text)

    def _written_uncached(self, name: str, unit: Unit, depth: int) -> frozenset[Place]:
        """The globals and fields that a function of the program may write, through calls a few deep."""
        view = (
            self._process.program.function_named(name[1:], unit)
            if name.startswith("@") and depth
            else None
        )
        if view is None:
            return frozenset()
        return frozenset(
            place
            for block in view.function.blocks
            for instruction in block.instructions
            for place in self._places(view, instruction, depth - 1)
            if place[0] in "@."
        )


def _stored_place(view: FunctionView, store: Instruction) -> Place:
    return _pointed_place(view, pointer_of(store))


def _pointed_place(view: FunctionView, pointer: str) -> Place:
    """The place that a pointer operand names."""
    if pointer.startswith("@"):
        return pointer
    if pointer in view.slot_ids:
        return f"{view.name}{pointer}"
    block, number = view.definitions.get(pointer, (-1, -1))
    if block < 0:
        return ".parameter"
    instruction = view.function.blocks[block].instructions[number]
    if instruction.opcode != "getelementptr":
        return f".{instruction.opcode}"
    kind, base, *indices = split_top(instruction.body)
    constant = ",".join(index.split(" ")[-1] for index in indices if "%" not in index)
    whole = base.split(" ")[-1]
    if kind.startswith("[") and (whole.startswith("@") or whole in view.slot_ids):
        return _pointed_place(view, whole)  # an array of the program, whichever element
    return f".{kind}:{constant}"
