"""Changes inside others: what was altered in text that moved, while it stays where it was moved to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from afterd.model.change import Change, ChangeForm, ChangeId, ChangeSet


def outer_hunks(changes: Iterable[Change]) -> Mapping[ChangeId, Change]:
    """For each hunk whose new lines are some of another one's, that other one, which put in what moved: where that
    is undone, all of it is gone. Hunks lie apart else.
    """
    by_file: dict[str, list[Change]] = defaultdict(list)
    for change in changes:
        if change.form is ChangeForm.HUNK:
            by_file[change.file].append(change)
    found: dict[ChangeId, Change] = {}
    for hunks in by_file.values():
        hunks.sort(key=lambda hunk: (hunk.new.before, -hunk.new.count))
        outer: Change | None = None
        for hunk in hunks:
            if outer is not None and hunk.new.is_inside(outer.new):
                found[hunk.id] = outer
            elif hunk.new.count:
                outer = hunk
    return found


def taken_out_by(
    changes: Iterable[Change], outer: Mapping[ChangeId, Change]
) -> Mapping[ChangeId, Change]:
    """For each hunk inside another one, the one that took its old lines, with those around them, out elsewhere."""
    inside: dict[ChangeId, list[Change]] = defaultdict(list)
    taking: dict[str, list[Change]] = defaultdict(list)
    for change in changes:
        if change.id in outer:
            inside[outer[change.id].id].append(change)
        elif change.form is ChangeForm.HUNK and change.old.count:
            taking[change.file].append(change)
    found: dict[ChangeId, Change] = {}
    for around, hunks in inside.items():
        first = min(hunk.old.before for hunk in hunks)
        last = max(hunk.old.before + hunk.old.count for hunk in hunks)
        for taker in taking[hunks[0].file]:
            held = taker.old.before <= first and last <= taker.old.before + taker.old.count
            if held and taker.id != around:
                found |= dict.fromkeys((hunk.id for hunk in hunks), taker)
                break
    return found


def with_inner(reverted: ChangeSet, outer: Mapping[ChangeId, Change]) -> ChangeSet:
    """A set of undone changes, with those that are gone with them."""
    gone = {inner for inner, around in outer.items() if around.id in reverted}
    return reverted | gone if gone else reverted
