"""The pairs and triples of suspects that are too many to be listed, counted as one.

The weight of a set of changes is the product of theirs, so that of all sets of one size within some
changes is an elementary symmetric polynomial, which power sums give in one pass (Newton's identities).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

Weights = npt.NDArray[np.float64]


class Wider:
    """All sets of ``size`` suspects but those of the first ``listed`` ones; their masses sum to ``mass``.

    ``against`` are reversions that did not pass, as bit masks, with what is left of the sets within
    each. Of those that overlap only the one that says most counts: sets within both would be counted
    twice.
    """

    def __init__(
        self,
        weights: Sequence[float],
        size: int,
        listed: int,
        against: Sequence[tuple[int, float]],
    ) -> None:
        self._weights = np.asarray(weights, dtype=np.float64)
        self._count, self._listed = len(weights), (1 << min(listed, len(weights))) - 1
        self._sum_of_products = _SUMS[size]
        self._of = cache(self._of_uncached)
        every = (1 << self._count) - 1
        whole, inside = self._of(every), self._of(self._listed)
        self._all = whole - inside if whole > inside * (1 + 1e-9) else 0.0
        self._against = [(mask, 1.0 - left) for mask, left in against]
        self.mass = self._all / whole if self._all else 0.0
        self.left = self.mass * (1.0 - self._lost(every))

    def share(self, mask: int) -> float:
        """The part of these sets that lies within a mask, before any run."""
        if not self._all:
            return 0.0
        return max(0.0, self._of(mask) - self._of(mask & self._listed)) / self._all

    def within(self, mask: int) -> float:
        """The mass of those within a mask, after the runs."""
        return self.mass * max(0.0, self.share(mask) - self._lost(mask)) if self._all else 0.0

    def _lost(self, mask: int) -> float:
        return max(
            (gone * self.share(mask & failed) for failed, gone in self._against), default=0.0
        )

    def _of_uncached(self, mask: int) -> float:
        return self._sum_of_products(self._weights[flags_of(mask, self._count)])


def flags_of(mask: int, count: int) -> npt.NDArray[np.bool_]:
    """Of each of ``count`` places whether it is in a mask."""
    octets = np.frombuffer(mask.to_bytes((count + 7) // 8, "little"), dtype=np.uint8)
    return np.unpackbits(octets, count=count, bitorder="little").astype(bool)


def _pairs(weights: Weights) -> float:
    return float(weights.sum() ** 2 - (weights**2).sum()) / 2


def _triples(weights: Weights) -> float:
    total, squares, cubes = weights.sum(), (weights**2).sum(), (weights**3).sum()
    return float(total**3 - 3 * total * squares + 2 * cubes) / 6


_SUMS: dict[int, Callable[[Weights], float]] = {
    1: lambda weights: float(weights.sum()),
    2: _pairs,
    3: _triples,
}
