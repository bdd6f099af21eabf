"""What must go along with a set of changes, by the names that they define and use: a walk, no build.

Undoing a change brings old text back, which needs the old names that it uses, and takes new text away,
which other changes may need. Who shares a name of one version alone belongs together even where that
is not needed to build: a variable that only the good version has is given its value elsewhere.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from afterd.limits import SEARCH
from afterd.model.change import ChangeId, ChangeSet, in_order
from afterd.model.names import ChangeNames, Name


class Closure:
    """``named``: what each change mentions; ``standing``: the names defined where no change has written."""

    def __init__(
        self,
        named: Mapping[ChangeId, ChangeNames] = MappingProxyType({}),
        standing: frozenset[Name] = frozenset(),
    ) -> None:
        self._named = named
        self._standing = standing
        self._brings: dict[Name, set[ChangeId]] = defaultdict(set)
        self._takes: dict[Name, set[ChangeId]] = defaultdict(set)
        self._declares: dict[Name, set[ChangeId]] = defaultdict(set)
        self._needs: dict[Name, set[ChangeId]] = defaultdict(set)
        self._mentions: dict[Name, set[ChangeId]] = defaultdict(set)
        for change, names in named.items():
            _note(self._brings, names.old.defines, change)
            _note(self._takes, names.new.defines, change)
            _note(self._declares, names.old.declares, change)
            _note(self._needs, names.new.uses, change)
            _note(self._mentions, names.old.mentions | names.new.mentions, change)

    def bringing(self, words: frozenset[str]) -> ChangeSet:
        """Changes whose undoing brings definitions of these words back, whatever they are names of."""
        named = (self._brings[name] for name in self._brings if _word(name) in words)
        return frozenset(each for changes in named for each in changes)

    def needed(self, reverted: ChangeSet) -> ChangeSet:
        """Changes without which a variant without ``reverted`` lacks a name, or has it twice; not the parts of a file
        that is gone with one of them.
        """
        found = set(reverted)
        before = 0
        while len(found) > before:
            before = len(found)
            for change in tuple(found):
                names = self._named.get(change)
                if names is not None:
                    found.update(self._missed(change, names, found))
                    found.update(self._left_without(names, found))
        return frozenset(
            each for each in found if each not in reverted and not self._is_gone(each, found)
        )

    def _is_gone(self, change: ChangeId, found: set[ChangeId]) -> bool:
        """Whether it is a part of an added file that is undone as a whole."""
        names = self._named.get(change, ChangeNames())
        file = f"file {names.file}"
        return file in names.new.uses and not found.isdisjoint(self._takes.get(file, ()))

    def kin(self, reverted: ChangeSet) -> ChangeSet:
        """Those that mention a name which ``reverted`` mention and one version alone has; without what goes
        along with the others anyway.
        """
        own = {
            name
            for change in reverted
            if (names := self._named.get(change)) is not None
            for name in names.old.mentions | names.new.mentions
            if self.is_of_one_version(name)
            and " " not in name
            and len(self._mentions[name]) <= SEARCH.kin
        }
        kin = frozenset(each for name in own for each in self._mentions[name]) - reverted
        for each in in_order(kin):
            if each in self.needed(reverted | (kin - {each})):
                kin -= {each}
        return kin - self.needed(reverted)

    def is_of_one_version(self, name: Name) -> bool:
        """Whether one of the two versions has a name, and the other has not."""
        defined = (name in self._brings) != (name in self._takes)
        return defined and name not in self._standing

    def _missed(
        self, change: ChangeId, names: ChangeNames, found: set[ChangeId]
    ) -> Iterable[ChangeId]:
        """What brings back the names that old text uses, where nothing else defines or declares them."""
        for name in names.old.uses - names.old.defines - names.old.declares:
            if self._brings.get(name) and not self._is_defined(name, found, change):
                yield from self._bringing(name, change)
            if self._declares.get(name) and self._is_of_old(name):
                yield from self._declares[name]

    def _bringing(self, name: Name, user: ChangeId) -> Iterable[ChangeId]:
        """Who brings a name back for a user: those of its own file, if any does."""
        seen = [each for each in self._brings[name] if self._is_seen(name, each, user, old=True)]
        file = self._named[user].file
        return [each for each in seen if self._named[each].file == file] or seen

    def _left_without(self, names: ChangeNames, found: set[ChangeId]) -> Iterable[ChangeId]:
        """Who uses the names that go with new text; what has them in the old text, if they moved."""
        for name in names.new.defines:
            if not self._is_defined(name, found):
                yield from self._brings.get(name, ())
            back = found | self._brings.get(name, set())
            for user in self._needs.get(name, ()):
                if not self._is_defined(name, back, user):
                    yield user
        for name in names.old.defines:
            others = self._takes.get(name, set())
            if len(others) == 1 and len(self._brings[name]) == 1 and name not in self._standing:
                yield from others

    def _is_of_old(self, name: Name) -> bool:
        return name not in self._takes and name not in self._standing

    def _is_defined(self, name: Name, reverted: set[ChangeId], user: ChangeId = "") -> bool:
        """Whether a name is defined, and where a ``user`` is given, in sight of it."""
        if name in self._standing:
            return True
        brought = self._brings.get(name, set()) & reverted
        left = self._takes.get(name, set()) - reverted
        return any(self._is_seen(name, each, user, old=True) for each in brought) or any(
            self._is_seen(name, each, user, old=False) for each in left
        )

    def _is_seen(self, name: Name, change: ChangeId, user: ChangeId, *, old: bool) -> bool:
        """Whether who uses a name sees what a change has of it."""
        names = self._named[change]
        private = (names.old if old else names.new).private
        return not user or name not in private or names.file == self._named[user].file


def _word(name: Name) -> str:
    """What a compiler calls a name: without what it is in, and how many arguments it takes; a blank for no word."""
    return "" if " " in name else re.split(r"\W", re.split("[#/]", name)[0])[-1]


def _note(where: Mapping[Name, set[ChangeId]], names: Iterable[Name], change: ChangeId) -> None:
    for name in names:
        where[name].add(change)
