"""Which run to make next, so that as few as possible are needed.

Blind halving takes log2 n runs and more for each guilty change; evidence does better. A hypothesis
is a set of suspects that may be a smallest root. Its weight is that of its changes, the prediction
made for it, and what the runs so far say: a reversion that failed speaks against every hypothesis
within it, one that passed leaves only those within it. The next run is the one whose answer is
expected to tell most for what it costs, and a hypothesis itself is tried rather than a set around it.
What cannot be built without many others costs more: their builds, and what they blur in its answer.

All weights are guesses, so no outcome makes a hypothesis impossible, and none is ever believed:
the search (``reversion``) believes passing runs only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log2

from afterd.causality.suspicion import Suspect
from afterd.model.change import NOTHING, ChangeId, ChangeSet
from afterd.model.outcome import Verdict

SIZES = {1: 0.68, 2: 0.22, 3: 0.10}
"""How often one, two or three changes must be reverted together."""
_WIDEST = {1: 5000, 2: 48, 3: 14}
"""So many of the most suspicious changes are combined to hypotheses of a size."""
_PREDICTED = {1: 60, 2: 12, 3: 0}
"""So many of the most suspicious changes get predictions, alone and in pairs."""
_FORESEEN_WIDEST = 60
_FORESEEN = 2.0
"""How likely is a smallest set that is foreseen to pass, against all other hypotheses together."""
_AGAINST = {Verdict.FAIL: 0.02, Verdict.UNRESOLVED: 0.25}
"""What is left of the weight of a hypothesis within a reversion that did not pass."""
_AMONG_OTHERS = 0.8
"""The same where more than the hypothesis was reverted, and it was unresolved: the others may have done that."""
_UNMODELLED = 0.05
_UNMODELLED_SIZE = 3
_DIRECT = 0.6
"""Bits that are thought gained, beyond the answer's own, when a hypothesis is tried itself."""
_ALONG = 8.0
"""So many changes that must go along make a run cost twice as much."""
_TOO_SURE = 0.04
"""A run whose outcome is this sure is not worth making."""

_ENTANGLED = 0.5
"""What a run is worth where others must go along: it tells of them as well."""

Predict = Callable[[ChangeSet], float]
"""How likely a reversion is to pass, by what is known without running it."""
Seen = Mapping[ChangeSet, Verdict | None]
"""Verdicts of reversions; None where one could not be tried."""


@dataclass(frozen=True, slots=True)
class Field:
    """What is to be decided: the suspects, most suspicious first, and what is known of them.

    ``passing`` is the smallest reversion seen to pass (None: none yet; then ``outside`` is how
    likely it is that no set of these suspects passes). ``seen`` are verdicts of other reversions.
    ``stands``: whether a reversion needs no other changes to go along, as far as is known.
    """

    suspects: tuple[Suspect, ...]
    seen: Seen
    passing: ChangeSet | None = None
    outside: float = 0.0
    predict: Predict = lambda _reverted: 0.5
    stands: Callable[[ChangeSet], bool] = lambda _reverted: True


def next_reversion(field: Field) -> ChangeSet | None:
    """The reversion to try next; None when no run among these suspects is worth making."""
    if not field.suspects:
        return None
    belief = Belief(field)
    tried = {*field.seen, field.passing, NOTHING}
    together = _telling(field.seen)
    best, most = None, 0.0
    for candidate in _candidates(field, belief):
        reverted = belief.changes(candidate)
        chance = belief.passes(candidate)
        if reverted in tried or not _TOO_SURE * together < chance < 1 - _TOO_SURE / 4:
            continue
        gain = _entropy(chance) + _DIRECT * belief.exactly(candidate)
        gain *= (together if len(reverted) > 1 else 1) / belief.cost(candidate)
        if gain > most + 1e-9 and not field.stands(reverted):
            gain *= _ENTANGLED
        if gain > most + 1e-9:
            best, most = reverted, gain
    return best


class Belief:
    """Weights of hypotheses, normalised. Sets are bit masks over the suspects' places."""

    def __init__(self, field: Field) -> None:
        self._places = [suspect.change for suspect in field.suspects]
        self._weights = [suspect.weight for suspect in field.suspects]
        self._along = [suspect.along for suspect in field.suspects]
        self._whole = sum(self._weights)
        bits = {change: 1 << i for i, change in enumerate(self._places)}
        self._against = [
            (sum(bits.get(change, 0) for change in reverted), _AGAINST[verdict])
            for reverted, verdict in field.seen.items()
            if verdict is not None and verdict is not Verdict.PASS
        ]
        self._trust = _trust(field)
        weighed = self._weighed(field.predict)
        scale = sum(weighed.values())
        inside = 1.0 - field.outside
        self._known = {
            mask: inside * (1 - _UNMODELLED) * weight / scale * self._left(mask)
            for mask, weight in weighed.items()
        }
        self._unmodelled = inside * _UNMODELLED * self._left_unmodelled()
        self._total = sum(self._known.values()) + self._unmodelled + field.outside

    def passes(self, mask: int) -> float:
        """How likely reverting these suspects is to pass."""
        within = sum(weight for known, weight in self._known.items() if not known & ~mask)
        return (within + self._unmodelled * self._share(mask)) / self._total

    def exactly(self, mask: int) -> float:
        """How likely these suspects are a smallest root."""
        return self._known.get(mask, 0.0) / self._total

    def cost(self, mask: int) -> float:
        """What a run costs, in runs of what can be built as it is."""
        return 1 + sum(self._along[place] for place in _bits(mask)) / _ALONG

    def alone(self, place: int) -> bool:
        """Whether a suspect can be undone by itself, as far as is known."""
        return not self._along[place]

    def guilt(self) -> list[float]:
        """For each suspect, how likely it is in the root."""
        marginal = [0.0] * len(self._places)
        for mask, weight in self._known.items():
            for place in _bits(mask):
                marginal[place] += weight
        return [weight / self._total for weight in marginal]

    def likeliest(self, count: int) -> list[int]:
        """The masks of the most likely hypotheses."""
        return sorted(self._known, key=lambda mask: (-self._known[mask], mask))[:count]

    def changes(self, mask: int) -> ChangeSet:
        """The changes of a mask."""
        return frozenset(self._places[place] for place in _bits(mask))

    def _weighed(self, predict: Predict) -> dict[int, float]:
        predictions = self._predictions(predict)
        weighed: dict[int, float] = {}
        for size, chance in SIZES.items():
            sets = list(combinations(range(min(len(self._places), _WIDEST[size])), size))
            products = [_product(self._weights[i] for i in places) for places in sets]
            whole = sum(products) or 1.0
            for places, product in zip(sets, products, strict=True):
                mask = sum(1 << i for i in places)
                weighed[mask] = chance * product / whole * _factor(mask, predictions) ** self._trust
        others = sum(weighed.values())
        for mask in sorted(self._foreseen(predict)):
            odds = predict(self.changes(mask)) ** 4  # a guess counts half of what is sure
            weighed[mask] = weighed.get(mask, 0.0) + _FORESEEN * self._trust * odds * others
        return weighed

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
        lengths = [*range(1, min(count, _FORESEEN_WIDEST) + 1), count]
        leading = ((1 << length) - 1 for length in lengths)
        first = next((mask for mask in leading if predict(self.changes(mask)) > 0.5), 0)
        starts = {first, (1 << min(count, 4 * _FORESEEN_WIDEST)) - 1} - {0}
        return {self._needed(mask, predict) for mask in starts} - {0}

    def _needed(self, mask: int, predict: Predict) -> int:
        """``mask`` without all that the prediction does not need; 0 if it is no pass."""
        if predict(self.changes(mask)) <= 0.5:
            return 0
        for place in reversed(list(_bits(mask))):
            without = mask & ~(1 << place)
            if without and predict(self.changes(without)) > 0.5:
                mask = without
        return mask

    def _left(self, mask: int) -> float:
        return _product(
            _AMONG_OTHERS if left == _AGAINST[Verdict.UNRESOLVED] and mask != failed else left
            for failed, left in self._against
            if not mask & ~failed
        )

    def _left_unmodelled(self) -> float:
        worst = max((self._share(mask) for mask, _ in self._against), default=0.0)
        return 1.0 - worst

    def _share(self, mask: int) -> float:
        inside = sum(self._weights[place] for place in _bits(mask))
        return float((inside / self._whole) ** _UNMODELLED_SIZE)


def _telling(seen: Seen) -> float:
    """How often reverting several changes tells anything: parts of a rewrite, mixed, fail otherwise."""
    several = [verdict for reverted, verdict in seen.items() if len(reverted) > 1]
    silent = several.count(Verdict.UNRESOLVED)
    return (1 + len(several) - silent) / (1 + len(several) + silent)


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
    places = list(_bits(mask))
    inside = (predictions.get(1 << place, 0.5) for place in places if len(places) > 1)
    unneeded = max(inside, default=0.5)
    if unneeded > 0.5:
        return (1 - unneeded) / unneeded
    own = predictions.get(mask, 0.5)
    return own / (1 - own)


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


def _prefixes(order: Sequence[int]) -> Iterator[int]:
    mask = 0
    for length, place in enumerate(order, start=1):
        mask |= 1 << place
        if length <= 24 or length % max(1, length // 12) == 0 or length == len(order):
            yield mask


def _bits(mask: int) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def _product(factors: Iterator[float]) -> float:
    result = 1.0
    for factor in factors:
        result *= factor
    return result


def _entropy(chance: float) -> float:
    if not 0.0 < chance < 1.0:
        return 0.0
    return -chance * log2(chance) - (1 - chance) * log2(1 - chance)


def guilty_first(field: Field) -> list[ChangeId]:
    """The suspects by how likely they are in the root, after what was seen."""
    guilt = Belief(field).guilt()
    order = sorted(range(len(guilt)), key=lambda place: (-guilt[place], place))
    return [field.suspects[place].change for place in order]
