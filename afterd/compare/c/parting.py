"""Where a branch that runs again and again first went another way than in the green run.

The loop of an interpreter takes its thousandth round because it took all before. Once a round went
another way, the rounds after it are compared with rounds that did something else, and say nothing:
the branch went wrong in the first round that differs.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from afterd.compare.c.alignment import Alignment
from afterd.model.term import StepId
from afterd.trace.c.read import Instance, Process, Statement
from afterd.trace.c.window import records
from afterd.trace.c.window.recording import Recording

Positions = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
_GONE = np.iinfo(np.int64).max
"""Where a branch of the failing run went that the good version does not have."""


class Partings:
    """The first differing executions of the branches of one process in its two runs."""

    def __init__(self, bad: Process, green: Process, alignment: Alignment) -> None:
        self._bad, self._green = bad, green
        self._alignment = alignment
        self._of_site = cache(self._of_site_uncached)

    def first(self, step: StepId) -> StepId | None:
        """The first execution of the branch of ``step`` that went another way than green's.

        None where that cannot be told: a window that begins later in one run than in the other,
        calls within the branch's block.
        """
        statement = self._bad.statements.statement(step)
        if statement.instance is None:
            return None
        instance = statement.instance
        number = statement.instruction if statement.called else -1
        place = self._of_site(instance.view.executions(instance.block), number, instance)
        return self._step(statement, place) if place >= 0 else None

    def _of_site_uncached(self, _block: int, number: int, instance: Instance) -> int:
        """The position of the first execution of a site that differs; -1 where none is known."""
        blocks = self._alignment.blocks(instance.view)
        found = self._alignment.instance(instance).instance
        if blocks is None or found is None or not self._complete(instance, found):
            return -1
        if number >= 0:
            other = blocks.instruction(instance.block, number)
            here = _calls(self._bad, instance, number)
            there = _calls(self._green, found, other) if other >= 0 else None
        else:
            here = _turns(self._bad, instance, blocks.to_good)
            there = _turns(self._green, found, None)
        if here is None or there is None:
            return -1
        shared = min(len(here[1]), len(there[1]))
        differs = np.flatnonzero(here[1][:shared] != there[1][:shared])
        if not len(differs):
            return -1
        mine, partner = (int(run[0][differs[0]]) for run in (here, there))
        return mine if self._correspond(mine, partner) else -1

    def _complete(self, here: Instance, there: Instance) -> bool:
        """Whether both windows begin with the same execution of the block."""
        before = [
            process.recording.before_window(at.view.numbered.first.blocks + at.block)
            for process, at in ((self._bad, here), (self._green, there))
        ]
        return before[0] == before[1]

    def _correspond(self, mine: int, other: int) -> bool:
        here, there = self._bad.frames.instance(mine), self._green.frames.instance(other)
        found = self._alignment.instance(here).instance if here else None
        return found is not None and there is not None and found.position == there.position

    def _step(self, statement: Statement, place: int) -> StepId | None:
        """The branch step of an execution: the record of what it entered."""
        frames = self._bad.frames
        if statement.called:
            entered = frames.entered(place)
            return self._bad.ids.of(entered.position) if entered else None
        instance = frames.instance_at(place)
        taken = frames.taken(instance) if instance else -1
        return self._bad.ids.of(taken) if taken >= 0 else None


def _calls(process: Process, instance: Instance, number: int) -> tuple[Positions, Words] | None:
    """The CALL records of a call through a pointer, and a number for the function each went to."""
    places = instance.view.sites
    site = next((s for s, at in places.items() if at == (instance.block, number)), None)
    if site is None:
        return None
    window = process.recording.window
    at = _in_window(
        process.recording, records.ANY_DEPTH, records.identified_tag_word(records.CALL, site)
    )
    addresses, which = np.unique(window.b[at], return_inverse=True)
    names = [hash(process.symbols.function(int(address))) for address in addresses]
    return at + window.first, np.asarray(names, dtype=np.int64)[which].astype(np.uint64)


def _turns(
    process: Process, instance: Instance, to_good: dict[int, int] | None
) -> tuple[Positions, Words] | None:
    """The records of a block's executions, and the block of the good version that each went to.

    None where the block was left by a call: what it went to stands after all that the call did.
    """
    window = process.recording.window
    word = instance.view.executions(instance.block)
    at = _in_window(process.recording, records.ANY_DEPTH, word)
    any_block = records.BLOCK << records.TAG_SHIFT
    blocks = _in_window(process.recording, records.ANY_BLOCK, any_block)
    after = np.searchsorted(blocks, at, side="right")
    at, after = at[after < len(blocks)], after[after < len(blocks)]
    following = blocks[after]
    if (window.depth[following] > window.depth[at]).any():
        return None
    entered = (window.a[following] >> np.uint64(records.ID_SHIFT)) & np.uint64(records.ID_MASK)
    mine = entered.astype(np.int64) - instance.view.numbered.first.blocks
    if to_good is not None:
        known, which = np.unique(mine, return_inverse=True)
        mine = np.asarray([to_good.get(int(b), _GONE) for b in known], dtype=np.int64)[which]
    return at + window.first, mine.astype(np.uint64)


def _in_window(recording: Recording, mask: int, wanted: int) -> Positions:
    """Where in the window's columns the records are whose masked first word is ``wanted``."""
    return recording.positions(recording.first, recording.end, mask, wanted) - recording.first
