"""The search over made-up regressions: what it costs beside what any search must cost.

Nothing is built and no test is run: an oracle knows which changes are guilty. Evidence of a quality puts each
guilty change among the entries of the infection that often, and some of the innocent ones as well. The
floor is the entropy of what is left to be decided: a run is a question with two answers, so no search asks
fewer in the mean, nor fewer than show that each change of the root is needed.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import lgamma, log, log2

from afterd.causality.auxiliary import AuxiliarySearch
from afterd.causality.deltas.dependencies import structural_order
from afterd.causality.reversion import Reversion
from afterd.causality.suspicion import Suspect, Tier
from afterd.causality.trials import Trials
from afterd.causality.worth import Worth, run_work
from afterd.limits import WORK
from afterd.model.change import Change, ChangeId, ChangeSet
from afterd.model.location import LineSpan
from afterd.model.outcome import FailureKind, FailureSignature, Outcome, Verdict
from afterd.weights import WORTH

_PASS = Outcome(Verdict.PASS)
_FAIL = Outcome(Verdict.FAIL, signature=FailureSignature(FailureKind.ASSERTION))
_A_FILE, _A_FUNCTION = 12, 3  # changes, as releases have them


@dataclass(frozen=True, slots=True)
class Quality:
    """Of guilty and of innocent changes, how many evidence takes for an entry of the infection."""

    name: str
    guilty: float
    innocent: float


QUALITIES = (
    Quality("none", 0.0, 0.0),
    Quality("poor", 0.5, 0.05),
    Quality("good", 0.9, 0.01),
)


@dataclass(frozen=True, slots=True)
class Simulated:
    """Of searches among ``changes`` with ``guilty`` ones: mean runs, the floor in runs, and how many roots
    were not exactly the guilty changes.
    """

    changes: int
    guilty: int
    quality: str
    runs: float
    floor: float
    wrong: int


def simulated_rows(
    sizes: Sequence[int], guilty: Sequence[int], repeats: int, seed: int
) -> Iterator[Simulated]:
    """One row for each size, number of guilty changes and quality, in this order."""
    for size in sizes:
        for count in guilty:
            for quality in QUALITIES:
                yield _row(size, count, quality, repeats, seed)


def total_seconds(row: Simulated, blind: Simulated, test: float, evidence: float) -> float:
    """What the whole search costs where a test run takes ``test`` seconds of CPU and evidence of this quality
    ``evidence``: as much of it as it is worth, and if that is not enough the runs of a search without any.
    """
    worth = Worth(run=run_work(test), changes=row.changes)
    most = worth.run * (WORTH.runs_a_bit * log2(row.changes + 1) + WORTH.runs_more)
    allowed = max(float(WORTH.least), most / WORK.second)
    if row.quality == blind.quality:
        return blind.runs * test
    return row.runs * test + evidence if evidence <= allowed else allowed + blind.runs * test


def _row(size: int, count: int, quality: Quality, repeats: int, seed: int) -> Simulated:
    runs, floor, wrong = 0, 0.0, 0
    for number in range(repeats):
        drawn_by = f"{seed} {size} {count} {quality.name} {number}"
        chance = random.Random(drawn_by)  # noqa: S311 - no secret
        changes = _made_up(size)
        root = frozenset(chance.sample(sorted(changes), count))
        suspects = _suspects(changes, root, quality, chance)
        asked, found = _searched_range(changes, suspects, root)
        runs += asked
        wrong += found != root
        floor += max(count + 1.0, _bits(suspects, quality, count))
    return Simulated(size, count, quality.name, runs / repeats, floor / repeats, wrong)


def _made_up(size: int) -> dict[ChangeId, Change]:
    numbered = ((number, LineSpan(10 * number, 1)) for number in range(1, size + 1))
    return {
        f"c{number}": Change(
            f"c{number}", file, file, span, span, symbol=f"f{number // _A_FUNCTION}"
        )
        for number, span in numbered
        for file in [f"{number // _A_FILE}.c"]
    }


def _suspects(
    changes: Iterable[ChangeId],
    root: ChangeSet,
    quality: Quality,
    chance: random.Random,
) -> list[Suspect]:
    found = [
        Suspect(change, Tier.ENTRY if chance.random() < share else Tier.EXECUTED)
        for change in changes
        for share in [quality.guilty if change in root else quality.innocent]
    ]
    return sorted(found, key=lambda suspect: -suspect.weight)


def _searched_range(
    changes: dict[ChangeId, Change], suspects: list[Suspect], root: ChangeSet
) -> tuple[int, ChangeSet]:
    asked: set[ChangeSet] = set()

    def outcome(reverted: ChangeSet) -> Outcome:
        asked.add(reverted)
        return _PASS if root <= reverted else _FAIL

    everything = frozenset(changes)
    trials = Trials(outcome, AuxiliarySearch(lambda _: True, changes, everything))
    in_code = structural_order(changes.values())
    whole = trials.revert(everything)
    found = Reversion(trials, changes).find_root(suspects, 0.0, passing=whole, neighbours=in_code)
    return len(asked) - 1, found.changes if found else frozenset()


def _bits(suspects: Sequence[Suspect], quality: Quality, count: int) -> float:
    """What is left to be known of which changes are guilty, where ``count`` are: by Bayes' rule."""
    entry = quality.guilty / quality.innocent if quality.innocent else 1.0
    other = (1 - quality.guilty) / (1 - quality.innocent)
    odds = [entry if suspect.tier is Tier.ENTRY else other for suspect in suspects]
    whole = sum(odds)
    single = -sum(each / whole * log2(each / whole) for each in odds if each)
    return count * single - lgamma(count + 1) / log(2)
