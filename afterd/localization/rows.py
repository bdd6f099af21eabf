"""A count matrix built row by row, as test runs end or lines of a file are read."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from afterd.localization.spectrum import Matrix

Integers = NDArray[np.int64]
EMPTY = np.zeros(0, np.int64)


class CountRows:
    """Collects the non-zero counts of one row after the other."""

    def __init__(self) -> None:
        self._columns: list[Integers] = [EMPTY]
        self._counts: list[Integers] = [EMPTY]

    def __len__(self) -> int:
        return len(self._columns) - 1

    def add(self, columns: Integers, counts: Integers) -> None:
        """Append a row: ``counts[i]`` executions of the entity in ``columns[i]``."""
        self._columns.append(columns)
        self._counts.append(counts)

    def add_mapping(self, row: Mapping[int, int]) -> None:
        """Append a row given as column to count."""
        self.add(
            np.fromiter(row.keys(), np.int64, len(row)),
            np.fromiter(row.values(), np.int64, len(row)),
        )

    def matrix(self, width: int) -> Matrix:
        """The matrix of all rows added so far, ``width`` columns wide."""
        ends = np.cumsum([columns.size for columns in self._columns])
        parts = (np.concatenate(self._counts), np.concatenate(self._columns), ends)
        return sparse.csr_array(parts, shape=(len(self), width), dtype=np.int64)
