"""How changes hang together by their place in the program: same function first, then same file.

A change most often depends, to compile and to work, on changes of its own function or file (AFTER,
section IV), so sets of changes are split along those borders.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import pairwise

from afterd.model.change import Change, ChangeId, ChangeSet
from afterd.weights import RUNS

Changes = Mapping[ChangeId, Change]


def structural_order(changes: Iterable[Change]) -> list[ChangeId]:
    """Ids by file, function and line, so that neighbours in the list are neighbours in the code."""
    ordered = sorted(changes, key=lambda c: (c.file, c.new.start, len(c.id), c.id))
    return [change.id for change in ordered]


def by_file(ordered: Sequence[ChangeId], changes: Changes) -> list[ChangeSet]:
    """One set for each file, in the order in which the files are first met."""
    return _grouped_changes(ordered, lambda identifier: changes[identifier].file)


def by_function(ordered: Sequence[ChangeId], changes: Changes) -> list[ChangeSet]:
    """One set for each function (class, or rest of a file), in the order first met."""
    return _grouped_changes(ordered, lambda identifier: place(changes[identifier]))


def one_by_one(ordered: Sequence[ChangeId]) -> list[ChangeSet]:
    """One set for each change."""
    return [frozenset({identifier}) for identifier in ordered]


def place(change: Change) -> tuple[str, str]:
    """The file and the function of a change."""
    return change.file, change.symbol


def home(change: Change) -> tuple[str, ...]:
    """The file, then the classes and functions around a change, outermost first."""
    return change.file, *filter(None, change.symbol.split("."))


def partition(ordered: Sequence[ChangeId], changes: Changes, n: int) -> list[list[ChangeId]]:
    """``n`` parts of about equal size (fewer where there are fewer changes), in the order given.

    A part ends at the border of a function, or better of a file, where one is near its end.
    """
    n = min(n, len(ordered))
    cuts = [0]
    for number in range(1, n):
        size = len(ordered) / n
        bounds = (cuts[-1] + 1, len(ordered) - (n - number), RUNS.slack * size)
        cuts.append(_cheapest_cut(ordered, changes, number * size, bounds))
    return [list(ordered[start:end]) for start, end in pairwise([*cuts, len(ordered)])]


def _cheapest_cut(
    ordered: Sequence[ChangeId], changes: Changes, ideal: float, bounds: tuple[int, int, float]
) -> int:
    """The cheapest cut near ``ideal``: between files, else between functions, else anywhere."""
    earliest, latest, reach = bounds

    def cost(at: int) -> tuple[int, float, int]:
        before, after = changes[ordered[at - 1]], changes[ordered[at]]
        same = (before.file == after.file) + (place(before) == place(after))
        return same, abs(at - ideal), at

    near = range(max(earliest, round(ideal - reach)), min(latest, round(ideal + reach)) + 1)
    return min(near, key=cost, default=max(earliest, min(latest, round(ideal))))


def _grouped_changes(
    ordered: Sequence[ChangeId], key: Callable[[ChangeId], Hashable]
) -> list[ChangeSet]:
    groups: dict[Hashable, list[ChangeId]] = {}
    for identifier in ordered:
        groups.setdefault(key(identifier), []).append(identifier)
    return [frozenset(members) for members in groups.values()]
