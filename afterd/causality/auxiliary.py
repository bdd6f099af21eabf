"""Auxiliary changes: what must be reverted along for a variant to build (AFTER, section IV).

Algorithm 4 starts from all other changes. On a range of a thousand that is ten builds before
anything is learned, so candidates are ordered first: those that mention a name which the compiler
complains about, or which few changes but the reverted ones mention, then those of the same function
and file, then the rest. A prefix of that order that builds (1, 2, 4, … of them) is what Algorithm 4
shrinks.

A build of a real program can take half a minute, and most of the sets that are asked for fail at the
first file. So where a language can tell that a variant cannot be built (C: the files that changed are
compiled alone, for their syntax), Algorithm 4 asks that first, and one build confirms its answer. If
that fails after all (a linker misses a symbol, another compiler is stricter), what the build itself says is
answered, one build after the other; only where it says nothing of use, prefixes are built.

What needs very many others is given up: reverting c-ares' name parser with the 130 changes that it
takes cost 46 builds without an end, and told nothing of the parser. Then the variant is one that does not
build, as it is for delta debugging.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

from afterd.causality.answers import Answers, Brings, nothing_brought
from afterd.causality.complaint import complaint, has_crashed, symbols
from afterd.causality.deltas.dependencies import Changes, partition, place, structural_order
from afterd.causality.standing import NOTHING_TOLD, Standing, Unbuildable
from afterd.causality.worth import Worth
from afterd.limits import SEARCH
from afterd.model.change import NOTHING, ChangeId, ChangeSet

_PLACE = re.compile(r":\d+|^ *\d+(?= \|)", re.MULTILINE)


Builds = Callable[[ChangeSet], bool]

Refused = Callable[[ChangeSet], str]
"""What a build said against a variant that was built in vain; it costs nothing."""


Needed = Callable[[ChangeSet], ChangeSet]
"""What must go along by the names that changes define and use, without asking a compiler."""


def nothing_needed(reverted: ChangeSet) -> ChangeSet:  # noqa: ARG001 - it answers a Needed's question
    """The answer for programs whose names nobody read."""
    return NOTHING


def nothing_said(reverted: ChangeSet) -> str:  # noqa: ARG001 - it answers a Refused's question
    """The answer where builds say nothing that is kept."""
    return ""


def most_along(reverted: ChangeSet) -> int:
    """How many changes may go along with these before it is given up."""
    return 16 + 3 * len(reverted)


class AuxiliarySearch:
    """FindAuxChange with its cache: it costs builds, not test runs.

    ``everything`` is all that can be reverted: reverting it gives the good version, which builds.
    ``standing``: what can be told of a variant without building it.
    """

    def __init__(
        self,
        builds: Builds,
        changes: Changes,
        everything: ChangeSet,
        standing: Standing = NOTHING_TOLD,
        needed: Needed = nothing_needed,
        worth: Worth | None = None,
        refused: Refused = nothing_said,
        brings: Brings = nothing_brought,
    ) -> None:
        self.builds = 0
        self._refused = refused
        self._said: dict[ChangeSet, str] = {}
        self._taught: dict[ChangeSet, ChangeSet] = {}
        self._untold = set[ChangeSet]()  # of which a compiler was asked in vain what goes along
        self._needed = cache(needed)
        self._worth = worth or Worth()
        self.standing = standing
        self._against: dict[ChangeSet, str] = {}
        self._along: dict[ChangeId, ChangeSet | None] = {}
        self._ask = builds
        self._changes = changes
        self._allowed = 0.0
        self._found: dict[ChangeSet, ChangeSet | None] = {}
        self._build: dict[ChangeSet, bool] = {everything: True}
        self._whole = frozenset(changes)
        self._answers = Answers(changes, brings, proves=standing.proves)

    def known(self, reverted: ChangeSet) -> ChangeSet | None:
        """The auxiliary set of ``reverted`` if it was looked for before."""
        return self._found.get(reverted)

    def note_built(self, reverted: ChangeSet) -> None:
        """A variant was seen to build."""
        self._build[reverted] = True

    def unbuildable(self, reverted: ChangeSet) -> str:
        """What is known against building ``reverted``, without a build; asked for once.

        Where only changes that cannot matter stay, a text that is no proof is not heard.
        """
        if self._build.get(reverted) or (reverted == self._whole and not self.standing.proves):
            return ""
        if reverted not in self._against:
            self._against[reverted] = self.standing.against(reverted)
        return self._against[reverted]

    def lacks(self, reverted: ChangeSet) -> bool:
        """Whether ``reverted`` asks for more by its names, which a compiler of single files does not miss: to build
        it alone would end at the linker.
        """
        return bool(self.named(reverted))

    def named(self, reverted: ChangeSet) -> ChangeSet:
        """What ``reverted`` asks for by its names, and by what builds said, where a compiler decides; it is free."""
        return self._asked_for(reverted) if self.standing.proves else NOTHING

    def _asked_for(self, reverted: ChangeSet) -> ChangeSet:
        """What names ask for, and what builds did: who asked for it is among what all have that asked for the same."""
        found = self._needed(reverted)
        for told, asking in self._taught.items():
            if asking <= reverted | found and not told <= reverted | found:
                found |= told - reverted
        return found

    def _teach(self, reverted: ChangeSet, told: ChangeSet) -> None:
        """A build refused a set without what it ``told``: twenty sets in a row lacked the same (libxkbcommon)."""
        if told:
            self._taught[told] = self._taught.get(told, reverted) & reverted

    def spent(self) -> float:
        """What builds that were made to see what goes along, and the compiler's answers, have cost, in runs."""
        asked = self.standing.work() / self._worth.run if self.standing.proves else 0.0
        return self.builds + asked

    def is_incomplete(self, reverted: ChangeSet) -> bool:
        """Whether it is known without a build that ``reverted`` alone does not build."""
        return self.lacks(reverted) or bool(self.unbuildable(reverted))

    def by_names(self, reverted: ChangeSet) -> ChangeSet:
        """What the names of ``reverted`` ask for, and a compiler besides, before anything is built; nothing where they
        ask for nothing.
        """
        if not self.lacks(reverted):
            return NOTHING
        candidates = self._candidates(reverted, "")
        told = self._told(reverted, candidates, self._asked_for(reverted))
        if told is None:
            self._untold.add(reverted)
        return told or NOTHING

    def note_found(self, reverted: ChangeSet, auxiliary: ChangeSet) -> None:
        """A variant was seen to build with what goes along."""
        self._found[reverted] = auxiliary

    def certain(self, reverted: ChangeSet) -> str:
        """What surely keeps ``reverted`` from being built, without a build."""
        return self.standing.certain(reverted) if self.unbuildable(reverted) else ""

    def along(self, change: ChangeId) -> ChangeSet | None:
        """What a change takes along to compile; None where no few help that errors name."""
        alone = frozenset([change])
        if not self._needed(alone) and not self.unbuildable(alone):
            return NOTHING
        if change not in self._along:
            candidates = self._read(self._candidates(alone, ""))
            if self.standing.proves:
                cheaply = self._against_for_a_run()
                found = self._mended(
                    alone, candidates, SEARCH.few_along, self._needed(alone), cheaply
                )
                if found and len(found) <= SEARCH.leaner:
                    found = self._find_aux_change(alone, found, lambda tried: not cheaply(tried))
                self._along[change] = found
            else:  # the text tells in milliseconds
                found = self._read_off(alone, candidates)
                few = found is not None and len(found) <= SEARCH.few_along
                self._along[change] = found if few else None
        return self._along[change]

    def newly_along(
        self, changes: Iterable[ChangeId]
    ) -> Iterator[tuple[ChangeId, ChangeSet | None]]:
        """What each takes along, of ``changes`` of which that was not asked before: until to ask has cost as much as a
        run.
        """
        before = self.standing.work()
        for change in changes:
            asked = change in self._along or frozenset([change]) in self._against
            affordable = self._worth.beats_running(self.standing.work() - before, 1)
            if not asked and affordable:
                yield change, self.along(change)

    def _against_for_a_run(self) -> Unbuildable:
        """What is known against building a variant, until to ask that has cost as much as a run; a blank after it: a
        C++ file is read in a second, and for one suspect all who include a header were read two dozen times.
        """
        before = self.standing.work()

        def against(reverted: ChangeSet) -> str:
            affordable = self._worth.beats_running(self.standing.work() - before, 1)
            return self.unbuildable(reverted) if affordable else " "

        return against

    def _stands(self, reverted: ChangeSet) -> bool:
        return not self.unbuildable(reverted)

    def blamed(self, reverted: ChangeSet, diagnostics: str) -> ChangeSet:
        """Those of ``reverted`` that name what a linker misses; what compiles alone may take away a
        function that others call.
        """
        missed = symbols(diagnostics)
        return frozenset(c for c in reverted if self._answers.names.get(c, frozenset()) & missed)

    def find(self, reverted: ChangeSet, diagnostics: str = "") -> ChangeSet | None:
        """A small set with which ``reverted`` builds; None when none was found within budget.

        Without any one of its changes it does not build, or a build's own words asked for it. ``diagnostics`` is
        what the compiler said without it.
        """
        if reverted not in self._found:
            left = max(SEARCH.builds - self.builds, SEARCH.least_builds)
            self._allowed = self.spent() + (
                SEARCH.builds_when_told if self.standing.tells else left
            )
            self._build[reverted] = False
            self._said[reverted] = diagnostics
            self._found[reverted] = self._search(reverted, diagnostics)
        return self._found[reverted]

    def _search(self, reverted: ChangeSet, diagnostics: str) -> ChangeSet | None:
        candidates = self._candidates(reverted, diagnostics)
        needed = self._asked_for(reverted) if self.standing.proves else self._needed(reverted)
        if not needed and not self.unbuildable(reverted):
            return self._built_with(reverted, candidates)
        if not self.standing.proves:
            return self._read_off(reverted, self._read(candidates))
        if reverted in self._untold:
            return None
        told = self._told(reverted, candidates, needed)
        if told is None or self._builds(reverted | told):
            return told
        others = [c for c in candidates if c not in told]
        more = self._built_with(reverted | told, others)
        return None if more is None else told | more

    def _built_with(self, reverted: ChangeSet, candidates: Sequence[ChangeId]) -> ChangeSet | None:
        """What builds ask for in their own words, else as few of the candidates as it builds with; None where a program
        crashed that the build made and ran: that names nothing.
        """
        mended = self._mended(
            reverted, candidates, most_along(reverted), against=self._refusal, closed=True
        )
        if mended is not None:
            self._teach(reverted, mended - self._closed(reverted, NOTHING))
        if mended is not None or has_crashed(self._said.get(reverted, "")):
            return mended
        return self._smallest(reverted, candidates, self._builds)

    def _refusal(self, reverted: ChangeSet) -> str:
        """What is said against building it, by a compiler that read its files or by the build; a blank for no word."""
        if self._builds(reverted):
            return ""
        return self.unbuildable(reverted) or self._said.get(reverted, "") or " "

    def _told(
        self, reverted: ChangeSet, candidates: Sequence[ChangeId], needed: ChangeSet
    ) -> ChangeSet | None:
        """What is ``needed`` by its names (a linker asks for some of it), and what a compiler asks for
        besides, of the changes that it reads; None where that is too much, or where asking costs more than
        the runs that the answer may save: a header with the C++ library behind it is read in the time of a run.
        """
        read, most = self._read(candidates), most_along(reverted) + len(needed)
        before = self.standing.work()
        mended = self._mended(reverted, read, most, needed)
        if mended is not None:
            named = needed & mended
            return named | self._one_by_one(reverted | named, mended - named, self._stands)

        def compiles(tried: ChangeSet) -> bool:
            affordable = self._worth.beats_running(self.standing.work() - before)
            return affordable and not self.unbuildable(tried)

        return self._smallest(reverted, read, compiles)

    def _is_part(self, needed: ChangeSet) -> bool:
        """Whether what names ask for leaves most of the range: with nearly all undone anything passes."""
        return 2 * len(needed) <= len(self._changes)

    def _read_off(self, reverted: ChangeSet, candidates: Sequence[ChangeId]) -> ChangeSet | None:
        """What the text asks for: no build says more than a run.

        What is many is not made minimal: it is not what these changes need, or will be shrunk.
        """
        mended = self._mended(reverted, candidates, len(candidates))
        if mended is None or len(mended) > SEARCH.many_along:
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
        return [c for c in candidates if self.standing.is_read(self._changes[c])]

    def _mended(
        self,
        reverted: ChangeSet,
        candidates: Sequence[ChangeId],
        most: int,
        needed: ChangeSet = NOTHING,
        against: Unbuildable | None = None,
        *,
        closed: bool = False,
    ) -> ChangeSet | None:
        """What is ``needed``, and candidates undone for what the compiler says, or whoever else speaks ``against``
        it, until there is nothing to say. ``closed``: with what the names of what is undone ask for.

        A fixed prefix of all candidates does worse: each that is not needed needs others itself.
        """
        gamma, most = (needed, max(most, len(needed))) if self._is_part(needed) else (NOTHING, most)
        unanswered: Counter[str] = Counter()
        for _ in range(SEARCH.complaints):
            said = (against or self.unbuildable)(reverted | gamma)
            if not said:
                return gamma
            unanswered[_first_complaint(said)] += 1
            left = [c for c in candidates if c not in gamma]
            more = self._answers.asked_for(said, left, reverted | gamma)
            in_vain = self.standing.proves and max(unanswered.values()) > SEARCH.in_vain
            if not more or in_vain or len(gamma | more) > most:
                return None
            gamma = self._closed(reverted, gamma | more) if closed else gamma | more
        return None

    def _smallest(
        self, reverted: ChangeSet, candidates: Sequence[ChangeId], builds: Builds
    ) -> ChangeSet | None:
        """A minimal set of the candidates with which ``reverted`` builds, the first ones first."""
        candidates = candidates[: max(SEARCH.auxiliary, most_along(reverted))]
        length = 1
        while length < len(candidates):
            if builds(reverted | self._closed(reverted, candidates[:length])):
                break
            length *= 2
        gamma = self._closed(reverted, candidates[:length])
        if not gamma or not builds(reverted | gamma):
            return None
        return self._find_aux_change(reverted, gamma, builds)

    def _closed(self, delta: ChangeSet, gamma: Iterable[ChangeId]) -> ChangeSet:
        """Γ with what the names of Δ ∪ Γ ask for: without that it is known not to build."""
        together = delta.union(gamma)
        return (together | self._needed(together)) - delta

    def _find_aux_change(self, delta: ChangeSet, gamma: ChangeSet, builds: Builds) -> ChangeSet:
        """Algorithm 4: Γ shrinks while Δ ∪ Γ builds."""
        n = 2
        while n <= len(gamma):
            for part in partition(self._in_place(gamma), self._changes, n):
                if (smaller := self._part(delta, gamma, part)) and builds(delta | smaller):
                    gamma, n = smaller, 2
                    break
                rest = self._part(delta, gamma, gamma.difference(part)) if n > 2 else NOTHING
                if rest and builds(delta | rest):
                    gamma, n = rest, max(n - 1, 2)
                    break
            else:
                if n == len(gamma):
                    break
                n = min(2 * n, len(gamma))
        return gamma

    def _part(self, delta: ChangeSet, gamma: ChangeSet, part: Iterable[ChangeId]) -> ChangeSet:
        """A part of Γ with what its names ask for of Γ; nothing where that is all of it."""
        smaller = self._closed(delta, part) & gamma
        return smaller if smaller != gamma else NOTHING

    def _builds(self, reverted: ChangeSet) -> bool:
        if reverted not in self._build:
            if self.spent() >= self._allowed or self.unbuildable(reverted):
                return False
            self.builds += 1
            self._build[reverted] = self._ask(reverted)
            if not self._build[reverted]:
                self._said[reverted] = self._refused(reverted)
        return self._build[reverted]

    def _in_place(self, identifiers: Iterable[ChangeId]) -> list[ChangeId]:
        return structural_order(self._changes[identifier] for identifier in identifiers)

    def _candidates(self, reverted: ChangeSet, diagnostics: str) -> Sequence[ChangeId]:
        """All other changes, those first that most likely belong to ``reverted``."""
        earlier = self._earlier(reverted)
        others = [c for c in self._in_place(self._changes) if c not in reverted]
        own = NOTHING.union(*(self._answers.names[c] for c in reverted if c in self._answers.names))
        about = complaint(diagnostics)
        places = {place(self._changes[c]) for c in reverted if c in self._changes}
        files = {file for file, _ in places}

        def distance(identifier: ChangeId) -> tuple[bool, bool, float, bool, bool, bool]:
            change = self._changes[identifier]
            near = about.is_in(change.file) if about.files else change.file in files
            missed = self._answers.taken_away[identifier] & about.names
            shared = self._answers.shared(identifier, own) + 4 * self._answers.shared(
                identifier, about.names
            )
            return (
                identifier not in earlier,
                not (missed and near),
                -round(shared, 3),
                place(change) not in places,
                change.file not in files,
                not about.is_in(change.file),
            )

        return sorted(others, key=distance)

    def _earlier(self, reverted: ChangeSet) -> ChangeSet:
        """What parts of ``reverted`` needed when they were reverted alone, and what few it needed
        itself as a part of more.
        """
        found = (
            aux
            for other, aux in self._found.items()
            if aux and (other <= reverted or (other > reverted and len(aux) <= SEARCH.few_along))
        )
        return NOTHING.union(*found) - reverted


def _first_complaint(said: str) -> str:
    """The first thing that is said and the line it shows, without their place, which moves with what is
    undone.
    """
    return _PLACE.sub("", "\n".join(said.splitlines()[:2]))
