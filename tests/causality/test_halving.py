"""The commits' own versions are run where they tell more than trials do; never where a small set passes."""

from __future__ import annotations

from dataclasses import replace
from math import log2

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_changes import DIFFERENT, PASS, Answer, Counting, change, ids, made, repaired_by

from afterd.causality.auxiliary import AuxiliarySearch
from afterd.causality.deltas.history import commit_guilt, commit_to_undo, uncertainty
from afterd.causality.halving import Halving, ShorterRangeError
from afterd.causality.reversion import Reversion
from afterd.causality.shrinking import Root
from afterd.causality.suspicion import Suspect, Tier
from afterd.causality.trials import Trials
from afterd.model.change import ChangeSet, CommitGuilt, in_order
from afterd.model.outcome import Outcome
from afterd.weights import ODDS, RUNS

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
def test_before_trials_cost_what_halving_takes(commits: int) -> None:
    oracle = Counting(entangled)
    with pytest.raises(ShorterRangeError):
        found(oracle, Halving(commits, lambda _guilt: True))
    spent = RUNS.untold * len(set(oracle.asked))  # each of them failed otherwise
    assert spent <= commits.bit_length() + RUNS.untold  # a trial may be followed by another


@pytest.mark.parametrize("commits", [0, 1, 5])
def test_where_it_tells_no_more_the_search_goes_on_as_ever(commits: int) -> None:
    asked: list[CommitGuilt] = []

    def shorter(guilt: CommitGuilt) -> bool:
        asked.append(guilt)
        return False

    assert found(entangled, Halving(commits, shorter)) == found(entangled, Halving())
    assert len(asked) == (commits > 1)


@pytest.mark.parametrize(("later", "halved"), [(32, True), (2, False)])
def test_of_what_came_later_the_commits_are_bisected_where_that_takes_fewer_runs(
    later: int, *, halved: bool
) -> None:
    """questionary: a function that a later commit wrote anew could not be undone without the call of it, which repairs
    the test; all 84 later changes were undone, and then the commits bisected by what was thought of that call.
    """
    changes = {each: replace(made(COUNT)[each], commits=(f"of {each}",)) for each in ids(COUNT)}
    commits, asked = [f"of {each}" for each in in_order(ids(COUNT))], list[CommitGuilt]()

    def shorter(guilt: CommitGuilt) -> bool:
        asked.append(guilt)
        return True

    trials = Trials(entangled, AuxiliarySearch(lambda _reverted: True, changes, ids(COUNT)))
    reversion = Reversion(
        trials,
        changes,
        halving=Halving(COUNT, shorter),
        commit_guilt=lambda guilt: commit_guilt(commits, changes, guilt, ids(COUNT)),
    )
    suspects = [Suspect("c40", Tier.ENTRY), Suspect("c39", Tier.CAUSE)]
    try:
        reversion.halve_later(frozenset(in_order(ids(COUNT))[-later:]), suspects)
    except ShorterRangeError:
        assert max(asked[0], key=lambda name: asked[0][name]) == "of c40"
    assert len(asked) == halved


@settings(max_examples=25)
@given(st.sets(st.sampled_from(sorted(ids(COUNT))), min_size=1, max_size=2), st.integers(0, 5000))
def test_no_more_than_halving_is_spent_before_a_small_set_passes(
    guilty: set[str], commits: int
) -> None:
    oracle = Counting(repaired_by(guilty))
    try:
        root = found(oracle, Halving(commits, lambda _guilt: True))
    except ShorterRangeError:
        assert (
            len(set(oracle.asked)) <= commits.bit_length() + 1
        )  # beside a half that was tried at once
    else:
        assert root is not None
        assert root.changes == guilty


@given(st.floats(0.0, 2.0), st.integers(2, 5000))
def test_a_trial_that_tells_a_whole_bit_is_made_first(gain: float, commits: int) -> None:
    halving = Halving(commits, lambda _guilt: True)
    alike = dict.fromkeys(map(str, range(commits)), 1 / commits)
    assert not (gain >= 1.0 and halving.tells_more(gain, alike))
    assert gain > 0.4 or halving.tells_more(gain, alike)
    assert not Halving().tells_more(gain, alike)


def test_the_commit_that_made_what_is_suspected_is_likely() -> None:
    """Of what is no suspect's the commits that changed what ran have more."""
    changes = {
        "c1": replace(change(1), commits=("newer", "unknown")),
        "c2": replace(change(2), commits=("older", "newer")),
        "c3": replace(change(3), commits=("older",)),
        "c4": replace(change(4), commits=("oldest",)),
    }
    commits = ["oldest", "older", "newer", "idle"]
    guilt = commit_guilt(commits, changes, {"c1": 0.5, "c2": 0.3}, frozenset({"c3", "c9"}))
    assert sum(guilt.values()) == pytest.approx(1.0)
    assert guilt["newer"] > 0.6
    assert guilt["older"] > guilt["oldest"] == guilt["idle"] > 0.0


def test_few_commits_that_changed_what_ran_have_most_of_the_guilt() -> None:
    """python-chess: seven of 785 changes were executed, and 315 commits were halved by their number."""
    commits = [f"commit{number}" for number in range(300)]
    changes = {f"c{n}": replace(change(n), commits=(name,)) for n, name in enumerate(commits, 1)}
    ran = frozenset({"c3", "c50", "c200"})
    guilt = commit_guilt(commits, changes, {}, ran)
    assert sum(guilt.values()) == pytest.approx(1.0)
    assert sum(guilt[f"commit{n}"] for n in (2, 49, 199)) == pytest.approx(ODDS.ran)
    assert uncertainty(guilt) < log2(len(commits)) / 2
    assert len(set(commit_guilt(commits, changes, {}, frozenset()).values())) == 1


def test_commits_whose_text_is_like_the_tests_have_more_of_the_guilt() -> None:
    """Of many changes each counts less; a commit of which no change is left has as little as the least."""
    made = {"alike": 1, "many": 4, "other": 1}
    names = [name for name, count in made.items() for _ in range(count)]
    changes = {f"c{n}": replace(change(n), commits=(name,)) for n, name in enumerate(names, 1)}
    similarity = {"c1": 2.0, "c2": 0.0, "c3": 0.0, "c4": 0.0, "c5": 0.0, "c6": 0.0}
    guilt = commit_guilt([*made, "gone"], changes, {}, frozenset(), similarity)
    assert sum(guilt.values()) == pytest.approx(1.0)
    assert guilt["alike"] == pytest.approx(ODDS.similar**2 * guilt["other"])
    assert guilt["many"] == pytest.approx(2 * guilt["other"])
    assert guilt["gone"] == pytest.approx(guilt["other"])


@given(st.dictionaries(st.text(max_size=3), st.floats(0.01, 1.0), min_size=1, max_size=9))
def test_what_is_uncertain_is_at_most_what_halving_the_number_takes(
    weights: dict[str, float],
) -> None:
    whole = sum(weights.values())
    bits = uncertainty({name: weight / whole for name, weight in weights.items()})
    assert -1e-9 <= bits <= log2(len(weights)) + 1e-9


def _guilt(*chances: float) -> dict[str, float]:
    return {str(n): chance for n, chance in enumerate(chances)}


@pytest.mark.parametrize(
    ("guilt", "tried", "undone"),
    [
        (_guilt(0.9, 0.1), set(), "" if RUNS.commit_undone < 0.75 else "0"),
        (_guilt(0.5, *[0.5 / 64] * 64), set(), "0"),
        (_guilt(*[1 / 64] * 64), set(), ""),
        (_guilt(0.4, 0.4, *[0.2 / 64] * 64), {"0"}, "1"),
        (_guilt(0.5, *[0.5 / 64] * 64), {"0"}, ""),
        ({}, set(), ""),
    ],
    ids=["two are bisected at once", "likely", "all alike", "second", "in vain", "none known"],
)
def test_a_likely_commit_is_undone_where_many_runs_are_saved(
    guilt: dict[str, float], tried: set[str], undone: str
) -> None:
    assert commit_to_undo(guilt, guilt, tried) == undone


@given(
    st.lists(st.floats(0.0, 1.0), min_size=1, max_size=50),
    st.sets(st.integers(0, 49)),
    st.sets(st.integers(0, 49)),
)
def test_what_is_undone_is_the_likeliest_that_may_be_and_ends(
    weights: list[float], barred: set[int], tried: set[int]
) -> None:
    total = sum(weights) or 1.0
    guilt = {str(n): each / total for n, each in enumerate(weights)}
    candidates = {name for name in guilt if int(name) not in barred}
    done = {str(n) for n in tried}
    while name := commit_to_undo(guilt, candidates, done):
        assert name in candidates
        assert name not in done
        assert guilt[name] == max(guilt[each] for each in candidates - done)
        done.add(name)
