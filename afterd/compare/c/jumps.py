"""Control that is handed on without a condition, and goes elsewhere in the other version.

A ``break`` that was taken out of a switch, a ``continue`` or a ``goto`` that was put in, a ``return`` in the middle: no
branch was changed, and no statement that ran was. What is other is where a block that both versions have goes on.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from afterd.compare.c.alignment import Alignment
from afterd.compare.c.block_map import BlockMap
from afterd.compare.c.ties import Ties
from afterd.limits import C_PAIR
from afterd.model.change import ChangeId
from afterd.trace.c.read import Frames, FunctionView, Instance

_LEAVES = -1
"""Where a block goes on that returns."""


class Jumps:
    """The changes of jumps behind a block instance of either run."""

    def __init__(self, forward: Alignment, backward: Alignment, ties: Ties) -> None:
        self._forward, self._backward, self._ties = forward, backward, ties
        self._at = cache(self._at_uncached)

    def led_to(self, instance: Instance) -> Iterator[ChangeId]:
        """The changes by which the failing run came to a block on a way that the good version's jumps do not take."""
        blocks = self._forward.blocks(instance.view)
        for before in _jumped_from(self._forward.bad, instance) if blocks is not None else ():
            yield from self._at(instance.view, before.block)

    def led_past(self, green: Instance) -> Iterator[ChangeId]:
        """The same of a block of green's: the changes by which the failing run jumped elsewhere before it."""
        there = self._backward.blocks(green.view)
        if there is None:
            return
        for before in _jumped_from(self._forward.green, green):
            if before.block in there.to_good:
                yield from self._at(there.good, there.to_good[before.block])

    def _at_uncached(self, view: FunctionView, block: int) -> tuple[ChangeId, ...]:
        """The changes of a jump at the end of a block, where that of its like goes to another place."""
        blocks = self._forward.blocks(view)
        if blocks is None or block not in blocks.to_good:
            return ()
        partner = blocks.to_good[block]
        here, there = _goal(view, block), _goal(blocks.good, partner)
        if here is None or there is None or not _are_apart(blocks, here, there):
            return ()
        mine, other = (
            view.place(block, _last(view, block)),
            blocks.good.place(partner, _last(blocks.good, partner)),
        )
        own = self._ties.of_line(view, mine.file, mine.line)
        return tuple(dict.fromkeys((*own, *self._ties.removed_at(blocks.good, other))))


def _jumped_from(frames: Frames, instance: Instance) -> Iterator[Instance]:
    """The block instances behind which control came to this one by jumps alone, the nearest first."""
    at = instance
    for _ in range(C_PAIR.levels):
        before = frames.previous(at)
        if before is None or _goal(before.view, before.block) is None:
            return
        yield before
        at = before


def _goal(view: FunctionView, block: int) -> int | None:
    """Where a block goes on that does not decide, past blocks that only jump on; None of one that decides."""
    seen: set[int] = set()
    while block not in seen:
        seen.add(block)
        terminator = view.function.blocks[block].terminator
        if terminator.opcode == "ret":
            return _LEAVES
        if _decides(view, block):
            return None
        (block,) = set(view.targets(terminator))
        if len(view.function.blocks[block].instructions) > 1 or _decides(view, block):
            return block
    return block


def _decides(view: FunctionView, block: int) -> bool:
    """Whether a block ends otherwise than by a jump."""
    terminator = view.function.blocks[block].terminator
    return terminator.opcode != "br" or len(set(view.targets(terminator))) != 1


def _are_apart(blocks: BlockMap, here: int, there: int) -> bool:
    """Whether two goals are known not to be each other's like."""
    if _LEAVES in (here, there):
        return here != there
    return blocks.same_place(here, there) is False


def _last(view: FunctionView, block: int) -> int:
    """The number of a block's terminator."""
    return len(view.function.blocks[block].instructions) - 1
