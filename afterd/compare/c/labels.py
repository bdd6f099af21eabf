"""Labels of a ``switch`` that were put in, taken out, or put elsewhere.

A ``case`` is no statement: what it alters is where the ``switch`` goes, on a line that nobody changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from afterd.compare.c.alignment import Alignment
from afterd.compare.c.block_map import BlockMap
from afterd.model.change import Change, ChangeId
from afterd.trace.c.ir.recorded import cases
from afterd.trace.c.read import FunctionView, Instance
from afterd.trace.linemap import LineMap

_LABEL = re.compile(r"^[-+].*\b(?:case\b|default\s*:)", re.MULTILINE)


class Labels:
    """Which changes altered where a ``switch`` goes."""

    def __init__(self, changes: Iterable[Change], lines: LineMap, alignment: Alignment) -> None:
        self._labels = frozenset(c.id for c in changes if _LABEL.search(c.patch))
        self._lines, self._alignment = lines, alignment
        self._of_block = cache(self._of_block_uncached)

    def of(self, instance: Instance) -> tuple[ChangeId, ...]:
        """The changes of labels behind a block instance that ends in a ``switch``, if it goes elsewhere by them."""
        return self._of_block(instance.view, instance.block) if self._labels else ()

    def _of_block_uncached(self, view: FunctionView, block: int) -> tuple[ChangeId, ...]:
        blocks = self._alignment.blocks(view)
        if blocks is None or block not in blocks.to_good:
            return ()
        partner = blocks.to_good[block]
        if not _go_elsewhere(blocks, view, block, partner):
            return ()
        found = [
            change
            for file, first, last in _decided(view, block)
            for change in self._lines.changes_in_bad(file, first, last)
        ]
        found += [
            change
            for file, first, last in _decided(blocks.good, partner)
            for change in self._lines.changes_in_good(file, first, last)
        ]
        return tuple(change for change in dict.fromkeys(found) if change in self._labels)


def _go_elsewhere(blocks: BlockMap, view: FunctionView, here: int, there: int) -> bool:
    """Whether some value leads to a block that is not the like of where it leads in the good version."""
    mine, other = _goals(view, here), _goals(blocks.good, there)
    if not mine or not other:
        return False
    return any(
        blocks.same_place(mine.get(value, mine[None]), other.get(value, other[None])) is False
        for value in mine.keys() | other.keys()
    )


def _goals(view: FunctionView, block: int) -> dict[int | None, int]:
    """Where a ``switch`` goes by value, and where else (None); empty where a block ends otherwise."""
    terminator = view.function.blocks[block].terminator
    if terminator.opcode != "switch":
        return {}
    others: dict[int | None, int] = {None: view.targets(terminator)[0]}
    return others | {value: view.block_numbers[label] for value, label in cases(terminator)}


def _decided(view: FunctionView, block: int) -> Iterator[tuple[str, int, int]]:
    """The lines from a ``switch`` to the last of what it decides."""
    begins = view.place(block, len(view.function.blocks[block].instructions) - 1)
    ends = [
        place.line
        for decided, depends in enumerate(view.flow.depends)
        if block in depends
        for number in range(len(view.function.blocks[decided].instructions))
        if (place := view.place(decided, number)).file == begins.file
    ]
    if ends and max(ends) >= begins.line:
        yield begins.file, begins.line, max(ends)
