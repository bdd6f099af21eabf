"""Which run to make next, so that as few as possible are needed.

Blind halving takes log2 n runs and more for each guilty change; evidence does better. Until a reversion passes the next
run is the one whose answer is expected to tell most for what it costs, and a hypothesis itself is tried rather than a
set around it. Of what passes each change has to be put back once anyhow, so the next run is then the part by which most
of these are hoped to be saved, as in ProbDD (Wang and others, FSE 2021, section 3.2), and none where less than one is.
What cannot be built without many others costs more: their builds, and what they blur in its answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import log2

import numpy as np

from afterd.causality.belief import Belief, Field, Seen, cost_with
from afterd.causality.wider import flags_of
from afterd.limits import SEARCH
from afterd.model.change import NOTHING, ChangeSet
from afterd.model.outcome import Verdict
from afterd.weights import RUNS

Hoped = Callable[[int, float, Belief], float]
"""What is hoped of reverting the suspects of a mask, which passes with such a chance by a belief."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A reversion to try, and what is hoped of it for each run that it costs, by a ``belief``: bits until one passes,
    then runs that it saves.
    """

    reverted: ChangeSet
    gain: float
    belief: Belief


def next_reversion(field: Field) -> ChangeSet | None:
    """The reversion to try next; None when no run among these suspects is worth making."""
    proposal = proposed_reversion(field)
    return None if proposal is None else proposal.reverted


def proposed_reversion(field: Field) -> Proposal | None:
    """The same, with what it is hoped to tell."""
    if not field.suspects:
        return None
    belief = Belief(field)
    past = (each for each in (*field.seen, field.passing, NOTHING) if each is not None)
    tried = {belief.mask(each) for each in past if belief.holds(each)}
    telling = _telling_chance(field.seen, belief)
    order = _code_order(field)
    hoped: Hoped = _hoped_bits
    most = 0.0
    if field.passing is not None:  # a run that saves less than itself is not made
        hoped, most = _hoped_runs(len(field.suspects)), 1.0
    best: int | None = None
    candidates = (*_candidates(field, belief), *_cuts(order), *belief.every())
    for candidate in candidates:
        if candidate in tried:
            continue
        chance = belief.passes(candidate)
        together = 1.0 if candidate.bit_count() == 1 else telling(candidate)
        if not RUNS.too_sure * together < chance < 1 - RUNS.too_sure / 4:
            continue
        gain = together * hoped(candidate, chance, belief)
        cost = belief.cost(candidate)
        if gain / cost > most + 1e-9:
            cost = max(cost, cost_with(field.along(belief.changes(candidate))))
            cost += RUNS.border * _borders(candidate, order)
        gain /= cost
        if gain > most + 1e-9 and not field.stands(belief.changes(candidate)):
            gain *= RUNS.entangled
        if gain > most + 1e-9:
            best, most = candidate, gain
    return None if best is None else Proposal(belief.changes(best), most, belief)


def _hoped_bits(candidate: int, chance: float, belief: Belief) -> float:
    """What a run tells of who is guilty, where nothing passes yet."""
    return _entropy(chance) + RUNS.direct * belief.exactly(candidate)


def _hoped_runs(suspects: int) -> Hoped:
    """Runs that a part of so many suspects, which pass together, is hoped to save: one for each change left out,
    and more where it is a root itself, as nothing is then asked for in vain.
    """
    vain = RUNS.exact * min(suspects, SEARCH.put_back)

    def hoped(candidate: int, chance: float, belief: Belief) -> float:
        left_out = suspects - candidate.bit_count()
        return chance * left_out + vain * belief.exactly(candidate)

    return hoped


def telling_share(seen: Seen) -> float:
    """How often reverting several changes told anything: parts of a rewrite, mixed, fail otherwise."""
    several = _verdicts_of_several(seen)
    silent = several.count(Verdict.UNRESOLVED)
    told = RUNS.first_told * RUNS.firsts
    return (told + len(several) - silent) / (RUNS.firsts + len(several) + silent)


def _verdicts_of_several(seen: Seen) -> list[Verdict | None]:
    return [verdict for reverted, verdict in seen.items() if len(reverted) > 1]


def _telling_chance(seen: Seen, belief: Belief) -> Callable[[int], float]:
    """How likely reverting several changes is to tell anything: that is told most by sets that were tried and differ
    from it in few changes, or that are in it and failed otherwise.
    """
    usual = telling_share(seen)
    if Verdict.UNRESOLVED not in seen.values():
        return lambda _: usual
    known = [
        (belief.mask(reverted), verdict is not Verdict.UNRESOLVED)
        for reverted, verdict in seen.items()
        if verdict is not None and belief.holds(reverted)
    ]

    def share(candidate: int) -> float:
        near = [(_likeness(candidate, mask, told=told), told) for mask, told in known]
        tells = sum(weight for weight, told in near if told)
        every = sum(weight for weight, _ in near)
        return (RUNS.strangers * usual + tells) / (RUNS.strangers + every)

    return share


def _likeness(candidate: int, tried: int, *, told: bool) -> float:
    """How far a set that was tried tells of another one: less for each change in which they differ. What made a part of
    it fail otherwise is still in it: there less for each time that the part was doubled.
    """
    difference: float = (candidate ^ tried).bit_count()
    if not told and tried and not tried & ~candidate:
        difference = log2(candidate.bit_count() / tried.bit_count())
    return float(RUNS.likeness**difference)


def _candidates(field: Field, belief: Belief) -> Iterator[int]:
    """Likely hypotheses, then the likeliest suspects together: 1, 2, … of them.

    Of all suspects, of those that can be undone by themselves, and of those that do not make the test fail otherwise.
    """
    yield from belief.likeliest(12)
    guilt = belief.guilt()
    order = sorted(range(len(field.suspects)), key=lambda place: (-guilt[place], place))
    yield from _prefixes(order)
    alone = [place for place in order if belief.alone(place)]
    if len(alone) < len(order):
        yield from _prefixes(alone)
    quiet = [place for place in alone if not _fails_otherwise(field, place)]
    if len(quiet) < len(alone):
        yield from _prefixes(quiet)


def _fails_otherwise(field: Field, place: int) -> bool:
    """Whether a suspect alone was seen to make the test fail otherwise."""
    alone = frozenset([field.suspects[place].change])
    return field.seen.get(alone) is Verdict.UNRESOLVED


def _code_order(field: Field) -> list[int]:
    """The suspects' places as they follow each other in the code; empty where that does not matter."""
    place = {suspect.change: at for at, suspect in enumerate(field.suspects)}
    return [place[change] for change in field.neighbours if change in place]


def _cuts(order: Sequence[int]) -> Iterator[int]:
    """What stands before a place in the code, and what stands behind it."""
    every = sum(1 << place for place in order)
    if len(order) <= SEARCH.cuts:
        return
    step = len(order) // SEARCH.cuts
    mask = 0
    for length, place in enumerate(order, start=1):
        mask |= 1 << place
        if length % step == 0 and mask != every:
            yield mask
            yield every & ~mask


def _borders(mask: int, order: Sequence[int]) -> int:
    """How often the reverted part of the code begins or ends."""
    if not order:
        return 0
    inside = flags_of(mask, max(mask.bit_length(), len(order)))[order]
    return int(np.count_nonzero(inside[1:] != inside[:-1]))


def _prefixes(order: Sequence[int]) -> Iterator[int]:
    mask = 0
    for length, place in enumerate(order, start=1):
        mask |= 1 << place
        if length <= 24 or length % max(1, length // 12) == 0 or length == len(order):
            yield mask


def _entropy(chance: float) -> float:
    if not 0.0 < chance < 1.0:
        return 0.0
    return -chance * log2(chance) - (1 - chance) * log2(1 - chance)
