"""Which blocks of a function are those of its other version: by text, by line, by how they are left."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import SequenceMatcher

from afterd.trace.c.ir.ir import Instruction
from afterd.trace.c.read import FunctionView
from afterd.trace.linemap import LineMap, Reversed


def shape_of(instruction: Instruction) -> str:
    """An instruction without the names of its registers and without metadata."""
    text = instruction.text.split(", !dbg")[0].split(", !prof")[0].strip()
    text = text.split(" = ", 1)[1] if instruction.result else text
    return re.sub(
        r"@\.str[.\d]*", "@.str", re.sub(r"%(?!struct|union|class)[-a-zA-Z$._0-9]+", "%", text)
    )


@dataclass(frozen=True, slots=True)
class Signature:
    """A block's text; its first and last line in the good version, and which of them are unchanged."""

    shape: str
    lines: tuple[int, int]
    kept: tuple[bool, bool]

    def same_lines(self) -> object:
        """Its lines, where both are unchanged."""
        return self.lines if all(self.kept) else None

    def same_first_line(self) -> object:
        """Its first line, where that is unchanged."""
        return self.lines[0] if self.kept[0] else None

    def same_end(self) -> object:
        """Its end, where its last line is unchanged."""
        return self.end if self.kept[1] else None

    def same_text(self) -> object:
        """The text of a block that does more than go on to another."""
        return self.shape if "\n" in self.shape else None

    @property
    def end(self) -> tuple[str, int]:
        """How and where it is left: ``if (found)`` is the same branch where ``found`` is made otherwise."""
        return self.shape.rpartition("\n")[2], self.lines[1]


_ALIKE: tuple[Callable[[Signature], object], ...] = (
    Signature.same_lines,
    Signature.same_first_line,
    Signature.same_end,
    Signature.same_text,
    lambda block: block.lines,
    lambda block: block.lines[0],
    lambda block: block.end,
    lambda block: block.shape,
)
"""What makes blocks between equal ones correspond, the most telling first. In rewritten lines the text
comes before the place: a branch that was put into a new one is the same branch.
"""


def signature(
    view: FunctionView, block: int, lines: LineMap | Reversed, *, mapped: bool
) -> Signature:
    """The signature of a block; ``mapped``: it is of the bad version, its lines are those of the good one."""
    instructions = view.function.blocks[block].instructions
    shape = "\n".join(shape_of(i) for i in instructions)
    first, last = view.place(block, 0), view.place(block, len(instructions) - 1)
    if not mapped:
        return Signature(shape, (first.line, last.line), (True, True))
    there = [lines.to_good(place.file, place.line)[1] for place in (first, last)]
    kept = [lines.is_kept(place.file, place.line) for place in (first, last)]
    return Signature(shape, (there[0], there[1]), (kept[0], kept[1]))


def matched(here: list[Signature], there: list[Signature]) -> dict[int, int]:
    """Equal blocks in order first; between them those that are alike. Last, a branch that stands in
    several blocks here and in one there, as the text before it was rewritten; not that line itself.
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
            left = _pair_by(
                pairs, {b: alike(here[b]) for b in left[0]}, {g: alike(there[g]) for g in left[1]}
            )
    if 0 not in pairs:
        pairs[0] = 0
    ends: dict[tuple[str, int], list[int]] = {}
    for block, known in enumerate(there):
        ends.setdefault(known.end, []).append(block)
    for block, left_over in enumerate(here):
        found = ends.get(left_over.end, [])
        if block not in pairs and _decides(left_over) and len(found) == 1:
            pairs[block] = found[0]
    return pairs


def _decides(block: Signature) -> bool:
    return block.kept[1] and block.end[0].startswith(("br i1", "switch"))


def _pair_by(
    pairs: dict[int, int], bad: dict[int, object], good: dict[int, object]
) -> tuple[list[int], list[int]]:
    """Pair the blocks of which the same is told, but for None, in order; what is left of both."""
    free: dict[object, list[int]] = {}
    for block, told in reversed(good.items()):
        free.setdefault(told, []).append(block)
    found = {
        block: free[told].pop()
        for block, told in bad.items()
        if told is not None and free.get(told)
    }
    pairs.update(found)
    taken = set(found.values())
    return [b for b in bad if b not in found], [g for g in good if g not in taken]
