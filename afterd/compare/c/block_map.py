"""Which blocks and instructions of a function correspond to those of its other version.

Blocks are matched by their instructions and by their lines mapped through the changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import cache

from afterd.compare.c.block_matching import matched, shape_of, signature
from afterd.trace.c.ir.ir import Instruction
from afterd.trace.c.ir.recorded import pointer_of
from afterd.trace.c.read import FunctionView
from afterd.trace.linemap import LineMap, Reversed

_Kind = tuple[str, str]
_HOLDS = frozenset(
    {
        *("if.then", "land.lhs.true", "land.rhs", "lor.end", "cond.true"),
        *("for.body", "while.body", "do.body"),
    }
)
_FAILS = frozenset(
    {
        *("if.else", "if.end", "lor.lhs.false", "lor.rhs", "land.end", "cond.false"),
        *("for.end", "for.cond.cleanup", "while.end", "do.end"),
    }
)
"""Where clang goes on behind a condition, or a part of one, that holds or fails: ``!p`` swaps the sides of its test."""


class BlockMap:
    """Blocks of a function of the bad version ↔ blocks of the same function of the good one, ``good``."""

    def __init__(self, bad: FunctionView, good: FunctionView, lines: LineMap | Reversed) -> None:
        here = [signature(bad, b, lines, mapped=True) for b in range(len(bad.function.blocks))]
        there = [signature(good, b, lines, mapped=False) for b in range(len(good.function.blocks))]
        self.to_good = matched(here, there)
        # of two blocks here that are one there, the one that was matched first
        self.to_bad = {g: b for b, g in reversed(self.to_good.items())}
        self._bad, self.good, self._lines = bad, good, lines
        self._instructions = cache(self._corresponding)

    def unchanged(self, block: int, index: int) -> bool:
        """Whether an instruction is the same one in the aligned block, names aside."""
        number = self.instruction(block, index)
        if number < 0:
            return False
        here = self._bad.function.blocks[block].instructions[index]
        return shape_of(here) == shape_of(
            self.good.function.blocks[self.to_good[block]].instructions[number]
        )

    def same_way(self, branch: int, taken: int, other: int) -> bool | None:
        """Whether a branch, which went to ``taken``, and its like in the good version, which went to
        ``other``, went the same way. None where their text does not tell: neither went to what the
        other could have gone to (``if (a && b)`` goes to the test of b, ``found = a && b`` to its end).
        """
        good = self.good.flow.successors[self.to_good[branch]] if branch in self.to_good else ()
        if self.to_good.get(taken) in good:
            return self.to_good[taken] == other
        if self.to_bad.get(other) in self._bad.flow.successors[branch]:
            return self.to_bad[other] == taken
        return None

    def same_outcome(self, branch: int, taken: int, other: int) -> bool | None:
        """Whether the two went the same way, or else whether what they ask holds for both or for neither."""
        same = self.same_way(branch, taken, other)
        return self.same_answer(taken, other) if same is None else same

    def same_answer(self, taken: int, other: int) -> bool | None:
        """Whether what two branches ask holds for both, or for neither, by where they went; None where that is not
        told. ``!p || q`` goes on with its q where ``p == NULL`` goes on behind it: with p, neither holds.
        """
        here = _holds_at(self._bad.function.blocks[taken].label)
        there = _holds_at(self.good.function.blocks[other].label)
        return None if here is None or there is None else here == there

    def same_place(self, here: int, there: int) -> bool | None:
        """Whether a block and one of the good version are each other's like; None where both have none."""
        if here not in self.to_good and there not in self.to_bad:
            return None
        return self.to_good.get(here) == there

    def is_further_part(self, there: int) -> bool:
        """Whether a block of the good version only asks on: it has no like, is come to from one branch alone, stores
        nothing, and ends with a branch of its own.
        """
        instructions = self.good.function.blocks[there].instructions
        asks = instructions[-1].text.startswith("  br i1")
        stores = any(each.opcode == "store" for each in instructions)
        return asks and not stores and there not in self.to_bad and self._entries(there) == 1

    def _entries(self, there: int) -> int:
        """From how many blocks of the good version one is come to."""
        return sum(there in following for following in self.good.flow.successors)

    def instruction(self, block: int, index: int) -> int:
        """The instruction of the aligned block that corresponds to one of this block; -1 if there is no
        such block, or none in it.
        """
        return self._instructions(block)[index] if block in self.to_good else -1

    def _corresponding(self, block: int) -> list[int]:
        """The same for each instruction of a block.

        By place in blocks of one length, else by text, first on the same line: of two calls of ``puts``
        the one that was there. A store never to one that stores elsewhere, for ``made[*next++]``
        advances first and ``made[*next]; next++`` last. What was rewritten corresponds to what has its
        rank among those of its kind that are left, counted from the end.
        """
        mine = self._bad.function.blocks[block].instructions
        partner = self.to_good[block]
        other = self.good.function.blocks[partner].instructions
        here = [_kind(self._bad, each) for each in mine]
        there = [_kind(self.good, each) for each in other]
        if here == there:
            return list(range(len(mine)))
        texts = [
            [(shape_of(each), kind) for each, kind in zip(*side, strict=True)]
            for side in ((mine, here), (other, there))
        ]
        places = [
            [(*text, self._line(view, number, at)) for at, text in enumerate(side)]
            for view, number, side in zip(
                (self._bad, self.good), (block, partner), texts, strict=True
            )
        ]
        found = [-1] * len(mine)
        for alike in (places, texts):
            _match(found, *alike)
        return _by_rank(here, there, found)

    def _line(self, view: FunctionView, block: int, index: int) -> int:
        """The line of an instruction in the good version; 0 where that has none for it."""
        place = view.place(block, index)
        if view is self.good:
            return place.line
        kept = self._lines.is_kept(place.file, place.line)
        return self._lines.to_good(place.file, place.line)[1] if kept else 0


def _match(found: list[int], here: Sequence[object], there: Sequence[object]) -> None:
    """Fill what is left of ``found`` with the places of equal items in the same order."""
    mine = [at for at, other in enumerate(found) if other < 0]
    left = sorted(set(range(len(there))) - set(found))
    matcher = SequenceMatcher(
        None, [here[at] for at in mine], [there[at] for at in left], autojunk=False
    )
    for first, second, size in matcher.get_matching_blocks():
        for at in range(size):
            found[mine[first + at]] = left[second + at]


def _by_rank(here: Sequence[_Kind], there: Sequence[_Kind], found: Sequence[int]) -> list[int]:
    """What was found for each of ``here``; else the place in ``there`` of the same rank among those of
    its kind that are left, the last match.
    """
    left: dict[_Kind, list[int]] = {}
    for at in sorted(set(range(len(there))) - set(found)):
        left.setdefault(there[at], []).append(at)
    ranked = [
        at if at >= 0 or not left.get(kind) else left[kind].pop()
        for at, kind in zip(reversed(found), reversed(here), strict=True)
    ]
    return ranked[::-1]


def _holds_at(label: str) -> bool | None:
    """Whether what was asked holds where a block of this label is gone to; None where the label does not tell."""
    side = label.rstrip("0123456789")
    return side in _HOLDS if side in _HOLDS | _FAILS else None


def _kind(view: FunctionView, instruction: Instruction) -> _Kind:
    """The opcode, and what a store stores to: of two stores in one statement the order may change."""
    if instruction.opcode != "store":
        return instruction.opcode, ""
    pointer = pointer_of(instruction)
    place = view.definitions.get(pointer)
    if place is None or pointer in view.slot_names:
        return "store", view.slot_names.get(pointer, pointer)
    return "store", shape_of(view.function.blocks[place[0]].instructions[place[1]])
