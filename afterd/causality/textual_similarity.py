"""How similar the text of each change is to the failing test's.

What a test is about stands in its names and in what it calls, and a commit that breaks it mostly changed something of
these names, or says them in its message. So it is asked by the vector space model of information retrieval, by which
a report finds the files of a bug (Zhou, Zhang, Lo: Where should the bugs be fixed?, ICSE 2012) and its changes (Wen,
Wu, Cheung: Locus, ASE 2016), and by which commits are bisected (An and others: Fonte, ICSE 2023). It knows no
execution: it says the same of every language, and tells apart dozens of which recorded runs say the same or nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import fsum, log, sqrt
from typing import TypeVar

from afterd.weights import TEXTS

KeyT = TypeVar("KeyT", bound=Hashable)
_WORD = re.compile(r"[^\W\d]\w+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_ROUNDING = 1e-9  # of the mean: such differences are arithmetic's own


def terms(text: str) -> Counter[str]:
    """The names and words of a text, and their parts: ``parse_url`` is ``parse`` and ``url`` as well."""
    counted: Counter[str] = Counter()
    for word, times in Counter(_WORD.findall(text)).items():
        for term in _terms_of_word(word):
            counted[term] += times
    return counted


@dataclass(frozen=True, slots=True)
class TitledText:
    """A text, and what it is called, whose words say more of it."""

    title: str
    body: str

    def weights(self) -> dict[str, float]:
        """What each of its terms weighs in it."""
        weights = {term: 1 + log(times) for term, times in terms(self.body).items()}
        for term in terms(self.title):
            weights[term] = weights.get(term, 0.0) + TEXTS.title
        return weights


def textual_similarity(query: TitledText, texts: Mapping[KeyT, TitledText]) -> dict[KeyT, float]:
    """For each text how similar it is to ``query``, beside the others: in standard deviations above their mean.

    Nothing of a single text, or where all are alike.
    """
    weighed = {key: text.weights() for key, text in texts.items()}
    appearing = Counter(term for each in weighed.values() for term in each)
    rarity = {term: log((len(texts) + 1) / (times + 0.5)) for term, times in appearing.items()}
    wanted = {
        term: weight * rarity[term] for term, weight in query.weights().items() if term in rarity
    }
    cosines = [_cosine(wanted, each, rarity) for each in weighed.values()]
    mean, spread = _mean_and_deviation(cosines)
    if spread <= _ROUNDING * mean:
        return {}
    return {key: (each - mean) / spread for key, each in zip(weighed, cosines, strict=True)}


def similarity_among(
    chosen: Collection[KeyT], similarity: Mapping[KeyT, float]
) -> dict[KeyT, float]:
    """The same of some of the texts: where these differ by more than all do, by standard deviations of their own.

    Suspects are of what the test executes, so more of them speak as it does than of all changes: what sets one apart
    from all says less beside the others. (Of 21 ranges, by their commits and as one commit, a guilty change's chance
    among the first suspects grew by a factor of 1.35 and 1.22 in the geometric mean, on 2026-11-28.)
    """
    found = {key: similarity.get(key, 0.0) for key in chosen}
    _, spread = _mean_and_deviation(found.values())
    return {key: each / max(1.0, spread) for key, each in found.items()}


def _mean_and_deviation(values: Collection[float]) -> tuple[float, float]:
    count = max(1, len(values))
    mean = fsum(values) / count
    return mean, sqrt(fsum((each - mean) ** 2 for each in values) / count)


def _cosine(
    wanted: Mapping[str, float], text: Mapping[str, float], rarity: Mapping[str, float]
) -> float:
    """Of a text and the query, but for the query's own length, which is the same for all."""
    length = sqrt(sum((weight * rarity[term]) ** 2 for term, weight in text.items()))
    shared = sum(wanted[term] * text[term] * rarity[term] for term in wanted.keys() & text.keys())
    return shared / length if length else 0.0


@lru_cache(maxsize=1 << 16)
def _terms_of_word(word: str) -> tuple[str, ...]:
    """A word and, where it has several, its parts, in lower case; none that is too short to say anything."""
    parts = _PART.findall(word)
    found = [word, *parts] if len(parts) > 1 else [word]
    return tuple(term.lower() for term in found if len(term) >= TEXTS.shortest)
