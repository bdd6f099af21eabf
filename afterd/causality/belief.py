"""How likely each reversion is to pass: weights of hypotheses, and what runs have left of them.

A hypothesis is a set of suspects that may be a smallest root. Its weight is that of its changes, the
prediction made for it, and what the runs so far say: a reversion that failed speaks against every
hypothesis within it, one that passed leaves only those within it.

Of few suspects all sets are listed. Of more, single changes all are, pairs and triples of the most
suspicious ones. The many others of that size are counted, not listed (``wider``): when only the listed
ones counted, the first forty of 150 equal suspects were thought to hold every pair, and what should have
been halves were thirds.

All weights are guesses, so no outcome makes a hypothesis impossible, and none is ever believed:
the search (``reversion``) believes passing runs only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from heapq import nsmallest
from itertools import combinations
from math import prod
from operator import or_

import numpy as np
import numpy.typing as npt

from afterd.causality.suspicion import Suspect
from afterd.causality.wider import Wider, flags_of
from afterd.limits import SEARCH
from afterd.model.change import ChangeId, ChangeSet
from afterd.model.outcome import Verdict
from afterd.weights import ODDS, RUNS

_LISTED = {1: SEARCH.listed, 2: SEARCH.listed_pairs, 3: SEARCH.listed_triples}
_PREDICTED = {1: SEARCH.predicted, 2: SEARCH.predicted_pairs}
_AGAINST = {Verdict.FAIL: ODDS.failed, Verdict.UNRESOLVED: ODDS.unresolved}
"""What is left of the weight of a hypothesis within a reversion that did not pass."""

Predict = Callable[[ChangeSet], float]
"""How likely a reversion is to pass, by what is known without running it."""
Seen = Mapping[ChangeSet, Verdict | None]
"""Verdicts of reversions; None where one could not be tried."""


@dataclass(frozen=True, slots=True)
class Field:
    """What is to be decided: the suspects, most suspicious first, and what is known of them.

    ``passing`` is the smallest reversion seen to pass (None: none yet; then ``outside`` is how
    likely it is that a guilty change is not among these suspects). ``seen`` are verdicts of other reversions.
    ``stands``: whether a reversion needs no other changes to go along, as far as is known; ``along``: how many its
    names ask for.
    ``clashes``: reversions that failed otherwise, each with what its failure says must be undone as well.
    ``sizes``: as ``ODDS.sizes``, after what passed. ``neighbours``: all suspects as they follow each other in
    the code, where there are too many to go by suspicion alone.
    """

    suspects: tuple[Suspect, ...]
    seen: Seen
    passing: ChangeSet | None = None
    outside: float = 0.0
    predict: Predict = lambda _reverted: 0.5
    stands: Callable[[ChangeSet], bool] = lambda _reverted: True
    along: Callable[[ChangeSet], int] = lambda _reverted: 0
    clashes: tuple[tuple[ChangeSet, ChangeSet], ...] = ()
    sizes: tuple[float, ...] = ODDS.sizes
    neighbours: tuple[ChangeId, ...] = ()

    def within(self, passing: ChangeSet) -> Field:
        """From here on only what passed is in question.

        Half of the suspects hold half of the single changes but a quarter of the pairs: each halving
        that passes says that the root is small.
        """
        inside = tuple(suspect for suspect in self.suspects if suspect.change in passing)
        mask = sum(1 << i for i, suspect in enumerate(self.suspects) if suspect.change in passing)
        weights = [suspect.weight for suspect in self.suspects]
        shares = [Wider(weights, size, 0, ()).share(mask) for size in _LISTED]
        sizes = [size * share for size, share in zip(self.sizes, shares, strict=False)]
        sizes.append(self.sizes[-1] * shares[0] ** ODDS.unmodelled_size)
        whole = sum(sizes) or 1.0
        return replace(
            self, suspects=inside, passing=passing, outside=0.0,
            sizes=tuple(size / whole for size in sizes),
        )  # fmt: skip


class Belief:
    """Weights of hypotheses, normalised. Sets are bit masks over the suspects' places."""

    def __init__(self, field: Field) -> None:
        self._places = [suspect.change for suspect in field.suspects]
        self._weights = [suspect.weight for suspect in field.suspects]
        self._along = [suspect.along for suspect in field.suspects]
        self._steps = [suspect.step for suspect in field.suspects]
        self._homes = [suspect.home for suspect in field.suspects]
        self._place_of = {change: place for place, change in enumerate(self._places)}
        self._needs = {
            place: self.mask(suspect.needs)
            for place, suspect in enumerate(field.suspects)
            if suspect.needs
        }
        self._tied = mask_of(self._needs, len(self._places))
        self._defining = mask_of(
            (i for i in self._needs if field.suspects[i].defines), len(self._places)
        )
        self._dear = mask_of((i for i, many in enumerate(self._along) if many), len(self._places))
        self._against = [
            (self._closed(self.mask(reverted)), _AGAINST[verdict])
            for reverted, verdict in field.seen.items()
            if verdict is not None and verdict is not Verdict.PASS
        ]
        self._trust = _trust(field)
        self._sizes = field.sizes
        chances = _chances_by_size(field)
        outside = 1.0 - sum(chances)
        count, few = len(self._places), _sets_can_be_listed(field)
        self._listed = dict.fromkeys(range(1, count + 1), count) if few else _LISTED
        self._wider = [
            (chance, Wider(self._weights, size, self._listed.get(size, 0), self._against))
            for size, chance in enumerate(chances[: len(_LISTED)], start=1)
        ]
        self._larger = _spread_chances(chances[-1], len(_LISTED) + 1, count) if few else {}
        self._whole = Wider(self._weights, 1, 0, [])
        weighed = self._weighed(field.predict)
        most = SEARCH.with_clashes * len(weighed)
        for reverted, clash in field.clashes:
            self._move(weighed, self.mask(reverted), self.mask(clash))
            if len(weighed) > most:
                by_weight = sorted(weighed.items(), key=lambda each: (-each[1], each[0]))
                weighed = dict(by_weight[:most])
        scale = sum(weighed.values()) + sum(chance * wider.mass for chance, wider in self._wider)
        self._scale = sum(chances if few else chances[:-1]) / scale
        self._known = {
            mask: self._scale * weight * self._left(mask) for mask, weight in weighed.items()
        }
        self._single = np.zeros(len(self._places))  # of the known masks, those of one place
        for mask, weight in self._known.items():
            if mask.bit_count() == 1:
                self._single[mask.bit_length() - 1] = weight
        self._several = {
            mask: weight for mask, weight in self._known.items() if mask.bit_count() > 1
        }
        self._unmodelled = 0.0 if few else chances[-1] * self._left_unmodelled()
        wide = sum(chance * wider.left for chance, wider in self._wider)
        self._total = sum(self._known.values()) + self._scale * wide + self._unmodelled + outside
        self._within = _sums_within(self._known, count) if few else None

    def passes(self, mask: int) -> float:
        """How likely reverting these suspects, and what they need, is to pass."""
        mask = self._closed(mask)
        if self._within is not None:
            return min(1.0, float(self._within[mask]) / self._total)
        single = float(self._single[flags_of(mask, len(self._places))].sum())
        outside = ~mask
        several = sum(weight for known, weight in self._several.items() if not known & outside)
        wide = sum(chance * wider.within(mask) for chance, wider in self._wider if wider.mass)
        rest = self._unmodelled * self._share(mask)
        return min(1.0, (single + several + self._scale * wide + rest) / self._total)

    def chance(self, reverted: ChangeSet) -> float:
        """The same of changes, of which those that are no suspects do not count."""
        return self.passes(self.mask(reverted))

    def exactly(self, mask: int) -> float:
        """How likely these suspects are a smallest root."""
        return self._known.get(self._closed(mask), 0.0) / self._total

    def _closed(self, mask: int) -> int:
        """The suspects of a mask and those that each of them needs. What stands with another one that has all it needs
        asks for no more, as it would alone: the old head of a method asked for the new one, which alone asks for the
        attributes of its class too (chameleon).
        """
        tied = {1 << place: self._needs[place] for place in bits(mask & self._tied)}
        met = reduce(or_, (one | needs for one, needs in tied.items() if not needs & ~mask), 0)
        return reduce(or_, (needs for one, needs in tied.items() if not one & met), mask)

    def _smallest_roots(self, places: tuple[int, ...]) -> list[tuple[int, float]]:
        """What smallest roots suspects that may be undone together point to, and how much to each: themselves with what
        they need, without those that only define what others of these use, as with these undone nobody asks for it. Of
        one that several others use, some to all of these, and the rest to each alone: by which of them the fault comes
        out is not known.
        """
        closed = self._closed(sum(1 << place for place in places))
        users = closed & ~self._defining or closed
        if len(places) > 1 or users == closed or users.bit_count() == 1:
            return [(users, 1.0)]
        every = list(bits(users))
        whole = sum(self._weights[place] for place in every) or 1.0
        rest = 1.0 - ODDS.all_users
        alone = [
            (self._closed(1 << place) & ~self._defining, rest * self._weights[place] / whole)
            for place in every
        ]
        return [(users, ODDS.all_users), *alone]

    def cost(self, mask: int) -> float:
        """What a run costs, in runs of what can be built as it is, by what each suspect takes along."""
        return cost_with(sum(self._along[place] for place in bits(mask & self._dear)))

    def alone(self, place: int) -> bool:
        """Whether a suspect can be undone by itself, as far as is known."""
        return not self._along[place]

    def guilt(self) -> list[float]:
        """For each suspect, how likely it is in the root, by the hypotheses that are listed."""
        marginal = self._single.tolist()
        for mask, weight in self._several.items():
            for place in bits(mask):
                marginal[place] += weight
        return [weight / self._total for weight in marginal]

    def likeliest(self, count: int) -> list[int]:
        """The masks of the most likely hypotheses."""
        return nsmallest(count, self._known, key=lambda mask: (-self._known[mask], mask))

    def every(self) -> range:
        """The masks of all sets, where there are few; else none."""
        return range(1, 1 << len(self._places)) if self._within is not None else range(0)

    def mask(self, changes: ChangeSet) -> int:
        """The mask of those changes that are suspects."""
        known = (self._place_of[change] for change in changes if change in self._place_of)
        return mask_of(known, len(self._places))

    def holds(self, changes: ChangeSet) -> bool:
        """Whether all of them are suspects."""
        return changes <= self._place_of.keys()

    def changes(self, mask: int) -> ChangeSet:
        """The changes of a mask."""
        return frozenset(self._places[place] for place in bits(mask))

    def _weighed(self, predict: Predict) -> dict[int, float]:
        predictions = self._predictions(predict)
        weighed: dict[int, float] = {}
        listed = {
            at: chance * (1.0 - wide.mass) for at, (chance, wide) in enumerate(self._wider, 1)
        }
        for size, chance in (listed | self._larger).items():
            sets = list(
                combinations(range(min(len(self._places), self._listed.get(size, 0))), size)
            )
            products = [self._together(places) for places in sets]
            whole = sum(products) or 1.0
            share = chance / whole
            for places, product in zip(sets, products, strict=True):
                for mask, part in self._smallest_roots(places):
                    weight = part * share * product * _factor(mask, predictions) ** self._trust
                    weighed[mask] = weighed.get(mask, 0.0) + weight
        others, guilt = sum(weighed.values()), sum(self._weights) or 1.0
        for mask in self._whole_homes():
            share = sum(self._weights[place] for place in bits(mask)) / guilt
            weight = ODDS.whole_home * others * share * _factor(mask, predictions) ** self._trust
            weighed[mask] = weighed.get(mask, 0.0) + weight
        for mask in sorted(self._foreseen(predict)):
            odds = predict(self.changes(mask)) ** 4  # a guess counts half of what is sure
            weighed[mask] = weighed.get(mask, 0.0) + ODDS.foreseen * self._trust * odds * others
        return weighed

    def _move(self, weighed: dict[int, float], reverted: int, clash: int) -> None:
        """What weighs on parts of a reversion that clashed goes to them with what it clashed with.

        Which of its changes clashed is not known: each may have done it. They are a root only if that has more changes
        than were thought of: of a single change that fails otherwise, no more than of roots have several.
        """
        for mask, weight in list(weighed.items()):
            shared = (mask & reverted).bit_count()
            if shared and clash & ~mask:
                larger = ODDS.clashed * _share_of_larger(mask.bit_count(), self._sizes)
                moved = larger * weight * shared / reverted.bit_count()
                whole = self._closed(mask | clash)
                weighed[mask] -= moved
                weighed[whole] = weighed.get(whole, 0.0) + moved

    def _together(self, places: tuple[int, ...]) -> float:
        """What some suspects weigh as one root: half a statement undone is seldom a repair."""
        weight = prod(self._weights[i] for i in places)
        steps = {self._steps[i] for i in places}
        homes = {self._homes[i] for i in places}
        if len(places) > 1 and len(steps) == 1 and 0 not in steps:
            return weight * ODDS.one_step
        if len(places) > 1 and len(homes) == 1 and len(homes.pop()) == 1:
            return weight * ODDS.one_file
        return weight

    def _whole_homes(self) -> list[int]:
        """The sets of all suspects that stand in one function or class, of those in several only once."""
        masks: dict[tuple[str, ...], int] = {}
        for place, home in enumerate(self._homes):
            for length in range(2, len(home) + 1):
                masks[home[:length]] = masks.get(home[:length], 0) | 1 << place
        several = {self._closed(mask) for mask in masks.values() if mask.bit_count() > 1}
        return sorted(several)

    def _predictions(self, predict: Predict) -> dict[int, float]:
        masks = [
            sum(1 << i for i in places)
            for size, widest in _PREDICTED.items()
            for places in combinations(range(min(len(self._places), widest)), size)
        ]
        return {mask: predict(self.changes(mask)) for mask in masks}

    def _foreseen(self, predict: Predict) -> set[int]:
        """Smallest sets that are predicted to pass: delta debugging, but on the prediction.

        From the fewest leading suspects that are predicted to pass together, and from all.
        """
        count = len(self._places)
        lengths = [*range(1, min(count, SEARCH.foreseen) + 1), count]
        leading = ((1 << length) - 1 for length in lengths)
        first = next((mask for mask in leading if predict(self.changes(mask)) > 0.5), 0)
        starts = {first, (1 << min(count, 4 * SEARCH.foreseen)) - 1} - {0}
        return {self._needed(mask, predict) for mask in starts} - {0}

    def _needed(self, mask: int, predict: Predict) -> int:
        """``mask`` without all that the prediction does not need; 0 if it is no pass."""
        if predict(self.changes(mask)) <= 0.5:
            return 0
        for place in reversed(list(bits(mask))):
            without = mask & ~(1 << place)
            if without and predict(self.changes(without)) > 0.5:
                mask = without
        return mask

    def _left(self, mask: int) -> float:
        return prod(
            ODDS.unresolved_among_others
            if left == _AGAINST[Verdict.UNRESOLVED] and mask != failed
            else left
            for failed, left in self._against
            if not mask & ~failed
        )

    def _left_unmodelled(self) -> float:
        return 1.0 - max((self._share(mask) for mask, _ in self._against), default=0.0)

    def _share(self, mask: int) -> float:
        """How much of what is not modelled at all lies within a mask."""
        return self._whole.share(mask) ** ODDS.unmodelled_size


def cost_with(along: int) -> float:
    """What a run costs with so many changes going along, in runs of what can be built as it is."""
    return 1 + along / RUNS.along


def bits(mask: int) -> Iterator[int]:
    """The places of a mask, ascending."""
    digits = bin(mask)[:1:-1]
    place = digits.find("1")
    while place >= 0:
        yield place
        place = digits.find("1", place + 1)


def mask_of(places: Iterable[int], count: int) -> int:
    """The mask of these of ``count`` places, in time that grows with both and not with their product."""
    octets = bytearray((count + 7) // 8)
    for place in places:
        octets[place >> 3] |= 1 << (place & 7)
    return int.from_bytes(octets, "little")


def _sets_can_be_listed(field: Field) -> bool:
    """Whether every set of the suspects can be listed."""
    return field.passing is not None and len(field.suspects) <= SEARCH.all_sets


def _spread_chances(chance: float, smallest: int, largest: int) -> dict[int, float]:
    """The chance of any larger size, over all of them: of each next one half as much."""
    shares = {size: 0.5 ** (size - smallest) for size in range(smallest, largest + 1)}
    whole = sum(shares.values())
    return {size: chance * share / whole for size, share in shares.items()}


def _sums_within(weights: Mapping[int, float], count: int) -> npt.NDArray[np.float64]:
    """For each mask over ``count`` places the weights of all masks within it (the zeta transform)."""
    sums = np.zeros(1 << count)
    for mask, weight in weights.items():
        sums[mask] = weight
    for place in range(count):
        halves = sums.reshape(-1, 2, 1 << place)  # without the place, with it
        halves[:, 1] += halves[:, 0]
    return sums


def _chances_by_size(field: Field) -> list[float]:
    """How likely the root is of each size and among the suspects.

    ``outside`` is meant for one change: that both of a pair are suspects is less likely.
    """
    return [chance * (1.0 - field.outside) ** size for size, chance in enumerate(field.sizes, 1)]


def _share_of_larger(size: int, sizes: Sequence[float]) -> float:
    """How many of the roots with so many changes, or more, have more; beyond what is told half of them."""
    least = sum(sizes[size - 1 :])
    return sum(sizes[size:]) / least if size < len(sizes) and least else 0.5


def _trust(field: Field) -> float:
    """How far to believe predictions: 1 until runs have belied some, then less."""
    right = wrong = 0
    for reverted, verdict in field.seen.items():
        if reverted and verdict is not None and (chance := field.predict(reverted)) != 0.5:
            agrees = (chance > 0.5) == (verdict is Verdict.PASS)
            right, wrong = right + agrees, wrong + (not agrees)
    return (1 + right) / (1 + right + 2 * wrong)


def _factor(mask: int, predictions: Mapping[int, float]) -> float:
    """A set with a smaller one in it that is predicted to pass is no smallest root."""
    places: Iterable[int] = list(bits(mask))
    inside = (predictions.get(1 << place, 0.5) for place in places if mask != 1 << place)
    unneeded = max(inside, default=0.5)
    if unneeded > 0.5:
        return (1 - unneeded) / unneeded
    own = predictions.get(mask, 0.5)
    return own / (1 - own)
