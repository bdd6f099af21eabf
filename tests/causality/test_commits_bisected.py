"""Where nothing tells which change is guilty, bisecting the commits is one of the runs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made_changes import DIFFERENT, Answer, ids, made, repaired_by

from afterd.causality.auxiliary import AuxiliarySearch
from afterd.causality.deltas.dependencies import Changes, structural_order
from afterd.causality.deltas.history import since_each
from afterd.causality.reversion import Reversion
from afterd.causality.suspicion import Suspect, Tier
from afterd.causality.trials import Trials
from afterd.model.change import NOTHING, ChangeSet
from afterd.model.outcome import Outcome

COMMITS = tuple(f"commit {n}" for n in range(16))


def history(each: int) -> Changes:
    """Commits that each changed ``each`` places, far apart in the code."""
    count = each * len(COMMITS)
    return {
        name: replace(change, commits=(COMMITS[number % len(COMMITS)],))
        for number, (name, change) in enumerate(made(count).items())
    }


def unmixed(changes: Changes, answer: Answer, asked: list[ChangeSet]) -> Answer:
    """The same, but where a commit is undone in part the test fails otherwise, unless one change is."""

    def answered(reverted: ChangeSet) -> Outcome:
        asked.append(reverted)
        parts = {changes[each].commits for each in reverted}
        mixed = any(changes[each].commits in parts and each not in reverted for each in changes)
        return DIFFERENT if mixed and len(reverted) > 1 else answer(reverted)

    return answered


def searched(changes: Changes, guilty: str, *, bisected: bool) -> tuple[int, ChangeSet]:
    """How many runs it took, and the root."""
    asked: list[ChangeSet] = []
    oracle = unmixed(changes, repaired_by({guilty}), asked)
    everything = ids(len(changes))
    trials = Trials(oracle, AuxiliarySearch(lambda _: True, changes, everything))
    suspects = [Suspect(change, Tier.OTHER) for change in changes]
    found = Reversion(trials, changes).find_root(
        suspects,
        0.0,
        passing=trials.revert(everything),
        neighbours=structural_order(changes.values()),
        versions=since_each(COMMITS, changes) if bisected else (),
    )
    assert found is not None
    return len(asked), found.changes


@pytest.mark.parametrize("guilty", ["c1", "c29", "c48"])
def test_versions_that_once_were_are_tried_where_mixtures_tell_nothing(guilty: str) -> None:
    changes = history(3)
    runs, root = searched(changes, guilty, bisected=True)
    assert root == {guilty}
    assert runs <= 12  # log2 of 16 commits, a commit, its changes one by one, and the whole
    assert runs < searched(changes, guilty, bisected=False)[0]


def test_what_each_commit_and_all_after_it_changed() -> None:
    """A change of two commits is the newer one's; one that nobody made is in no set."""
    several = made(4)
    several["c1"] = replace(several["c1"], commits=("a",))
    several["c2"] = replace(several["c2"], commits=("a", "c"))
    several["c3"] = replace(several["c3"], commits=("b",))
    assert since_each(("a", "b", "c"), several) == [{"c2"}, {"c2", "c3"}]
    assert since_each((), several) == []
    assert NOTHING not in since_each(("a", "b"), several)
