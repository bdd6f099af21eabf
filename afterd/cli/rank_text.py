"""What rankings of a suite and of a matrix have in common when they are shown."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Protocol, TypeVar

SCHEMA = 1
SHOWN = 20


class _Ranked(Protocol):
    @property
    def rank(self) -> int: ...

    @property
    def score(self) -> float: ...


_P = TypeVar("_P", bound=_Ranked)


def tables(
    rankings: Mapping[str, Sequence[_P]],
    named: Callable[[_P], str],
    lacking: Mapping[str, str],
    failed: int,
) -> Iterator[str]:
    """The head of each ranking, and which techniques were left out; ``named`` is safe to print."""
    if not failed:
        yield "No test failed: there is nothing to rank."
    for name, places in rankings.items():
        yield f"\n  rank       score  by {name}"
        shown = _head(places)
        for place in shown:
            yield f"{place.rank:6}  {place.score:10.4g}  {named(place)}"
        if len(shown) < len(places):
            yield f"{'':18}  {len(places) - len(shown)} more, with --format json"
    if lacking:
        yield ""
    for name, what in lacking.items():
        yield f"{name} left out: it needs {what}"


def _head(places: Sequence[_P]) -> Sequence[_P]:
    """The first SHOWN places, without a tie that is cut in two unless it is the first."""
    return list(takewhile(lambda place: place.rank <= SHOWN, places)) or places[:SHOWN]


def finite_score(score: float) -> float:
    """JSON has no infinity: the largest double stands for it, as jq writes it."""
    return max(-sys.float_info.max, min(sys.float_info.max, score))
