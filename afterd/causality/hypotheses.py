"""Which run to make next, so that as few as possible are needed.

Blind halving takes log2 n runs and more for each guilty change; evidence does better. The next run
is the one whose answer is expected to tell most for what it costs, and a hypothesis itself is tried
rather than a set around it. What cannot be built without many others costs more: their builds, and
what they blur in its answer. What stood between two commits of the range once builds and is no
mixture: bisecting the commits is among the runs that can be made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from math import log2

from afterd.causality.belief import Belief, Field, Seen, bits
from afterd.limits import SEARCH
from afterd.model.change import NOTHING, ChangeSet
from afterd.model.outcome import Verdict
from afterd.weights import RUNS


def next_reversion(field: Field) -> ChangeSet | None:
    """The reversion to try next; None when no run among these suspects is worth making."""
    if not field.suspects:
        return None
    belief = Belief(field)
    tried = {*field.seen, field.passing, NOTHING}
    mixed = _telling(field.seen)
    order = _code_order(field)
    best, most = None, 0.0
    versions = frozenset(_unmixed(field, belief))
    for candidate in (*_candidates(field, belief), *_cuts(order), *sorted(versions)):
        reverted = belief.changes(candidate)
        chance = belief.passes(candidate)
        whole = candidate in versions or len(reverted) == 1
        together = 1.0 if whole else mixed
        if reverted in tried or not RUNS.too_sure * together < chance < 1 - RUNS.too_sure / 4:
            continue
        gain = _entropy(chance) + RUNS.direct * belief.exactly(candidate)
        borders = 0 if candidate in versions else _borders(candidate, order)
        gain *= together / (belief.cost(candidate) + RUNS.border * borders)
        if gain > most + 1e-9 and candidate not in versions and not field.stands(reverted):
            gain *= RUNS.entangled
        if gain > most + 1e-9:
            best, most = reverted, gain
    return best


def _telling(seen: Seen) -> float:
    """How often reverting several changes tells anything: parts of a rewrite, mixed, fail otherwise."""
    several = [verdict for reverted, verdict in seen.items() if len(reverted) > 1]
    silent = several.count(Verdict.UNRESOLVED)
    return (1 + len(several) - silent) / (1 + len(several) + silent)


def _candidates(field: Field, belief: Belief) -> Iterator[int]:
    """Likely hypotheses, then the likeliest suspects together: 1, 2, … of them.

    Of all suspects, and of those that can be undone by themselves.
    """
    yield from belief.likeliest(12)
    guilt = belief.guilt()
    order = sorted(range(len(field.suspects)), key=lambda place: (-guilt[place], place))
    yield from _prefixes(order)
    alone = [place for place in order if belief.alone(place)]
    if len(alone) < len(order):
        yield from _prefixes(alone)


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
    inside = [mask >> place & 1 for place in order]
    return sum(one != other for one, other in pairwise(inside))


def _unmixed(field: Field, belief: Belief) -> Iterator[int]:
    """What undoes whole commits: those after the one that halves what is guilty, and the likeliest alone."""
    if not field.versions:
        return
    guilt = belief.guilt()
    newest = [*map(belief.mask, field.versions), (1 << len(field.suspects)) - 1]
    commits = [mask & ~before for before, mask in pairwise([0, *newest])]
    shares = [sum(guilt[place] for place in bits(mask)) for mask in commits]
    half, passed = sum(shares) / 2, list(accumulate(shares))
    nearest = sorted(range(len(newest)), key=lambda at: (abs(passed[at] - half), at))
    yield from (newest[at] for at in nearest[: SEARCH.commits])
    likeliest = sorted(range(len(commits)), key=lambda at: (-shares[at], at))
    yield from (commits[at] for at in likeliest[: SEARCH.commits] if commits[at])


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
