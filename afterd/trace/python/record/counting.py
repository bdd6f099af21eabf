"""Counting instead of recording: the same instrumented code, one number a site."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

from . import calls
from .recorder import silent_functions

if TYPE_CHECKING:
    from typing import TypeAlias

Anything = Any  # a value of the traced program
Counts: TypeAlias = "dict[int, int]"

_WITH_A_TRUTH = frozenset({bool, int, str, float, list, dict, tuple, set, type(None), bytes})
TRUTH_BITS = 2  # counts are kept by site << 2 | (0: executed, 1: true, 2: false)


class Counter:
    """Counts of the test that is under way; ``take`` hands them out and starts anew."""

    def __init__(self) -> None:
        self.counts: Counts = {}

    def install(self) -> None:
        """Give instrumented code its names."""
        functions = {**silent_functions(), **self._functions()}
        for name in calls.NAMES:
            setattr(builtins, name, functions[name])

    def take(self) -> Counts:
        """What was counted since the last call."""
        taken, self.counts = self.counts, {}
        return taken

    def add(self, counts: Counts) -> None:
        """Count what was counted before."""
        for code, count in counts.items():
            self.counts[code] = self.counts.get(code, 0) + count

    def _functions(self) -> dict[str, Any]:
        def count(code: int) -> None:
            counts = self.counts
            counts[code] = counts.get(code, 0) + 1

        def mark(site: int, *_: object) -> None:
            count(site << TRUTH_BITS)

        def value(site: int, result: Anything) -> Anything:
            count(site << TRUTH_BITS)
            if type(result) in _WITH_A_TRUTH:
                count(site << TRUTH_BITS | (1 if result else 2))
            return result

        def guard(site: int, *_: object) -> bool:
            count(site << TRUTH_BITS)
            return True

        def caught(_: int, site: int) -> None:
            count(site << TRUTH_BITS)

        def resumed(_: int, site: int, result: Anything) -> Anything:
            return value(site, result)

        marks = (calls.MARK, calls.BRANCH, calls.ENTER, calls.PEEK_ATTRIBUTE, calls.PEEK_ITEM)
        return {
            **dict.fromkeys(marks, mark),
            calls.VALUE: value,
            calls.GUARD: guard,
            calls.CAUGHT: caught,
            calls.RESUMED: resumed,
        }


def interned_pairs(counts: Counts) -> list[int]:
    """Flat pairs for JSON."""
    return [number for pair in counts.items() for number in pair]
