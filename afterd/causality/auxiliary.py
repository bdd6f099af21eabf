"""Auxiliary changes: what must go along for a variant to build (AFTER, section IV, Algorithm 4)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from afterd.causality.structure import partition
from afterd.model.change import Change, ChangeId, ChangeSet
from afterd.model.outcome import Outcome

_IDENTIFIER = re.compile(r"[A-Za-z_]\w{1,}")
_QUOTED = re.compile(r"['‘`\"]([A-Za-z_]\w*)['’\"`]")
_MOST_BUILDS = 60


class AuxiliarySearch:
    """FindAuxChange with its cache. ``builds`` says whether a variant builds; it costs no test run."""

    def __init__(self, builds: Callable[[ChangeSet], bool], changes: Mapping[ChangeId, Change], everything: ChangeSet) -> None:
        self._builds = builds
        self._changes = changes
        self._everything = everything
        self._cache: dict[ChangeSet, ChangeSet | None] = {}
        self._left = _MOST_BUILDS
        self._mentions = {c: frozenset(_IDENTIFIER.findall(change.patch)) for c, change in changes.items()}

    def find(self, reverted: ChangeSet, outcome: Outcome) -> ChangeSet | None:
        """The smallest set found that must be reverted along; None when none was found in time."""
        if reverted not in self._cache:
            self._left = max(self._left, _MOST_BUILDS // 3)
            self._cache[reverted] = self._find(reverted, outcome)
        return self._cache[reverted]

    def _find(self, reverted: ChangeSet, outcome: Outcome) -> ChangeSet | None:
        ordered = self._ordered(reverted, outcome)
        near = self._shortest(reverted, ordered)
        return self._shrunk(reverted, near) if near is not None else None

    def _shortest(self, reverted: ChangeSet, ordered: Sequence[ChangeId]) -> list[ChangeId] | None:
        """A prefix of the candidates with which it builds: 1, 2, 4, … of them, then all."""
        length = 1
        while length < len(ordered):
            if self._try(reverted | frozenset(ordered[:length])):
                return list(ordered[:length])
            length *= 2
        return list(ordered) if ordered and self._try(reverted | frozenset(ordered)) else None

    def _shrunk(self, reverted: ChangeSet, gamma: list[ChangeId], n: int = 2) -> ChangeSet:
        """FindAuxChange(Δ, Γ, n): Γ shrinks while Δ ∪ Γ still builds."""
        while n <= len(gamma):
            for part in partition(gamma, self._changes, n):
                rest = [change for change in gamma if change not in set(part)]
                if self._try(reverted | frozenset(part)):
                    gamma, n = part, 2
                    break
                if n > 2 and self._try(reverted | frozenset(rest)):
                    gamma, n = rest, max(n - 1, 2)
                    break
            else:
                n = 2 * n if n < len(gamma) < 2 * n or 2 * n <= len(gamma) else len(gamma) + 1
        return frozenset(gamma)

    def _try(self, reverted: ChangeSet) -> bool:
        if self._left <= 0:
            return False
        self._left -= 1
        return self._builds(reverted)

    def _ordered(self, reverted: ChangeSet, outcome: Outcome) -> list[ChangeId]:
        """Candidates: those that mention what the diagnostics name, then what the reverted set
        declares or uses, then the same function, the same file, and the rest."""
        named = frozenset(_QUOTED.findall(outcome.detail))
        own = frozenset[str]().union(*(self._mentions.get(c, frozenset()) for c in reverted))
        places = {(self._changes[c].file, self._changes[c].symbol) for c in reverted if c in self._changes}
        files = {file for file, _ in places}

        def distance(identifier: ChangeId) -> tuple[int, int, int, str]:
            change = self._changes[identifier]
            mentions = self._mentions[identifier]
            shared = len(mentions & named)
            near = 0 if (change.file, change.symbol) in places else 1 if change.file in files else 2
            return (-min(shared, 3), -min(len(mentions & own), 3) if shared else near, near, identifier)

        return sorted(_without(self._everything & self._changes.keys(), reverted), key=distance)


def _without(changes: Iterable[ChangeId], reverted: ChangeSet) -> list[ChangeId]:
    return [change for change in changes if change not in reverted]
