"""Where old text and new clash in a variant: which other changes its failure speaks of.

Parts of a rewrite, undone alone, fail otherwise, and that tells nothing of them. But such a failure is
raised where what was undone met what was not: at a line that another change wrote, or in the old text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from afterd.causality.deltas.dependencies import Changes, home
from afterd.compare import differences
from afterd.limits import SEARCH
from afterd.model.change import NOTHING, Change, ChangeForm, ChangeId, ChangeSet
from afterd.model.location import LineSpan, Location

Meanings = Callable[[Change, int, Sequence[Change]], Sequence[ChangeId]]
"""Of the changes that are left, those that gave what a line of an undone change's old text reads another meaning."""


def same_meanings(undone: Change, line: int, left: Sequence[Change]) -> Sequence[ChangeId]:  # noqa: ARG001 - it answers a Meanings' question
    """The answer where nobody reads the text."""
    return ()


def clashing(
    changes: Changes,
    reverted: ChangeSet,
    places: Sequence[Location],
    meanings: Meanings = same_meanings,
) -> ChangeSet:
    """The changes to undo as well, for a variant not to fail as it did; empty where that is not known.

    ``places`` are lines of the variant without ``reverted``, the one that failed first, then its callers.
    """
    if not places:
        return NOTHING
    left = differences(changes.values(), reverted, frozenset(changes))
    undone = [changes[each] for each in reverted if each in changes]
    return _wrote(places, left) or _around_old_text(places[0], undone, left, meanings)


def written(changes: Changes, reverted: ChangeSet, places: Sequence[Location]) -> ChangeSet:
    """The change, of those that are left, that wrote the line where a variant failed; where it only added that, the
    one that wrote the call. ``places`` as in ``clashing``, at least one.
    """
    return _wrote(places, differences(changes.values(), reverted, frozenset(changes)))


def _wrote(places: Sequence[Location], left: Sequence[Change]) -> ChangeSet:
    """The change that wrote the line; where that only added it, the one that wrote the call."""
    innermost = _writer(places[0], left)
    if innermost is None:
        return NOTHING
    added = not innermost.old.count and len(places) > 1
    calling = _writer(places[1], left) if added else None
    return frozenset([(calling or innermost).id])


def _writer(place: Location, left: Iterable[Change]) -> Change | None:
    mine = (each for each in left if each.file == place.file and each.new.covers(place.line))
    return min(mine, key=lambda each: each.new.count, default=None)


def _around_old_text(
    place: Location, undone: Sequence[Change], left: Sequence[Change], meanings: Meanings
) -> ChangeSet:
    """What gave the names that a line of old text reads another meaning, else what is left in the function, or in the
    class, around it.
    """
    found = _old_text(place, undone)
    if found is None:
        return NOTHING
    old, line = found
    meant = meanings(old, line, left)
    if 0 < len(meant) <= SEARCH.clashing:
        return frozenset(meant)
    if not old.old.covers(line):
        return NOTHING
    for length in range(len(home(old)), 1, -1):
        scope = home(old)[:length]
        near = frozenset(each.id for each in left if home(each)[:length] == scope)
        if near:
            return near if len(near) <= SEARCH.clashing else NOTHING
    return NOTHING


def _old_text(place: Location, undone: Sequence[Change]) -> tuple[Change, int] | None:
    """The undone change whose old lines have the line, else the nearest above it, and which line of the good one that
    is.
    """
    mine = [each for each in undone if each.file == place.file and each.form is ChangeForm.HUNK]
    names = frozenset(each.id for each in mine)
    above: list[tuple[int, Change]] = []
    for each in mine:
        (moved,) = differences(mine, names - {each.id}, names)
        start = moved.new.start + (not moved.new.count)
        if LineSpan(start, each.old.count).covers(place.line):
            return each, place.line - start + each.old.start
        if start <= place.line:
            above.append((start, each))
    start, nearest = max(above, key=lambda found: found[0], default=(0, None))
    return None if nearest is None else (nearest, place.line - start + nearest.old.start)
