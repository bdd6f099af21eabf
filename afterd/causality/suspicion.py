"""How suspicious a change is, from the causes it stands in and from the green run beside them.

Six tiers, the strongest evidence first. Within a tier, causes nearer to the failure count more: a
change further up may repair the test by taking another way around the fault (AFTER, section III-B).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from afterd.causality.cause import Link
from afterd.causality.infection import Green, Role, effect, is_harmless, is_infected, role
from afterd.causality.signs import SIGN_OF_CONDUCT, Sign, odds_of
from afterd.limits import SEARCH
from afterd.model.change import NOTHING, ChangeId, ChangeSet, in_order
from afterd.model.progress import Signs
from afterd.model.term import StepId
from afterd.model.trace import Conduct, Effect, Execution, Step
from afterd.weights import ODDS

PARTED = frozenset([Conduct.PARTED])
"""Conduct that makes a suspect whatever the causes say: the two runs part there."""

MANY = SEARCH.many
"""Stands for the changes that must go along where it is only known that few are not enough."""


class Tier(IntEnum):
    """How a change is known to have had a hand in the failure."""

    ENTRY = 1  # infection enters a cause at its statement
    CARRIER = 2  # its statement is in a cause and has another value than in green
    CAUSE = 3  # its statement is in a cause; what green had there is not known
    SLICE = 4  # its statement is in the dynamic slice, or in a cause but with green's value
    EXECUTED = 5  # the failing run executed its statement
    OTHER = 6


WEIGHTS = {
    Tier.ENTRY: ODDS.entry,
    Tier.CARRIER: ODDS.carrier,
    Tier.CAUSE: ODDS.cause,
    Tier.SLICE: ODDS.slice,
    Tier.EXECUTED: ODDS.executed,
    Tier.OTHER: ODDS.other,
}
"""Odds of being guilty, relative to each other."""

_TIER_OF_ROLE = {
    Role.ENTRY: Tier.ENTRY,
    Role.GUARDED: Tier.CARRIER,
    Role.CARRIER: Tier.CARRIER,
    Role.UNKNOWN: Tier.CAUSE,
    Role.CLEAN: Tier.SLICE,
}


@dataclass(frozen=True, slots=True)
class Suspect:
    """A change with its tier; ``step`` is where it shows (0: nowhere), ``level`` as in ``Link``.

    ``signs`` are what else is known: whether an effect was seen, how green speaks of the cause; ``kinship``
    is how much it shares with leading suspects (``kinship``), ``similarity`` how much its text does with the failing
    test's (``textual_similarity``).
    ``along``: how many other changes must go along for a variant without it to be built; ``needs``: which,
    where that costs no build to know; ``defines``: it only defines what these use. ``home``: its file, class and
    function, outermost first, or only its file where the text does not tell what belongs together (C).
    """

    change: ChangeId
    tier: Tier
    level: int = 0
    step: StepId = 0
    signs: tuple[Sign, ...] = ()
    kinship: float = 0.0
    similarity: float = 0.0
    along: int = 0
    needs: ChangeSet = NOTHING
    defines: bool = False
    home: tuple[str, ...] = ()

    @property
    def weight(self) -> float:
        """The odds that this change is guilty, relative to other suspects."""
        own = WEIGHTS[self.tier] * odds_of(self.signs) * ODDS.level**self.level
        return own * float(ODDS.similar**self.similarity) * (1 + ODDS.kin * self.kinship)

    def counted_signs(self) -> Signs:
        """What its weight is made of: how often each of the odds counts, by name."""
        counted = Counter[str]([self.tier.name.lower(), *map(str, self.signs)])
        rest = {"level": self.level, "kin": self.kinship, "similar": round(self.similarity, 1)}
        return {**counted, **{name: much for name, much in rest.items() if much}}


def with_along(suspect: Suspect, along: ChangeSet | None) -> Suspect:
    """The suspect, where it is known what must go along for a variant without it to be built; None: few do not help."""
    if along is None:
        return replace(suspect, signs=(*suspect.signs, Sign.ENTANGLED), along=MANY)
    return replace(suspect, along=len(along))


def suspects_of(
    execution: Execution,
    green: Green,
    links: Sequence[Link],
    *,
    unmet: Container[Conduct] = PARTED,
) -> list[Suspect]:
    """The changes that the causes speak of, most suspicious first.

    Also those to which no cause has come and whose conduct is one of ``unmet``: a cause may have been
    cut off.
    """
    best: dict[ChangeId, Suspect] = {}
    conduct = _not_belied(execution, links)
    found = (
        _judged_suspect(suspect, conduct) for suspect in _found_suspects(execution, green, links)
    )
    also = (
        Suspect(change, Tier.CAUSE, signs=(_unmet_sign(did),))
        for change, did in conduct.items()
        if did in unmet
    )
    for suspect in (*found, *also):
        known = best.get(suspect.change)
        if known is None or _telling(suspect) > _telling(known):
            best[suspect.change] = suspect
    return sorted(best.values(), key=_key)


def _telling(suspect: Suspect) -> tuple[bool, float]:
    """What counts of several things known of one change: that something makes it a suspect, then how much. A round in
    which its statement did as in green says nothing of another one.
    """
    return suspect.tier <= Tier.CAUSE, suspect.weight


def likeliest_of(
    suspects: Sequence[Suspect],
    lead: ChangeId,
    whole: ChangeSet,
    needed: Callable[[ChangeSet], ChangeSet],
    renames: ChangeSet = NOTHING,
) -> ChangeId:
    """Which change leads of a ``whole`` that is undone whichever of it is asked for: no run tells that.

    That is so where all of it is ``needed`` by the names of ``lead``, and of another. The likeliest leads, of equals
    the one that shows nearest to the failure. Of ``renames``, which do what their old text did, none leads where
    another change is there: toml++'s constant had a new name, and the buffer that was made with it a new size.
    """

    def asks_for_all(change: ChangeId) -> bool:
        return needed(frozenset({change})) | {change} == whole

    others = whole - renames
    if lead in renames and others:
        lead, equal = in_order(others)[0], others
    elif asks_for_all(lead):
        suspected = whole & {each.change for each in suspects}
        equal = frozenset(filter(asks_for_all, suspected))
    else:
        return lead
    known = [each for each in suspects if each.change in equal]
    best = max(known, key=lambda each: (each.weight, each.step), default=None)
    return lead if best is None else best.change


def _not_belied(execution: Execution, links: Sequence[Link]) -> Mapping[ChangeId, Conduct]:
    """The conduct without what a step of the causes belies: it is that of some executions of a statement.

    Of two thousand comparisons in a sort, the one of equals was not among the dozen looked at; a condition of which a
    part was taken away did what its old text did, and went another way than green all the same. (Of a call
    that did as in green it is no news that a statement in it did otherwise.)
    """
    steps = (step for link in links for step in link.cause.steps if step.changes)
    belied = {c for step in steps if _belies(execution, step) for c in step.changes}
    known = execution.conduct()
    return {c: did for c, did in known.items() if did is not Conduct.NEUTRAL or c not in belied}


def _belies(execution: Execution, step: Step) -> bool:
    did = effect(step)
    other_way = did is Effect.NEUTRAL and is_infected(step) and not is_harmless(execution, step)
    return did is Effect.MATTERS or other_way


def _judged_suspect(suspect: Suspect, conduct: Mapping[ChangeId, Conduct]) -> Suspect:
    """A suspect in the light of what its code did, whatever the cause says of one statement."""
    did = conduct.get(suspect.change)
    if did is None:
        return suspect
    tier = suspect.tier
    if did is Conduct.PARTED:
        tier = min(tier, Tier.CAUSE)
    elif did in {Conduct.SAME, Conduct.NEUTRAL}:
        tier = max(tier, Tier.SLICE)
    return replace(suspect, tier=tier, signs=(*suspect.signs, SIGN_OF_CONDUCT[did]))


def _unmet_sign(did: Conduct) -> Sign:
    return Sign.UNMET_PARTED if did is Conduct.PARTED else Sign.UNMET


def ranked_suspects(
    suspects: Sequence[Suspect],
    tiers: Iterable[tuple[Tier, Iterable[ChangeId]]],
    conduct: Mapping[ChangeId, Conduct],
) -> list[Suspect]:
    """``suspects``, then the changes of further tiers that are not among them, in their order."""
    found = {suspect.change: suspect for suspect in suspects}
    for tier, changes in tiers:
        for change in changes:
            found.setdefault(change, _judged_suspect(Suspect(change, tier), conduct))
    return list(found.values())


def _found_suspects(execution: Execution, green: Green, links: Sequence[Link]) -> Iterable[Suspect]:
    """Suspects, nearest to the failure first; what stands in a statement before what is missing there, so
    that of two equal places the own one is told.
    """
    steps = [
        (link, step, role(execution, green, step))
        for link in links
        for step in reversed(link.cause.steps)
    ]
    for link, step, part in steps:
        seen = (Sign.EFFECT_SEEN,) if effect(step) is Effect.MATTERS else ()
        for change in step.changes:
            yield Suspect(
                change, _tier(execution, step, part), link.level, step.id, (*link.doubt, *seen)
            )
    unclean = [
        each for each in steps if each[2] is not Role.CLEAN or _is_failure_itself(each[0], each[1])
    ]
    for link, step, part in unclean[: SEARCH.omissions]:
        for change in execution.omitted(step.id):
            yield Suspect(change, _omission(step, part), link.level, step.id, link.doubt)
    for link in links:
        yield from _suspects_beyond(execution, green, link)


def _is_failure_itself(link: Link, step: Step) -> bool:
    """Whether a failure is told at this step, which may be as in green: what is missing is not there to be a step."""
    return link.parent is None and step.id == link.cause.predicate.step


def _suspects_beyond(execution: Execution, green: Green, link: Link) -> Iterable[Suspect]:
    """Changes outside the core: it shows one way in which the failure had to come about, and when
    that way is barred there may be another.
    """
    for step in (*link.cause.origins, *link.cause.beyond):
        if step.changes:
            tier = _tier(execution, step, role(execution, green, step))
            tier = Tier.CARRIER if tier is Tier.ENTRY else Tier.SLICE
            for change in step.changes:
                yield Suspect(change, tier, link.level, step.id, link.doubt)


def _tier(execution: Execution, step: Step, part: Role) -> Tier:
    """The tier of the changes of a step.

    What the good version's statement would have done on the values that this one had weighs more
    than where the infection seems to enter: a rewritten statement on ill values is a carrier.
    """
    if is_harmless(execution, step):
        return Tier.SLICE
    if effect(step) is Effect.MATTERS and part is not Role.CLEAN:
        return Tier.ENTRY if is_infected(step) else Tier.CARRIER
    return _TIER_OF_ROLE[part]


def _omission(step: Step, part: Role) -> Tier:
    """A removed writer explains an infected value where nothing that is there does."""
    if step.changes or not is_infected(step):
        return Tier.CAUSE
    return _TIER_OF_ROLE[part]


def _key(suspect: Suspect) -> tuple[float, int, str]:
    return -suspect.weight, -suspect.step, suspect.change
