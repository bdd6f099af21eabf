"""Clauses by the hundred thousand: numbers in one array, each clause with a 0 behind it (DIMACS).

As lists of lists they cost more, in a message and in memory, than solving them does.
"""

from __future__ import annotations

from array import array
from base64 import b64decode, b64encode

INT32 = "i"


def packed(numbers: array[int]) -> str:
    """The numbers as text."""
    return b64encode(numbers.tobytes()).decode("ascii")


def unpacked(text: str) -> list[list[int]]:
    """The clauses of a text."""
    return split(array(INT32, b64decode(text)).tolist())


def split(numbers: list[int]) -> list[list[int]]:
    """Clauses as lists, for a solver."""
    clauses: list[list[int]] = []
    start = 0
    while start < len(numbers):
        end = numbers.index(0, start)
        clauses.append(numbers[start:end])
        start = end + 1
    return clauses
