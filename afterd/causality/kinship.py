"""Changes that speak of the same things: where the trace says nothing, their text does.

A failing run ends at its first failure. Two changes that only repair a test together leave another
failure behind when one of them is undone, and the run never came to the other. It most likely
mentions what the first one does: its function, or a name that few changes mention.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import chain

from afterd.causality.deltas.dependencies import Changes
from afterd.model.change import Change, ChangeId

_NAME = re.compile(r"[^\W\d]\w+")


def kinship(changes: Changes, leaders: Iterable[ChangeId]) -> Mapping[ChangeId, float]:
    """For each change how much it shares with the leaders: 1 for a name that only it and one has."""
    named = {change.id: _names(change) for change in changes.values()}
    spread = Counter(chain.from_iterable(named.values()))
    led = frozenset(chain.from_iterable(named[each] for each in leaders if each in named))
    return {
        change: sum(4 / spread[name] ** 2 for name in names & led)
        for change, names in named.items()
    }


def _names(change: Change) -> frozenset[str]:
    """The words of its lines, and what it stands in."""
    lines = (*change.lines("-"), *change.lines("+"))
    own = frozenset(name for line in lines for name in _NAME.findall(line))
    return own.union(_NAME.findall(change.symbol.rpartition(".")[2]))
