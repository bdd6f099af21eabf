"""What the techniques ask of a program, whatever its language."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from statistics import fmean
from typing import Protocol

from afterd.logic import Branch, ProgramFormula


class Subject(Protocol):
    """One failing input. Each formula may raise TooLargeError."""

    def on_demand(self, explored: Collection[Branch], /) -> ProgramFormula:
        """The failing path, and the sides that are asked for."""
        ...

    def all_paths(self, most: int = 0, /) -> ProgramFormula:
        """Every path up to the bounds; or those of what is looked back over, where they have no more than so
        many instructions.
        """
        ...

    def paths_leaving_once(self) -> ProgramFormula:
        """The paths that leave the run's way and do not leave it again before they are back, of what is looked
        back over: far fewer than all where there are loops, calls and recursion.
        """
        ...

    def trace(self) -> ProgramFormula:
        """The failing path alone."""
        ...

    def force_less(self) -> bool:
        """Force no side from now on but those that are asked for; False if that is so already."""
        ...

    def doubt_premises(self) -> bool:
        """What makes numbers of the input may be wrong, too, from now on, and what no statement has written;
        False if nothing more is in doubt.
        """
        ...

    def windows(self) -> Sequence[int]:
        """How much of the run's end a formula may be about, the least first; a short run is asked for
        whole. May raise TooLargeError.
        """
        ...

    def extent(self) -> int:
        """How long the run is until what it shows is wrong, in what windows are counted in: what is behind the
        first wrong output is nobody's fault.
        """
        ...

    def look_back(self, window: int, /) -> None:
        """From now on a formula is about so much of the run's end, and forces all sides again."""
        ...


def share_covered(subjects: Sequence[Subject], windows: Sequence[int]) -> float:
    """What part of their runs, in the mean, formulas about so much of their ends are about."""
    pairs = zip(subjects, windows, strict=True)
    return fmean(min(1.0, window / max(1, subject.extent())) for subject, window in pairs)


def asked_part(subjects: Sequence[Subject], windows: Sequence[int]) -> str:
    """What of their runs is asked about, as the end of a sentence; nothing where it is all."""
    parts = [
        f"the last {window:,} of {subject.extent():,} instructions"
        for subject, window in zip(subjects, windows, strict=True)
        if window < subject.extent()
    ]
    return f" (asked about {', '.join(parts)})" if parts else ""


def premises_doubted(subjects: Sequence[Subject]) -> bool:
    """Whether what a run is given is in doubt from now on, where nothing else can repair it: that a base or a
    format is wrong, or that a variable was never written, is a fault like another, but it could repair almost
    everything.
    """
    doubted = [subject.doubt_premises() for subject in subjects]
    return any(doubted)
