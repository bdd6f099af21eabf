"""Which change leads an answer of several that must be undone together: no run tells, so what is known of them does."""

from __future__ import annotations

from collections.abc import Sequence

from afterd.causality.deltas.closure import Closure
from afterd.causality.deltas.definitions import names_taken_away, only_defines
from afterd.causality.deltas.dependencies import Changes
from afterd.causality.deltas.renaming import mere_renames
from afterd.causality.suspicion import Suspect, likeliest_of
from afterd.model.change import ChangeId, ChangeSet, in_order


def lead_by_names(
    asked: ChangeId,
    whole: ChangeSet,
    suspects: Sequence[Suspect],
    changes: Changes,
    closure: Closure,
) -> ChangeId:
    """The lead where a compiler decides what goes along: another one only of those that ask for all by their names."""
    known = [changes[each] for each in whole if each in changes]
    renames = mere_renames(known, closure.is_of_one_version)
    return likeliest_of(suspects, asked, whole, closure.needed, renames)


def lead_by_text(
    asked: ChangeId, whole: ChangeSet, suspects: Sequence[Suspect], changes: Changes
) -> ChangeId:
    """The lead where a text says what goes along (Python): what only defines something stands there for others, and so
    does what only takes a function away; of all others that were seen to be needed the most suspicious one may as well
    be guilty as what could not stand without it.
    """
    known = whole & changes.keys()
    defining = {each for each in known if only_defines(changes[each])} | (whole - known)
    gone = {each for each in known if names_taken_away(changes[each])}
    acting = whole - (defining - {asked})
    if asked in gone and acting - gone:
        asked = in_order(acting - gone)[0]
    if asked not in gone:
        acting -= gone
    return likeliest_of(suspects, asked, acting, lambda each: acting - each)
