"""Which blocks and instructions of a function correspond to those of its other version.

Blocks are matched by their instructions and by their lines mapped through the changes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache

from afterd.tracing.linemap import LineMap, Reversed
from afterd.tracing.llvm.ir import Instruction
from afterd.tracing.llvm.program import FunctionView
from afterd.tracing.llvm.recorded import pointer_of

_Kind = tuple[str, str]


class BlockMap:
    """Blocks of a function of the bad version ↔ blocks of the same function of the good one."""

    def __init__(self, bad: FunctionView, good: FunctionView, lines: LineMap | Reversed) -> None:
        here = [_signature(bad, b, lines, mapped=True) for b in range(len(bad.function.blocks))]
        there = [_signature(good, b, lines, mapped=False) for b in range(len(good.function.blocks))]
        self.to_good = _matched(here, there)
        # of two blocks here that are one there, the one that was matched first
        self.to_bad = {g: b for b, g in reversed(self.to_good.items())}
        self._bad, self._good, self._lines = bad, good, lines
        self._instructions = cache(self._corresponding)

    def unchanged(self, block: int, index: int) -> bool:
        """Whether an instruction is the same one in the aligned block, names aside."""
        number = self.instruction(block, index)
        if number < 0:
            return False
        here = self._bad.function.blocks[block].instructions[index]
        return _shape(here) == _shape(
            self._good.function.blocks[self.to_good[block]].instructions[number]
        )

    def same_way(self, branch: int, taken: int, other: int) -> bool | None:
        """Whether a branch, which went to ``taken``, and its like in the good version, which went to
        ``other``, went the same way. None where their text does not tell: neither went to what the
        other could have gone to (``if (a && b)`` goes to the test of b, ``found = a && b`` to its end).
        """
        good = self._good.flow.successors[self.to_good[branch]] if branch in self.to_good else ()
        if self.to_good.get(taken) in good:
            return self.to_good[taken] == other
        if self.to_bad.get(other) in self._bad.flow.successors[branch]:
            return self.to_bad[other] == taken
        return None

    def instruction(self, block: int, index: int) -> int:
        """The instruction of the aligned block that corresponds to one of this block; -1 if none."""
        return self._instructions(block)[index]

    def _corresponding(self, block: int) -> list[int]:
        """The same for each instruction of a block.

        By place in blocks of one length, else by text, first on the same line: of two calls of ``puts``
        the one that was there. A store never to one that stores elsewhere, for ``made[*next++]``
        advances first and ``made[*next]; next++`` last. What was rewritten corresponds to what has its
        rank among those of its kind that are left, counted from the end.
        """
        mine = self._bad.function.blocks[block].instructions
        partner = self.to_good[block]
        other = self._good.function.blocks[partner].instructions
        here = [_kind(self._bad, each) for each in mine]
        there = [_kind(self._good, each) for each in other]
        if here == there:
            return list(range(len(mine)))
        texts = [
            [(_shape(each), kind) for each, kind in zip(*side, strict=True)]
            for side in ((mine, here), (other, there))
        ]
        places = [
            [(*text, self._line(view, number, at)) for at, text in enumerate(side)]
            for view, number, side in zip(
                (self._bad, self._good), (block, partner), texts, strict=True
            )
        ]
        found = [-1] * len(mine)
        for alike in (places, texts):
            _match(found, *alike)
        return _by_rank(here, there, found)

    def _line(self, view: FunctionView, block: int, index: int) -> int:
        """The line of an instruction in the good version; 0 where that has none for it."""
        place = view.place(block, index)
        if view is self._good:
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


def _kind(view: FunctionView, instruction: Instruction) -> _Kind:
    """The opcode, and what a store stores to: of two stores in one statement the order may change."""
    if instruction.opcode != "store":
        return instruction.opcode, ""
    pointer = pointer_of(instruction)
    place = view.definitions.get(pointer)
    if place is None or pointer in view.slot_names:
        return "store", view.slot_names.get(pointer, pointer)
    return "store", _shape(view.function.blocks[place[0]].instructions[place[1]])


def _shape(instruction: Instruction) -> str:
    """An instruction without the names of its registers and without metadata."""
    text = instruction.text.split(", !dbg")[0].split(", !prof")[0].strip()
    text = text.split(" = ", 1)[1] if instruction.result else text
    return re.sub(
        r"@\.str[.\d]*", "@.str", re.sub(r"%(?!struct|union|class)[-a-zA-Z$._0-9]+", "%", text)
    )


@dataclass(frozen=True, slots=True)
class _Signature:
    """A block's text; its first and last line in the good version, and which of them are unchanged."""

    shape: str
    lines: tuple[int, int]
    kept: tuple[bool, bool]

    def same_lines(self) -> object:
        return self.lines if all(self.kept) else None

    def same_first_line(self) -> object:
        return self.lines[0] if self.kept[0] else None

    def same_end(self) -> object:
        return self.end if self.kept[1] else None

    def same_text(self) -> object:
        """The text of a block that does more than go on to another."""
        return self.shape if "\n" in self.shape else None

    @property
    def end(self) -> tuple[str, int]:
        """How and where it is left: ``if (found)`` is the same branch where ``found`` is made otherwise."""
        return self.shape.rpartition("\n")[2], self.lines[1]


_ALIKE: tuple[Callable[[_Signature], object], ...] = (
    _Signature.same_lines,
    _Signature.same_first_line,
    _Signature.same_end,
    _Signature.same_text,
    lambda block: block.lines,
    lambda block: block.lines[0],
    lambda block: block.end,
    lambda block: block.shape,
)
"""What makes blocks between equal ones correspond, the most telling first. In rewritten lines the text
comes before the place: a branch that was put into a new one is the same branch.
"""


def _signature(
    view: FunctionView, block: int, lines: LineMap | Reversed, *, mapped: bool
) -> _Signature:
    instructions = view.function.blocks[block].instructions
    shape = "\n".join(_shape(i) for i in instructions)
    first, last = view.place(block, 0), view.place(block, len(instructions) - 1)
    if not mapped:
        return _Signature(shape, (first.line, last.line), (True, True))
    there = [lines.to_good(place.file, place.line)[1] for place in (first, last)]
    kept = [lines.is_kept(place.file, place.line) for place in (first, last)]
    return _Signature(shape, (there[0], there[1]), (kept[0], kept[1]))


def _matched(here: list[_Signature], there: list[_Signature]) -> dict[int, int]:
    """Equal blocks in order first; between them those that are alike. Last, a branch that stands in
    several blocks here and in one there, as the text before it was rewritten.
    """
    pairs: dict[int, int] = {}
    mine, other = ([(s.shape, s.lines) for s in side] for side in (here, there))
    matcher = SequenceMatcher(None, mine, other, autojunk=False)
    for tag, b1, b2, g1, g2 in matcher.get_opcodes():
        if tag == "equal":
            pairs.update(zip(range(b1, b2), range(g1, g2), strict=True))
            continue
        left = list(range(b1, b2)), list(range(g1, g2))
        for alike in _ALIKE:
            left = _pair_by(pairs, *left, [alike(s) for s in here], [alike(s) for s in there])
    if 0 not in pairs:
        pairs[0] = 0
    ends: dict[tuple[str, int], list[int]] = {}
    for block, signature in enumerate(there):
        ends.setdefault(signature.end, []).append(block)
    for block, signature in enumerate(here):
        found = ends.get(signature.end, [])
        if block not in pairs and _decides(signature) and len(found) == 1:
            pairs[block] = found[0]
    return pairs


def _decides(signature: _Signature) -> bool:
    return signature.end[0].startswith(("br i1", "switch"))


def _pair_by(
    pairs: dict[int, int],
    bad: list[int],
    good: list[int],
    here: Sequence[object],
    there: Sequence[object],
) -> tuple[list[int], list[int]]:
    """Pair the blocks that are equal and not None in order; what is left of both."""
    free, left = list(good), list[int]()
    for block in bad:
        match = next((g for g in free if there[g] == here[block] is not None), None)
        if match is None:
            left.append(block)
        else:
            pairs[block] = match
            free.remove(match)
    return left, free
