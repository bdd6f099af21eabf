"""Which block instance of the green run corresponds to one of the failing run.

An instance is found again by its execution index (Xin, Sumner and Zhang, PLDI 2008): the call path to
its activation, then the iteration of every loop around it. Blocks of a function are matched by their
instructions and by their lines mapped through the changes.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from afterd.compare.c import rounds
from afterd.compare.c.block_map import BlockMap
from afterd.compare.c.function_pairs import FunctionPairs
from afterd.compare.c.siblings import sibling
from afterd.limits import C_PAIR
from afterd.trace.c.ir.recorded import callee
from afterd.trace.c.read import Frames, FunctionView, Instance
from afterd.trace.c.window import records
from afterd.trace.linemap import LineMap, Reversed

_WHOLE = (1 << 64) - 1


Caller = tuple[Instance, int, int]
"""What began an activation: an instance, its call instruction's index, the CALL record."""


@dataclass(frozen=True, slots=True)
class Found:
    """The aligned instance; ``None`` with ``absent`` True when green did not execute it there."""

    instance: Instance | None
    absent: bool = False


UNKNOWN = Found(None)
ABSENT = Found(None, absent=True)


def _path(instance: Instance) -> list[int]:
    """The loop headers around a block, outermost first, and the block itself."""
    headers = list(instance.view.flow.headers[instance.block])
    return headers if headers and headers[-1] == instance.block else [*headers, instance.block]


def _count(frames: Frames, view: FunctionView, block: int) -> int:
    """How often a block was executed in the whole run."""
    counts = frames.recording.counts()
    number = view.numbered.first.blocks + block
    return int(counts[number]) if number < len(counts) else 0


def _entered_once(frames: Frames, view: FunctionView) -> bool:
    """Whether a function was entered exactly once in the whole run."""
    return _executed_once(frames, view, 0)


def _executed_once(frames: Frames, view: FunctionView, block: int) -> bool:
    """Whether a block was executed exactly once in the whole run."""
    return _count(frames, view, block) == 1


def _in_turn(entry: int, here: list[int], there: list[int]) -> int:
    """The one of ``there`` that has the rank of an entry in ``here``; -1 where they are not as many."""
    return there[here.index(entry)] if entry in here and len(here) == len(there) else -1


class Alignment:
    """Instances of the failing run ↔ instances of the green run of the same process."""

    def __init__(self, bad: Frames, green: Frames, lines: LineMap | Reversed) -> None:
        self.bad, self.green, self._lines = bad, green, lines
        self.functions = FunctionPairs(
            bad.program, green.program, lines, lambda view: _count(green, view, 0) > 0
        )
        self._blocks: dict[FunctionView, BlockMap] = {}
        self.instance = cache(self._instance)
        self._entries: dict[int, tuple[int, bool]] = {}
        self._by_flow: set[int] = set()
        self._open: dict[int, int] = {}
        self._by_dispatch: dict[tuple[int, int, int], npt.NDArray[np.int64]] = {}
        self._positions: dict[tuple[int, int, int], npt.NDArray[np.int64]] = {}

    def counterpart(self, view: FunctionView) -> FunctionView | None:
        """The same function of the good version, as far as is known by now."""
        return self.functions.of(view)

    def blocks(self, view: FunctionView) -> BlockMap | None:
        """The blocks of a function in both versions."""
        if view not in self._blocks:
            other = self.counterpart(view)
            if other is None:
                return None
            self._blocks[view] = BlockMap(view, other, self._lines)
        return self._blocks[view]

    def _instance(self, instance: Instance) -> Found:
        """The aligned instance of a block instance of the failing run."""
        if self.counterpart(instance.view) is None:
            self._entry(instance.position)  # the call that began it may tell
        other = self.counterpart(instance.view)
        blocks = self.blocks(instance.view)
        if other is None or blocks is None or instance.block not in blocks.to_good:
            return ABSENT
        partner = blocks.to_good[instance.block]
        once = _executed_once(self.bad, instance.view, instance.block)
        once = once and _executed_once(self.green, other, partner)
        alone = once and self._is_told_by_itself(instance, other)
        known = self._only_execution(other, partner, instance.depth) if alone else UNKNOWN
        if known is UNKNOWN:
            known = self._in_its_activation(instance, other, blocks)
        if known is UNKNOWN and alone:
            return self._before_the_window(other, partner, instance.depth)
        return known

    def _is_told_by_itself(self, instance: Instance, other: FunctionView) -> bool:
        """Whether a block that ran once corresponds wherever it is: other activations may have gone past it."""
        entered = _entered_once(self.bad, instance.view) and _entered_once(self.green, other)
        return entered or self._entry(instance.position)[0] < 0

    def _in_its_activation(
        self, instance: Instance, other: FunctionView, blocks: BlockMap
    ) -> Found:
        """By the call path to the activation, and the loops in it."""
        entry, absent = self._entry(instance.position)
        mine = self.bad.entry(instance.position)
        if mine < 0:
            return self._counted(instance, other, blocks)
        if entry < 0:
            return ABSENT if absent else UNKNOWN
        return self._followed(instance, other, blocks, _path(instance), mine, entry)

    def _followed(
        self,
        instance: Instance,
        other: FunctionView,
        blocks: BlockMap,
        path: list[int],
        mine: int,
        start: int,
    ) -> Found:
        """Follow the loop headers around the block, each to the same iteration, then the block."""
        depth = self.green.recording.depth_at(start)
        limit, in_round = self.green.end(start), False
        around = other.flow.headers[blocks.to_good[path[-1]]] if path[-1] in blocks.to_good else ()
        for block in path:
            if block not in blocks.to_good:
                return UNKNOWN
            here = self._executions(self.bad, instance.view, block, instance.depth, mine)
            low, high = np.searchsorted(here, [mine, instance.position + 1])
            if high <= low:
                return UNKNOWN
            there = self._executions(self.green, other, blocks.to_good[block], depth, start)
            first, last = np.searchsorted(there, [start, limit])
            places = self._rounds(instance.view, blocks, block, here[low:], there[first:last])
            at = int(high - low) - 1 if places is None else int(places[high - low - 1])
            if at == rounds.UNKNOWN:
                return UNKNOWN
            if at == rounds.NOWHERE or first + at >= last:
                return UNKNOWN if self._is_cut(start) and not in_round else ABSENT
            mine, start = int(here[high - 1]), int(there[first + at])
            if first + at + 1 < last and blocks.to_good[block] in around:
                limit = int(there[first + at + 1])  # the round ends with the next one
                in_round = True
        return Found(self.green.instance_at(start))

    def _rounds(
        self,
        view: FunctionView,
        blocks: BlockMap,
        header: int,
        here: npt.NDArray[np.int64],
        there: npt.NDArray[np.int64],
    ) -> npt.NDArray[np.int64] | None:
        """Green's round for each of an interpreter's loop; None of other loops: the n-th is the n-th.

        ``here`` begins with the first round, and may go on past the activation.
        """
        chosen = rounds.dispatching(view, header)
        if chosen not in blocks.to_good or not len(there):
            return None
        key = (view.executions(header), int(here[0]), int(there[0]))
        if key not in self._by_dispatch:
            end = self.bad.end(int(here[0]))
            here = here[: np.searchsorted(here, end)]
            mine = rounds.dispatched_blocks(self.bad, view, chosen, here, end)
            good, limit = blocks.good, self.green.end(int(there[0]))
            other = rounds.dispatched_blocks(self.green, good, blocks.to_good[chosen], there, limit)
            self._by_dispatch[key] = rounds.corresponding_places(
                rounds.as_in_good(mine, blocks.to_good), other
            )
        return self._by_dispatch[key]

    def _counted(self, instance: Instance, other: FunctionView, blocks: BlockMap) -> Found:
        """An activation that began before the window: the iterations of its outermost loop are counted."""
        outer, *inner = _path(instance)
        depth = self._open_at(instance, other)
        if depth < 0 or outer not in blocks.to_good or instance.position < self.bad.recording.first:
            return UNKNOWN
        here = self._executions(self.bad, instance.view, outer, instance.depth)
        there = self._executions(self.green, other, blocks.to_good[outer], depth)
        earlier = self._earlier(self.bad, instance.view, outer, instance.depth)
        theirs = self._earlier(self.green, other, blocks.to_good[outer], depth)
        inside = int(np.searchsorted(here, instance.position + 1))
        if earlier is None or theirs is None or not earlier + inside:
            return UNKNOWN
        at = earlier + inside - 1 - theirs
        if at < 0:
            return UNKNOWN
        if at >= len(there):
            return ABSENT
        start = int(there[at])
        if not inner:
            return Found(self.green.instance_at(start))
        mine = int(here[inside - 1]) if inside else -1
        return self._followed(instance, other, blocks, inner, mine, start) if mine >= 0 else UNKNOWN

    def _open_at(self, instance: Instance, other: FunctionView) -> int:
        """The call depth at which green has the same open activation; -1 where that is not known.

        It is the same one where each run entered the function once, or where the data flow says so.
        """
        if _entered_once(self.bad, instance.view) and _entered_once(self.green, other):
            return instance.depth
        return self._open.get(instance.depth, -1)

    def _earlier(self, frames: Frames, view: FunctionView, block: int, depth: int) -> int | None:
        """How often a block was executed before the window, by the activation that is open at a depth."""
        if _entered_once(frames, view):
            return frames.recording.before_window(view.numbered.first.blocks + block)
        return frames.recording.earlier_executions(view.executions(block) | depth)

    def _only_execution(self, other: FunctionView, block: int, depth: int) -> Found:
        """A block that each run executed once, wherever it was recorded."""
        recording, word = self.green.recording, other.executions(block) | depth
        for part in recording.segments:
            at = recording.last(part.end, part.first, _WHOLE, word)
            if at >= 0:
                return Found(self.green.instance_at(at))
        return UNKNOWN

    def _before_the_window(self, other: FunctionView, block: int, depth: int) -> Found:
        """The same, by running again."""
        recording = self.green.recording
        at = recording.earlier(recording.end, _WHOLE, other.executions(block) | depth, depth)
        return Found(self.green.instance_at(at)) if at >= 0 else UNKNOWN

    def pair(self, mine: int, other: int) -> None:
        """Take two records for corresponding ones: their activations, and those that called them,
        belong together as far as the functions are the same.

        The data flow from the failed assertion knows such pairs where loops or calls were rewritten
        and no execution index can be followed (a dynamic dual slice; Weeratunge et al., ISSTA 2011).
        """
        here, there = self.bad.entry(mine), self.green.entry(other)
        for _ in range(C_PAIR.aligned):
            if here < 0 and there < 0:
                self._pair_open(mine, other)
            if here < 0 or there < 0 or self._entry(here)[0] >= 0:
                return
            first, second = self.bad.instance_at(here), self.green.instance_at(there)
            if first is None or second is None or self.counterpart(first.view) is not second.view:
                return
            self._entries[here] = (there, False)
            self._by_flow.add(here)
            self.instance.cache_clear()
            above, beyond = self.bad.caller(here), self.green.caller(there)
            if above is None or beyond is None:
                return
            mine, other = above[2], beyond[2]
            here, there = self.bad.entry(mine), self.green.entry(other)

    def _pair_open(self, mine: int, other: int) -> None:
        """The same for two activations that began before the windows, and are still open in them."""
        first, second = self.bad.instance(mine), self.green.instance(other)
        in_windows = mine >= self.bad.recording.first and other >= self.green.recording.first
        if first is None or second is None or not in_windows or first.depth in self._open:
            return
        if self.counterpart(first.view) is second.view:
            self._open[first.depth] = second.depth
            self.instance.cache_clear()

    def entry(self, position: int) -> int:
        """The green ENTER record of the activation that a record belongs to; -1 if none is known."""
        return self._entry(position)[0]

    def is_indexed(self, position: int) -> bool:
        """Whether the activation of a record was aligned by its execution index all the way."""
        if self.entry(position) < 0:
            return False
        entry = self.bad.entry(position)
        for _ in range(C_PAIR.aligned):
            if entry < 0 or not self._by_flow:
                break
            if entry in self._by_flow:
                return False
            caller = self.bad.caller(entry)
            entry = self.bad.entry(caller[2]) if caller else -1
        return True

    def _is_cut(self, position: int) -> bool:
        """Whether the green activation of a record goes on where no records were kept."""
        recording = self.green.recording
        entry = self.green.entry(position)
        end = recording.end_of(position)
        return end < recording.end and self.green.end(entry if entry >= 0 else position) == end

    def _executions(
        self, frames: Frames, view: FunctionView, block: int, depth: int, near: int | None = None
    ) -> npt.NDArray[np.int64]:
        """Every execution of a block at a call depth in the segment of ``near``; None: the window.

        Jq behind a long input: the green run went on, for longer than its window, after what
        corresponds to the failure, and all of that is in the segment of a repeated run.
        """
        word = view.executions(block) | depth
        recording = frames.recording
        start = recording.first if near is None else recording.start_of(near + 1)
        end = recording.end if near is None else recording.end_of(near)
        key = (id(frames), word, start)
        if key not in self._positions:
            self._positions[key] = recording.positions(start, end, _WHOLE, word)
        return self._positions[key]

    def _entry(self, position: int) -> tuple[int, bool]:
        """The green ENTER record of the activation a record belongs to; (-1, absent) if none."""
        chain: list[int] = []
        entry = self.bad.entry(position)
        while entry >= 0 and entry not in self._entries and len(chain) < C_PAIR.aligned:
            chain.append(entry)
            caller = self.bad.caller(entry)
            entry = self.bad.entry(caller[2]) if caller else -1
        for one in reversed(chain):
            self._entries[one] = self._aligned_entry(one)
        mine = self.bad.entry(position)
        return self._entries.get(mine, (-1, False))

    def _aligned_entry(self, entry: int) -> tuple[int, bool]:
        caller = self.bad.caller(entry)
        if caller is None:
            return self._outermost(entry)
        mine = self.bad.entry(caller[2])
        if self._is_new(caller):
            at, absent = self._sibling(entry, mine), True
        else:
            at, absent = self._by_site(entry, caller)
        if at < 0:
            is_out = self.counterpart(caller[0].view) is None
            at = self._taken_out(entry, mine) if is_out else self._taken_in(entry, mine)
        return at, at < 0 and absent

    def _is_new(self, caller: Caller) -> bool:
        """Whether the good version has nothing for a call instruction of a function that it has."""
        instance, index, _ = caller
        blocks = self.blocks(instance.view)
        return blocks is not None and blocks.instruction(instance.block, index) < 0

    def _by_site(self, entry: int, caller: Caller) -> tuple[int, bool]:
        """The activation that the corresponding call instruction began."""
        instance, index, call = caller
        found = self.instance(instance)
        blocks = self.blocks(instance.view)
        if found.instance is None or blocks is None:
            return -1, found.absent
        there = self.green.record_of(found.instance, blocks.instruction(instance.block, index))
        if there < 0 or self.green.recording.tag(there) != records.CALL:
            return -1, there < 0
        at = self._callback(entry, call, there)
        return at, at < 0 and not self._is_cut(there)

    def _sibling(self, entry: int, mine: int) -> int:
        """The activation for one that a new call began, among those that its caller's began."""
        start = self._entries.get(mine, (-1, False))[0]
        called = self.bad.instance_at(entry)
        other = self.counterpart(called.view) if called else None
        if start < 0 or called is None or other is None:
            return -1
        here = self._within(self.bad, called.view, mine)
        there = self._within(self.green, other, start)
        partner = cache(self._partner)
        return sibling(bisect_left(here, entry), here, there, partner)

    def _partner(self, entry: int) -> int:
        """The activation that the corresponding call began; -1 where that is not known."""
        caller = self.bad.caller(entry)
        known = caller is not None and not self._is_new(caller)
        return self._by_site(entry, caller)[0] if caller and known else -1

    def _taken_in(self, entry: int, mine: int) -> int:
        """The activation for one of which the caller does itself what it did through a function that is no more."""
        called, start = self.bad.instance_at(entry), self._entries.get(mine, (-1, False))[0]
        other = self.counterpart(called.view) if called else None
        if start < 0 or called is None or other is None:
            return -1
        callers = {at: self.green.caller(at) for at in self._few(self.green, other, start, 2)}
        gone = [
            at
            for at, caller in callers.items()
            if caller and not self.bad.program.has(caller[0].view.name)
        ]
        here = self._few(self.bad, called.view, mine, 1) if gone else []
        return _in_turn(entry, [at for at in here if self._partner(at) < 0], gone)

    def _taken_out(self, entry: int, through: int) -> int:
        """The activation for one that is begun through a new function, of the caller that began it itself."""
        called, new = self.bad.instance_at(entry), self.bad.caller(through)
        mine = self.bad.entry(new[2]) if new else -1
        start = self._entry(mine)[0] if mine >= 0 else -1
        other = self.counterpart(called.view) if called else None
        if start < 0 or called is None or other is None:
            return -1
        direct = self._few(self.green, other, start, 1)
        there = [at for at in direct if not self._is_called_still(at, mine)]
        callers = {at: self.bad.caller(at) for at in self._few(self.bad, called.view, mine, 2)}
        here = [
            at for at, each in callers.items() if each and self.counterpart(each[0].view) is None
        ]
        return _in_turn(entry, here, there)

    def _is_called_still(self, there: int, mine: int) -> bool:
        """Whether what began an activation of green's stands in the caller's other version."""
        calling, above = self.green.caller(there), self.bad.instance_at(mine)
        blocks = self.blocks(above.view) if above else None
        if calling is None or above is None or blocks is None:
            return True
        instance, index, _ = calling
        block = blocks.to_bad.get(instance.block, -1)
        calls = above.view.function.blocks[block].instructions if block >= 0 else ()
        name = callee(instance.instructions[index])
        return any(
            blocks.instruction(block, number) == index and callee(each) == name
            for number, each in enumerate(calls)
        )

    def _few(self, frames: Frames, view: FunctionView, entry: int, below: int) -> list[int]:
        """The entries of a function so many calls below an activation; none where these are many."""
        found = self._within(frames, view, entry, below)
        return found if len(found) <= C_PAIR.siblings else []

    def _within(self, frames: Frames, view: FunctionView, entry: int, below: int = 1) -> list[int]:
        """The entries of a function so many calls below an activation."""
        depth = frames.recording.depth_at(entry)
        every = self._executions(frames, view, 0, depth + below, entry)
        low, high = np.searchsorted(every, [entry, frames.end(entry)])
        return [int(at) for at in every[low:high]]

    def _only(self, other: FunctionView, depth: int) -> tuple[int, bool]:
        there = self._executions(self.green, other, 0, depth)
        return (int(there[0]), False) if len(there) == 1 else (-1, False)

    def _callback(self, entry: int, call: int, there: int) -> int:
        """The activation that a call began: the n-th where external code called back several times."""
        mask = records.TAG | records.DEPTH_MASK
        here_depth, there_depth = (
            self.bad.recording.depth_at(entry),
            self.green.recording.depth_at(there) + 1,
        )
        rank = self.bad.recording.count(
            call, entry, mask, records.ENTER << records.TAG_SHIFT | here_depth
        )
        limit = self.green.returned(there)
        end = limit if limit >= 0 else self.green.recording.end_of(there)
        wanted = records.ENTER << records.TAG_SHIFT | there_depth
        if rank == 0:
            at = self.green.recording.next(there + 1, min(end, there + 2), mask, wanted)
            at = at if at >= 0 else self.green.recording.next(there + 1, end, mask, wanted)
        else:
            found = self.green.recording.positions(there + 1, end, mask, wanted)
            at = int(found[rank]) if rank < len(found) else -1
        if at < 0:
            return -1
        mine, other = self.bad.instance_at(entry), self.green.instance_at(at)
        if mine is None or other is None:
            return -1
        same = mine.view.name == other.view.name or self.functions.meet(mine.view, other.view)
        return at if same else -1

    def _outermost(self, entry: int) -> tuple[int, bool]:
        """Functions that no traced code called (main, constructors, handlers): the n-th such of its name."""
        mine = self.bad.instance_at(entry)
        other = self.counterpart(mine.view) if mine else None
        if mine is None or other is None:
            return -1, False
        if self.bad.recording.first or self.green.recording.first:
            return (
                (-1, False)
                if not _entered_once(self.bad, mine.view)
                else self._only(other, mine.depth)
            )
        here = self._executions(self.bad, mine.view, 0, mine.depth)
        there = self._executions(self.green, other, 0, mine.depth)
        rank = int(np.searchsorted(here, entry))
        return (int(there[rank]), False) if rank < len(there) else (-1, True)
