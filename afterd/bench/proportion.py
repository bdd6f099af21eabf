"""How sure a rate is that was counted."""

from __future__ import annotations

import math
from dataclasses import dataclass

_Z = 1.959963984540054  # of the normal distribution, for 95 %


@dataclass(frozen=True, slots=True)
class Proportion:
    """``hits`` of ``trials``; ``low`` to ``high`` is Wilson's 95 % interval (Wilson 1927), 0 to 1."""

    hits: int
    trials: int

    @property
    def low(self) -> float:
        """The lower end; 0 where nothing was tried."""
        return self._end(-1)

    @property
    def high(self) -> float:
        """The upper end; 1 where nothing was tried."""
        return self._end(1)

    def describe(self) -> str:
        """As in: 19 of 20 (95 %; interval 76 to 99 %)."""
        rate = self.hits / self.trials if self.trials else 0.0
        ends = f"{100 * self.low:.1f} to {100 * self.high:.1f} %"
        return f"{self.hits} of {self.trials} ({100 * rate:.1f} %; interval {ends})"

    def _end(self, sign: int) -> float:
        n = self.trials
        if self.hits == (0 if sign < 0 else n):  # exactly so, and for no trials at all
            return 0.0 if sign < 0 else 1.0
        rate, square = self.hits / n, _Z**2
        spread = _Z * math.sqrt(rate * (1 - rate) / n + square / (4 * n**2))
        found = (rate + square / (2 * n) + sign * spread) / (1 + square / n)
        return min(1.0, max(0.0, found))
