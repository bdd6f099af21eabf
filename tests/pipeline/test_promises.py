"""What is claimed of an answer was run: also where the search that found it lies."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from afterd.model.change import NOTHING, ChangeSet
from afterd.model.outcome import Outcome, Unresolved, Verdict
from afterd.pipeline.promises import kept_promises

_CHANGES = ("c1", "c2", "c3", "c4")
_EVERY = [frozenset(found) for size in range(5) for found in combinations(_CHANGES, size)]
_VERDICTS = st.sampled_from(
    [
        Outcome(Verdict.PASS),
        Outcome(Verdict.FAIL),
        Outcome(Verdict.UNRESOLVED, Unresolved.BUILD),
        Outcome(Verdict.UNRESOLVED, Unresolved.DIFFERENT_FAILURE),
    ]
)


def _nothing_refused(reverted: ChangeSet) -> str:  # noqa: ARG001 - it answers a Refused's question
    return ""


@given(
    st.fixed_dictionaries({each: _VERDICTS for each in _EVERY if each}),
    st.frozensets(st.sampled_from(_CHANGES), min_size=1),
    st.frozensets(st.sampled_from(_CHANGES)),
    st.integers(0, 20),
)
def test_a_searcher_that_lies(
    truth: dict[ChangeSet, Outcome], root: ChangeSet, auxiliary: ChangeSet, budget: int
) -> None:
    """Whatever it says is the root: verified and minimal hold of what was run, or are not said."""
    seen: dict[ChangeSet, Outcome] = {NOTHING: Outcome(Verdict.FAIL)}

    def outcome(reverted: ChangeSet) -> Outcome:
        if reverted not in seen:
            if len(seen) > budget:
                return Outcome(Verdict.UNRESOLVED, Unresolved.NOT_RUN)
            seen[reverted] = truth[reverted]
        return seen[reverted]

    found = kept_promises(root, auxiliary - root, outcome, _nothing_refused)
    whole = found.root | found.auxiliary
    assert whole <= root | auxiliary
    assert found.root
    if found.verified:
        assert seen[whole].passed
    if found.minimal:
        assert found.verified
        assert not any(
            seen[frozenset(part)].passed
            for size in range(1, len(whole))
            for part in combinations(sorted(whole), size)
        )


def test_a_refusal_by_the_compiler_is_not_run() -> None:
    """What was compiled and refused, file by file, needs no build of the whole."""
    asked: list[ChangeSet] = []

    def outcome(reverted: ChangeSet) -> Outcome:
        asked.append(reverted)
        return Outcome(Verdict.PASS if len(reverted) == 2 else Verdict.FAIL)

    def refused(reverted: ChangeSet) -> str:
        return "" if "c2" in reverted else "c2 declares what c1 uses"

    found = kept_promises(frozenset({"c1"}), frozenset({"c2"}), outcome, refused)
    assert found.minimal
    assert found.auxiliary == frozenset({"c2"})
    assert asked == [{"c1", "c2"}, {"c2"}]


def test_a_part_that_passes_where_every_greater_one_fails() -> None:
    """Without c2 or without c3 the test fails; c1 alone repairs it: the three were tied by their texts only."""
    passing = (frozenset({"c1"}), frozenset({"c1", "c2", "c3"}))

    def outcome(reverted: ChangeSet) -> Outcome:
        return Outcome(Verdict.PASS if reverted in passing else Verdict.FAIL)

    found = kept_promises(frozenset({"c1", "c2", "c3"}), NOTHING, outcome, _nothing_refused)
    assert found.minimal
    assert found.root == frozenset({"c1"})
