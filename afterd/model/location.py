"""Where something is in a source tree."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A place in one version of the source tree.

    ``file`` is relative to the repository root, with ``/`` and surrogate escapes for bytes that are
    not UTF-8. ``line`` and ``column`` count from 1; 0 means unknown.
    """

    file: str
    line: int = 0
    column: int = 0
    function: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True, slots=True, order=True)
class LineSpan:
    """``count`` lines from ``start`` (1-based). ``count == 0`` is the gap *after* line ``start``."""

    start: int
    count: int

    @property
    def end(self) -> int:
        """The first line after the span."""
        return self.start + self.count

    @property
    def before(self) -> int:
        """How many lines stand before the span."""
        return self.start - 1 if self.count else self.start

    @property
    def lines(self) -> range:
        """The span's lines; of an empty one the two between which it is."""
        return range(self.start, self.end if self.count else self.start + 2)

    def covers(self, line: int) -> bool:
        """Whether ``line`` is one of the span's lines (never true of an empty span)."""
        return self.start <= line < self.start + self.count

    def is_inside(self, other: LineSpan) -> bool:
        """Whether it is a part of another span, or a gap between two of its lines."""
        first, last = self.before, self.before + self.count
        if not self.count:
            return other.before < first < other.before + other.count
        within = other.before <= first and last <= other.before + other.count
        return within and self.count < other.count
