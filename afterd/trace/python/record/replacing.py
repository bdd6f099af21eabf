"""An intervention: one value of a run is set to another, and the run goes on.

The module that is meant is instrumented with one call more, around the expression whose value is to
be set (around the condition of a branch). Everything else is recorded as ever, what was set included.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .rows import KIND_BITS, NODE_BITS

Anything = Any  # a value of the traced program

SET = "@w"  # (value) -> value, or what is put in its place; lives in builtins as ``calls`` does


@dataclass(frozen=True)
class Replacement:
    """``value`` (see ``decoded_value``) is put where a run is about to write row ``row``, at ``site``.

    The row says which instance is meant, and that the run was the recorded one up to there.
    """

    site: int
    row: int
    value: Any

    @property
    def module(self) -> int:
        """The fingerprint of the module that is meant."""
        return self.site >> (NODE_BITS + KIND_BITS)


class Replacing:
    """Does the replacement, once; ``met`` says whether the run came to its place."""

    def __init__(self, replacement: Replacement, row: Callable[[], int]) -> None:
        self.met = False
        self._row = row
        self._wanted = replacement.row
        self._value = decoded_value(replacement.value)

    def install(self) -> None:
        """Give instrumented code the name."""
        setattr(builtins, SET, self._set)

    def _set(self, value: Anything) -> Anything:
        if self._row() != self._wanted:
            return value
        self.met = True
        return self._value


def encoded_value(value: object) -> Any:  # noqa: ANN401 # JSON
    """For JSON: None, bool, int and str as they are; floats, bytes and tuples as tagged lists.

    ``value`` is a recorded one. Raises ValueError for what cannot be made anew from its record.
    """
    if isinstance(value, tuple) and value[:1] == ("t",):
        return ["t", *map(encoded_value, value[1:])]
    if isinstance(value, float):
        return ["f", repr(value)]
    if isinstance(value, bytes):
        return ["b", value.decode("latin-1")]
    if value is None or isinstance(value, (bool, int, str)):
        return value
    raise ValueError(f"{value!r} cannot be made anew")


def decoded_value(value: Anything) -> Anything:
    """The value that was encoded."""
    if not isinstance(value, list):
        return value
    tag, *rest = value
    if tag == "t":
        return tuple(map(decoded_value, rest))
    return float(rest[0]) if tag == "f" else rest[0].encode("latin-1")
