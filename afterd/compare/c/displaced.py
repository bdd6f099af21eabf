"""Conditions that stand as they stood, and no longer decide what they decided.

A statement that was put between ``if (a)`` and what it guards, or a ``return`` that was taken out behind it: neither
the condition nor what runs now was changed, and no value is other than in green.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from afterd.compare.c.alignment import Alignment
from afterd.compare.c.block_map import BlockMap
from afterd.compare.c.ties import Ties
from afterd.limits import C_PAIR
from afterd.model.change import ChangeId
from afterd.model.location import Location
from afterd.trace.c.read import FunctionView, Instance


class Displaced:
    """What stands, or stood, between such a condition and a block that it decides in the good version alone."""

    def __init__(self, alignment: Alignment, ties: Ties) -> None:
        self._alignment, self._ties = alignment, ties
        self._of_block = cache(self._of_block_uncached)

    def changes(self, instance: Instance) -> Iterator[ChangeId]:
        """The changes by which a block ran that the good version decides about, or a call that led to it."""
        frames = self._alignment.bad
        at: Instance | None = instance
        for _ in range(C_PAIR.callers):
            if at is None:
                return
            yield from self._of_block(at.view, at.block)
            caller = frames.caller(at.position) if not at.view.flow.depends[at.block] else None
            at = caller[0] if caller else None

    def _of_block_uncached(self, view: FunctionView, block: int) -> tuple[ChangeId, ...]:
        blocks = self._alignment.blocks(view)
        if blocks is None or block not in blocks.to_good:
            return ()
        found = (
            change
            for condition in blocks.good.flow.depends[blocks.to_good[block]]
            if condition in blocks.to_bad and blocks.to_bad[condition] not in _deciding(view, block)
            for change in self._between(view, blocks, condition, block)
        )
        return tuple(dict.fromkeys(found))

    def _between(
        self, view: FunctionView, blocks: BlockMap, condition: int, block: int
    ) -> Iterator[ChangeId]:
        """The changes of what a condition decides now, and of what it decided, before a block's first line."""
        for place in _lines(view, blocks.to_bad[condition], block):
            yield from self._ties.of_line(view, place.file, place.line)
        for place in _lines(blocks.good, condition, blocks.to_good[block]):
            yield from self._ties.removed_at(blocks.good, place)


def _deciding(view: FunctionView, block: int) -> frozenset[int]:
    """The blocks whose branches decide, directly or through others, whether a block is executed."""
    found: set[int] = set()
    left = [block]
    while left:
        more = view.flow.depends[left.pop()] - found
        found |= more
        left += more
    return frozenset(found)


def _lines(view: FunctionView, condition: int, block: int) -> list[Location]:
    """Where what a condition decides about stands between it and a block."""
    first, last = _place(view, condition, -1), _place(view, block, 0)
    places = (
        view.place(decided, number)
        for decided, depends in enumerate(view.flow.depends)
        if condition in depends and decided != block
        for number in range(len(view.function.blocks[decided].instructions))
    )
    return list(
        dict.fromkeys(
            place
            for place in places
            if place.file == first.file and first.line < place.line <= last.line
        )
    )


def _place(view: FunctionView, block: int, number: int) -> Location:
    return view.place(block, range(len(view.function.blocks[block].instructions))[number])
