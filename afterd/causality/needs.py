"""What changes need of each other: with which others a suspect is undone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass, field, replace

from afterd.causality.auxiliary import AuxiliarySearch, most_along
from afterd.causality.deltas.closure import Closure
from afterd.causality.deltas.definitions import (
    former_users,
    names_taken_away,
    only_defines,
    only_gives_names,
    users_by_name,
)
from afterd.causality.deltas.dependencies import Changes, home
from afterd.causality.signs import Sign
from afterd.causality.suspicion import Suspect, with_along
from afterd.model.change import NOTHING, ChangeId, ChangeSet


@dataclass(frozen=True, slots=True)
class Needs:
    """What each of the ``changes`` needs to be undone, as far as texts and compilers tell without a run."""

    changes: Changes
    auxiliary: AuxiliarySearch
    closure: Closure
    users: dict[ChangeId, ChangeSet] = field(
        default_factory=dict, init=False, compare=False
    )  # by name, asked once

    def alone(self, suspect: Suspect) -> Suspect:
        """A change that cannot be undone by itself is likelier to be what others need."""
        along = self.auxiliary.along(suspect.change)
        if along is None:
            return with_along(suspect, along)
        change = self.changes[suspect.change]
        own = home(change)
        if self.auxiliary.standing.proves:
            return replace(with_along(suspect, along), home=own[:1])
        elsewhere = any(home(self.changes[each])[:2] != own[:2] for each in along)
        signs = (*suspect.signs, Sign.NOT_ALONE) if elsewhere else suspect.signs
        defines = bool(along) and (only_defines(change) or only_gives_names(change))
        if users := self._users_of_gone(along | {suspect.change}):
            along, defines = along | users, True
        return replace(suspect, signs=signs, needs=along, defines=defines, home=own)

    def named(self, suspect: Suspect) -> Suspect:
        """As ``alone``, by names alone, which cost nothing."""
        if not self.auxiliary.standing.proves:
            users = self._users_of(suspect.change)
            return replace(suspect, needs=users, defines=True) if users else suspect
        along = len(self.auxiliary.named(frozenset([suspect.change])))
        return replace(suspect, along=along, home=home(self.changes[suspect.change])[:1])

    def _users_of(self, change: ChangeId) -> ChangeSet:
        if change not in self.users:
            self.users[change] = users_by_name(self.changes[change], self.changes)
        return self.users[change]

    def _users_of_gone(self, together: ChangeSet) -> ChangeSet:
        """Who spoke of what some changes take away, where nothing in the bad version does: undone alone, they bring
        back what nobody asks for (pika's `dictkeys`, tried before the line that had called it).
        """
        parts = sorted((self.changes[each] for each in together), key=lambda each: each.old.start)
        gone = names_taken_away(*parts)
        if not gone or self.auxiliary.standing.speaks(gone):
            return NOTHING
        return former_users(gone, self.changes) - together

    def with_names(self, suspect: Suspect) -> Suspect:
        """With what it asks for by its names: a hypothesis is what can be undone."""
        return replace(suspect, needs=self.auxiliary.named(frozenset([suspect.change])))

    def together(self, reverted: ChangeSet) -> ChangeSet:
        """What is undone as well where a set fails otherwise: the rest of a function of which it has several
        changes, or that it is in (half of a rewritten loop does not end: tcsh's match of file names); else
        who shares names with it, unless these, with what they take along, are too many to be what it lacks.
        """
        homes = Counter(home(self.changes[each]) for each in reverted & self.changes.keys())
        inside = {place: number for place, number in homes.items() if len(place) > 1}
        rewritten = {place for place, number in inside.items() if number > 1}
        if self.auxiliary.standing.proves and (rest := self._inside(rewritten) - reverted):
            return rest
        kin = self.closure.kin(reverted)
        if len(kin | self.auxiliary.named(reverted | kin)) > most_along(reverted):
            return NOTHING
        if kin or not self.auxiliary.standing.proves or len(homes) != 1:
            return kin
        return self._inside(inside.keys()) - reverted

    def _inside(self, places: Container[Sequence[str]]) -> ChangeSet:
        """All changes in some functions."""
        return frozenset(each.id for each in self.changes.values() if home(each) in places)

    def loose(self, suspect: Suspect) -> Suspect:
        """As ``alone``, by one question: for all changes of a range."""
        if not self.auxiliary.unbuildable(frozenset([suspect.change])):
            return suspect
        return replace(suspect, signs=(*suspect.signs, Sign.ENTANGLED))
