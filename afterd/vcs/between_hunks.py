"""What two texts share: the runs of lines that lie between their hunks, and how much such lines weigh."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from afterd.vcs.hunks import Hunk

_LETTER = re.compile(rb"[0-9A-Za-z_]")


@dataclass(frozen=True, slots=True)
class Run:
    """``count`` lines that stand in both texts: from behind line ``old`` of one, and from behind line ``new``."""

    old: int
    new: int
    count: int

    @property
    def ends(self) -> tuple[int, int]:
        """The last line of it in each text."""
        return self.old + self.count, self.new + self.count


def runs_between(hunks: Sequence[Hunk], lengths: tuple[int, int]) -> Iterator[Run]:
    """What lies between the hunks of two texts of so many lines, before the first and behind the last one too."""
    old = new = 0
    for hunk in hunks:
        start = hunk.old.before
        if start > old:
            yield Run(old, new, start - old)
        new += start - old + hunk.new.count
        old = start + hunk.old.count
    if lengths[0] > old:
        yield Run(old, new, lengths[0] - old)


def letters_in(lines: Sequence[bytes]) -> int:
    """How many letters and digits the lines have: brackets make nothing another's child."""
    return sum(len(_LETTER.findall(line)) for line in lines)
