"""The commits' own versions are run once trials cost as much as that would; never where a small set passes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_changes import DIFFERENT, PASS, Answer, Counting, ids, made, repaired_by

from afterd.causality.auxiliary import AuxiliarySearch
from afterd.causality.halving import Halving, ShorterRangeError
from afterd.causality.reversion import Reversion, Root
from afterd.causality.suspicion import Suspect, Tier
from afterd.causality.trials import Trials
from afterd.model.change import ChangeSet, in_order
from afterd.model.outcome import Outcome
from afterd.weights import RUNS

COUNT = 40
SUSPECTS = [Suspect(change, Tier.CAUSE) for change in in_order(ids(COUNT))]


def entangled(reverted: ChangeSet) -> Outcome:
    """Thirty changes that are one rewrite: a part of them fails in a way of its own."""
    return PASS if reverted >= ids(30) else DIFFERENT


def found(oracle: Answer, halving: Halving) -> Root | None:
    changes = made(COUNT)
    trials = Trials(oracle, AuxiliarySearch(lambda _reverted: True, changes, ids(COUNT)))
    return Reversion(trials, changes, halving=halving).find_root(SUSPECTS, 0.15)


@pytest.mark.parametrize("commits", [2, 7, 8, 100, 1000])
def test_after_as_many_trials_as_halving_takes(commits: int) -> None:
    oracle = Counting(entangled)
    with pytest.raises(ShorterRangeError):
        found(oracle, Halving(commits, lambda: True))
    spent = RUNS.untold * len(set(oracle.asked))  # each of them failed otherwise
    halvings = commits.bit_length()
    assert halvings <= spent <= 2 * halvings + RUNS.untold  # a trial may be followed by another


@pytest.mark.parametrize("commits", [0, 1, 5])
def test_where_it_tells_no_more_the_search_goes_on_as_ever(commits: int) -> None:
    asked: list[None] = []

    def shorter() -> bool:
        asked.append(None)
        return False

    assert found(entangled, Halving(commits, shorter)) == found(entangled, Halving())
    assert len(asked) == (commits > 1)


@settings(deadline=None, max_examples=25)
@given(st.sets(st.sampled_from(sorted(ids(COUNT))), min_size=1, max_size=2), st.integers(0, 5000))
def test_no_more_than_halving_is_spent_before_a_small_set_passes(
    guilty: set[str], commits: int
) -> None:
    oracle = Counting(repaired_by(guilty))
    try:
        root = found(oracle, Halving(commits, lambda: True))
    except ShorterRangeError:
        assert len(set(oracle.asked)) >= commits.bit_length()
    else:
        assert root is not None
        assert root.changes == guilty
