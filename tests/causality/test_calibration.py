"""The odds of the six tiers, against made-up regressions: real values, real branches, known guilt."""

from __future__ import annotations

import random
from collections import Counter

from in_process_solver import InProcess
from simulated import regression

from afterd.causality.causes import Causes
from afterd.causality.infection import Green
from afterd.causality.suspicion import (
    WEIGHTS,
    Suspect,
    Tier,
    likeliest_of,
    ranked_suspects,
    suspects_of,
)
from afterd.logic.solver import Solver
from afterd.model.change import NOTHING, ChangeSet
from afterd.model.progress import Silent


def guilt_by_tier(seeds: range) -> dict[Tier, float]:
    """The share of guilty changes among those of each tier, a first run's causes behind them."""
    changes: Counter[Tier] = Counter()
    guilty: Counter[Tier] = Counter()
    for seed in seeds:
        case = regression(seed, 1 + seed % 2, changes=60, chain=40)
        run = case.trace(random.Random(seed), 0.1, 0.02, old_text=0.8)
        causes = Causes(run, Solver(worker=InProcess()).core, Silent(), Green(run))
        for _ in range(3):
            causes.open_level()
        tiers = (
            (Tier.SLICE, causes.slice_changes()),
            (Tier.EXECUTED, run.executed_changes()),
            (Tier.OTHER, case.changes),
        )
        suspects = suspects_of(run, Green(run), causes.links)
        for suspect in ranked_suspects(suspects, tiers, run.conduct()):
            changes[suspect.tier] += 1
            guilty[suspect.tier] += suspect.change in case.guilty
    return {tier: guilty[tier] / changes[tier] for tier in Tier if changes[tier]}


def test_the_odds_of_the_tiers_are_in_the_order_of_guilt() -> None:
    """An entry of the infection is guiltiest, then what carries it; what is in no cause is seldom guilty."""
    guilt = guilt_by_tier(range(16))
    suspected = max(guilt.get(tier, 0.0) for tier in (Tier.ENTRY, Tier.CARRIER, Tier.CAUSE))
    beyond = max(guilt.get(tier, 0.0) for tier in (Tier.SLICE, Tier.EXECUTED, Tier.OTHER))
    assert guilt[Tier.ENTRY] == suspected
    assert guilt[Tier.ENTRY] > 5 * beyond
    assert list(WEIGHTS.values()) == sorted(WEIGHTS.values(), reverse=True)


def test_what_only_has_another_name_does_not_lead() -> None:
    """Toml++: four constants were renamed, and a buffer was made otherwise with one of them."""
    whole, renames = frozenset({"c1", "c2", "c3", "c4"}), frozenset({"c1", "c2"})

    def nothing(asked: ChangeSet) -> ChangeSet:  # noqa: ARG001 - a question to names
        return NOTHING

    assert likeliest_of([], "c1", whole, nothing, renames) == "c3"
    assert likeliest_of([], "c4", whole, nothing, renames) == "c4"
    assert likeliest_of([], "c1", renames, nothing, renames) == "c1"
    suspects = [Suspect("c1", Tier.ENTRY, step=1), Suspect("c4", Tier.SLICE, step=1)]
    assert likeliest_of(suspects, "c1", whole, nothing, renames) == "c4"


def test_of_changes_that_each_ask_for_all_the_others_the_likeliest_leads() -> None:
    """Pkgconf 0.8.4: 65 changes of one renaming; a row of a table led, not the condition that went another way."""
    whole = frozenset({"c1", "c2", "c3"})
    suspects = [
        Suspect("c1", Tier.ENTRY, step=1),
        Suspect("c3", Tier.ENTRY, step=9),
        Suspect("c2", Tier.SLICE, step=11),
        Suspect("c4", Tier.ENTRY, step=12),
    ]
    assert likeliest_of(suspects, "c1", whole, lambda asked: whole - asked) == "c3"
    assert (
        likeliest_of(
            suspects, "c1", whole, lambda asked: whole - asked if "c3" in asked else NOTHING
        )
        == "c1"
    )
    assert (
        likeliest_of(
            suspects, "c1", whole, lambda asked: whole - asked if "c1" in asked else NOTHING
        )
        == "c1"
    )
