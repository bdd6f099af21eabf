"""Auxiliary changes: what must be reverted along for a variant to build (AFTER, section IV).

Algorithm 4 starts from all other changes. On a range of a thousand that is ten builds before
anything is learned, so candidates are ordered first: those that mention a name which the compiler
complains about, or which few changes but the reverted ones mention, then those of the same function
and file, then the rest. A prefix of that order that builds (1, 2, 4, … of them) is what Algorithm 4
shrinks.

A build of a real program can take half a minute, and most of the sets that are asked for fail at the
first file. So where a language can tell that a variant cannot be built (C: the files that changed are
compiled alone, for their syntax), Algorithm 4 asks that first, and one build confirms its answer. If
that fails after all (a linker misses a symbol), it starts again with builds alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from afterd.deltas.dependencies import Changes, partition, place, structural_order
from afterd.model.change import NOTHING, Change, ChangeId, ChangeSet

_NAME = re.compile(r"[A-Za-z_]\w+")
_QUOTED = re.compile(r"['‘’`\"]([A-Za-z_][\w.:]*)['‘’`\"]")
_FILE = re.compile(r"^[\w./+-]+\.\w{1,4}(?=: )|[\w./+-]+\.\w{1,4}(?=:\d)", re.MULTILINE)

_FEW_ALONG, _MANY_ALONG = 12, 50
_ROUNDS = 24
"""How often a compiler's complaints are answered before its answer is given up."""

Builds = Callable[[ChangeSet], bool]
Unbuildable = Callable[[ChangeSet], str]
"""What a compiler says against a variant, without a build; empty where it says nothing."""


IsRead = Callable[[Change], bool]
"""Whether undoing a change can alter what that compiler says."""


def all_are_read(change: Change) -> bool:  # noqa: ARG001 - it answers an IsRead's question
    """The answer where a compiler reads everything."""
    return True


def nothing_against(reverted: ChangeSet) -> str:  # noqa: ARG001 - it answers an Unbuildable's question
    """The answer for programs of which nothing is known without building them."""
    return ""


class AuxiliarySearch:
    """FindAuxChange with its cache: it costs builds, not test runs.

    ``everything`` is all that can be reverted: reverting it gives the good version, which builds.
    ``most`` bounds the builds of all searches together; each search may use at least a third.
    ``suspected``: what speaks against a variant is no proof, and no build says more than a run does.
    """

    def __init__(
        self,
        builds: Builds,
        changes: Changes,
        everything: ChangeSet,
        most: int = 90,
        unbuildable: Unbuildable = nothing_against,
        is_read: IsRead = all_are_read,
        *,
        suspected: bool = False,
    ) -> None:
        self.builds = 0
        self._suspected = suspected
        self._unbuildable = unbuildable
        self._is_read = is_read
        self._against: dict[ChangeSet, str] = {}
        self._entangled: dict[ChangeId, bool] = {}
        self._ask = builds
        self._changes = changes
        self._left = most
        self._least = most // 3
        self._found: dict[ChangeSet, ChangeSet | None] = {}
        self._build: dict[ChangeSet, bool] = {everything: True}
        self._names = {change.id: _names(change.patch) for change in changes.values()}
        self._spread = Counter(name for names in self._names.values() for name in names)

    def known(self, reverted: ChangeSet) -> ChangeSet | None:
        """The auxiliary set of ``reverted`` if it was looked for before."""
        return self._found.get(reverted)

    def note_built(self, reverted: ChangeSet) -> None:
        """A variant was seen to build."""
        self._build[reverted] = True

    def unbuildable(self, reverted: ChangeSet) -> str:
        """What is known against building ``reverted``, without a build; asked for once."""
        if self._build.get(reverted):
            return ""
        if reverted not in self._against:
            self._against[reverted] = self._unbuildable(reverted)
        return self._against[reverted]

    def is_entangled(self, change: ChangeId) -> bool:
        """Whether a change does not compile alone, and no few others that errors name help it."""
        alone = frozenset([change])
        if not self.unbuildable(alone):
            return False
        if change not in self._entangled:
            mended = self._mended(alone, self._read(self._candidates(alone, "")))
            self._entangled[change] = mended is None or len(mended) > _FEW_ALONG
        return self._entangled[change]

    def find(self, reverted: ChangeSet, diagnostics: str = "") -> ChangeSet | None:
        """A minimal set with which ``reverted`` builds; None when none was found within budget.

        Minimal: without any one of its changes it does not build. ``diagnostics`` is what the
        compiler said without it.
        """
        if reverted not in self._found:
            self._left = max(self._left, self._least)
            self._build[reverted] = False
            self._found[reverted] = self._search(reverted, diagnostics)
        return self._found[reverted]

    def _search(self, reverted: ChangeSet, diagnostics: str) -> ChangeSet | None:
        candidates = self._candidates(reverted, diagnostics)
        if self._suspected and self.unbuildable(reverted):
            return self._read_off(reverted, self._read(candidates))
        told = self._told(reverted, candidates) if self.unbuildable(reverted) else None
        return told or self._smallest(reverted, candidates, self._builds)

    def _told(self, reverted: ChangeSet, candidates: Sequence[ChangeId]) -> ChangeSet | None:
        """What a compiler asks for, of the changes that it reads, if a build agrees; else None."""
        read = self._read(candidates)
        mended = self._mended(reverted, read)

        def compiles(tried: ChangeSet) -> bool:
            return not self.unbuildable(tried)

        gamma = (
            self._smallest(reverted, read, compiles)
            if mended is None
            else self._one_by_one(reverted, mended, compiles)
        )
        return gamma if gamma is not None and self._builds(reverted | gamma) else None

    def _read_off(self, reverted: ChangeSet, candidates: Sequence[ChangeId]) -> ChangeSet | None:
        """What the text asks for: no build says more than a run.

        What is many is not made minimal: it is not what these changes need, or will be shrunk.
        """
        mended = self._mended(reverted, candidates)
        if mended is None or len(mended) > _MANY_ALONG:
            return mended
        return self._one_by_one(reverted, mended, lambda tried: not self.unbuildable(tried))

    def _one_by_one(self, delta: ChangeSet, gamma: ChangeSet, builds: Builds) -> ChangeSet:
        """Γ without what it does not need, where most of it is needed: Algorithm 4 asks four times
        as often.
        """
        for change in reversed(self._in_place(gamma)):
            if builds(delta | (gamma - {change})):
                gamma -= {change}
        return gamma

    def _read(self, candidates: Sequence[ChangeId]) -> list[ChangeId]:
        return [c for c in candidates if self._is_read(self._changes[c])]

    def _mended(self, reverted: ChangeSet, candidates: Sequence[ChangeId]) -> ChangeSet | None:
        """Candidates undone for what the compiler says, until it has nothing to say.

        A fixed prefix of all candidates does worse: each that is not needed needs others itself.
        """
        gamma: ChangeSet = NOTHING
        for _ in range(_ROUNDS):
            said = self.unbuildable(reverted | gamma)
            if not said:
                return gamma
            left = [c for c in candidates if c not in gamma]
            more = self._complained_of(said, left) or self._beside(said, left, reverted | gamma)
            if not more:
                return None
            gamma |= more
        return None

    def _complained_of(self, said: str, candidates: Sequence[ChangeId]) -> ChangeSet:
        """Those in a file with errors that mention a name in them; else the one that mentions most."""
        quoted, files = _QUOTED.findall(said), frozenset(_FILE.findall(said))
        complaints = frozenset((*quoted, *(name.rpartition(".")[2] for name in quoted)))
        mentioning = [c for c in candidates if self._names[c] & complaints]
        near = [c for c in mentioning if any(self._changes[c].file.endswith(f) for f in files)]
        if near or not mentioning:
            return frozenset(near)
        return frozenset([max(mentioning, key=lambda c: self._shared(c, complaints))])

    def _beside(self, said: str, candidates: Sequence[ChangeId], reverted: ChangeSet) -> ChangeSet:
        """The nearest one in a file that does not parse: half a statement was undone."""
        files = frozenset(_FILE.findall(said))
        undone = [self._changes[c] for c in reverted if c in self._changes]
        beside = {
            c: min(abs(self._changes[c].new.start - each.new.start) for each in near)
            for c in candidates
            if self._changes[c].file in files
            and (near := [each for each in undone if each.file == self._changes[c].file])
        }
        return frozenset([min(beside, key=lambda c: (beside[c], c))]) if beside else NOTHING

    def _shared(self, change: ChangeId, names: frozenset[str]) -> float:
        """How much a change has to do with the names: those that few changes mention count most."""
        return sum(1 / self._spread[name] for name in self._names[change] & names)

    def _smallest(
        self, reverted: ChangeSet, candidates: Sequence[ChangeId], builds: Builds
    ) -> ChangeSet | None:
        """A minimal set of the candidates with which ``reverted`` builds, the first ones first."""
        length = 1
        while length < len(candidates):
            if builds(reverted.union(candidates[:length])):
                break
            length *= 2
        gamma = frozenset(candidates[:length])
        if not gamma or not builds(reverted | gamma):
            return None
        return self._find_aux_change(reverted, gamma, builds)

    def _find_aux_change(self, delta: ChangeSet, gamma: ChangeSet, builds: Builds) -> ChangeSet:
        """Algorithm 4: Γ shrinks while Δ ∪ Γ builds."""
        n = 2
        while n <= len(gamma):
            for part in partition(self._in_place(gamma), self._changes, n):
                if builds(delta.union(part)):
                    gamma, n = frozenset(part), 2
                    break
                if n > 2 and builds(delta | gamma.difference(part)):
                    gamma, n = gamma.difference(part), max(n - 1, 2)
                    break
            else:
                if n == len(gamma):
                    break
                n = min(2 * n, len(gamma))
        return gamma

    def _builds(self, reverted: ChangeSet) -> bool:
        if reverted not in self._build:
            if self.unbuildable(reverted):
                return False
            if self._left <= 0:
                return False
            self._left -= 1
            self.builds += 1
            self._build[reverted] = self._ask(reverted)
        return self._build[reverted]

    def _in_place(self, identifiers: Iterable[ChangeId]) -> list[ChangeId]:
        return structural_order(self._changes[identifier] for identifier in identifiers)

    def _candidates(self, reverted: ChangeSet, diagnostics: str) -> Sequence[ChangeId]:
        """All other changes, those first that most likely belong to ``reverted``."""
        earlier = self._earlier(reverted)
        others = [c for c in self._in_place(self._changes) if c not in reverted]
        own = NOTHING.union(*(self._names[c] for c in reverted if c in self._names))
        complaints = frozenset(_QUOTED.findall(diagnostics))
        files = frozenset(_FILE.findall(diagnostics))
        places = {place(self._changes[c]) for c in reverted if c in self._changes}

        def distance(identifier: ChangeId) -> tuple[bool, float, bool, bool, bool]:
            change = self._changes[identifier]
            shared = self._shared(identifier, own) + 4 * self._shared(identifier, complaints)
            return (
                identifier not in earlier,
                -round(shared, 3),
                place(change) not in places,
                change.file not in {file for file, _ in places},
                not any(change.file.endswith(file) for file in files),
            )

        return sorted(others, key=distance)

    def _earlier(self, reverted: ChangeSet) -> ChangeSet:
        """What parts of ``reverted`` needed when they were reverted alone."""
        found = (aux for part, aux in self._found.items() if aux and part <= reverted)
        return NOTHING.union(*found) - reverted


def _names(patch: str) -> frozenset[str]:
    """The identifiers on the lines that a change removes or adds."""
    lines = (line[1:] for line in patch.splitlines() if line[:1] in {"+", "-"})
    return frozenset(name for line in lines for name in _NAME.findall(line))
