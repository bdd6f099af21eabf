"""A ranked list of statements, each technique's vote kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class RankedLine:
    """A line with its fused score and the votes it was fused from."""

    file: str
    line: int
    score: float
    votes: Mapping[str, float] = field(default_factory=dict)
    text: str = ""
