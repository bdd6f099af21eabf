"""The way from the failure back to a root along the causes, for when no twin tells its story."""

from __future__ import annotations

from collections.abc import Iterator

from afterd.causality.analysis import LedBack
from afterd.causality.causes import Causes
from afterd.causality.tree import causal_tree
from afterd.model.change import NOTHING, ChangeSet, in_order


def led_back(causes: Causes, root: ChangeSet) -> LedBack:
    """The causes from the failure to a root: further levels are opened, which costs no run, until each root change
    stands in a cause.
    """
    while not root <= _spoken_of(causes) and causes.open_level():
        continue
    tree = causal_tree(causes.links, root, causes.acting())
    return LedBack(tree, tuple(dict.fromkeys(_remarks(causes, root))))


def _spoken_of(causes: Causes) -> ChangeSet:
    return NOTHING.union(*causes.acting().values())


def _remarks(causes: Causes, root: ChangeSet) -> Iterator[str]:
    """What a reader must know about the evidence."""
    yield from (link.cause.note for link in causes.links if link.cause.note)
    unseen = root - _spoken_of(causes)
    if unseen and causes.links:
        names = ", ".join(in_order(unseen))
        yield f"No cause leads to {names}: known from re-execution alone."
