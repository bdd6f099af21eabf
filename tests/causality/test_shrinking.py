"""What a passing reversion is made smaller by, run for run: what went along on a suspicion, and what was asked for."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from made_changes import DIFFERENT, PASS, Answer, Counting, ids, made, repaired_by

from afterd.causality.attempts import Attempts
from afterd.causality.auxiliary import AuxiliarySearch
from afterd.causality.shrinking import Root, Shrinking
from afterd.causality.standing import Standing, Unbuildable
from afterd.causality.trials import Clashing, Trial, Trials, nothing_clashes
from afterd.model.change import NOTHING, ChangeSet, in_order
from afterd.model.outcome import Outcome

_COUNT = 12


def _nothing_certain(reverted: ChangeSet) -> str:  # noqa: ARG001 - it answers a text's question
    return ""


def _settled(
    oracle: Answer,
    asked: ChangeSet,
    along: ChangeSet,
    executed: ChangeSet = NOTHING,
    certain: Unbuildable = _nothing_certain,
    clashing: Clashing = nothing_clashes,
) -> Root:
    standing = Standing(certain, proves=False, certain=certain)
    auxiliary = AuxiliarySearch(lambda _: True, made(_COUNT), ids(_COUNT), standing)
    trials = Trials(oracle, auxiliary, clashing=clashing)
    passing = trials.beside(asked, along)
    assert passing.passed
    return _shrinking(trials, executed).settled(passing, in_order(asked))


def _shrinking(trials: Trials, executed: ChangeSet) -> Shrinking:
    return Shrinking(Attempts(trials, lambda: None), made(_COUNT), executed)


def _all_or_otherwise(needed: set[str]) -> Answer:
    """A rewrite: its parts fail in ways of their own."""

    def answer(reverted: ChangeSet) -> Outcome:
        return PASS if needed <= reverted else DIFFERENT

    return answer


def test_what_went_along_and_is_not_executed_goes_before_anything_is_put_back_alone() -> None:
    """sos: four of six that went along were no part of it, and eleven others were put back beside them, and again."""
    needed = {"c1", "c2", "c3", "c5", "c6"}
    oracle = Counting(_all_or_otherwise(needed))
    along = frozenset({"c5", "c6", "c7", "c8", "c9", "c10"})
    found = _settled(oracle, frozenset({"c1", "c2", "c3", "c4"}), along, frozenset(needed))
    assert found.changes | found.auxiliary == needed
    assert found.minimal
    assert oracle.asked[1] == needed | {"c4"}
    assert (
        len(oracle.asked) <= 9
    )  # it, c4 put back, and each of the five, and what went along alone


def test_what_is_not_executed_stays_where_the_text_certainly_does_not_stand_without_it() -> None:
    """BuildStream: a method that only the good version has is called by what is executed."""
    needed = {"c1", "c2", "c3"}
    oracle = Counting(_all_or_otherwise(needed))

    def certain(reverted: ChangeSet) -> str:
        return "'load' is not defined" if "c2" in reverted and "c3" not in reverted else ""

    along = frozenset({"c2", "c3", "c4", "c5", "c6", "c7"})
    found = _settled(oracle, frozenset({"c1"}), along, frozenset({"c1", "c2"}), certain)
    assert found == Root(frozenset({"c1"}), frozenset({"c2", "c3"}), minimal=True)
    assert oracle.asked[1] == needed
    assert len(oracle.asked) <= 5


def test_what_is_not_executed_stays_where_the_failure_without_it_speaks_of_it() -> None:
    needed = {"c1", "c2", "c3"}
    oracle = Counting(_all_or_otherwise(needed))

    def clashing(reverted: ChangeSet) -> ChangeSet:
        return frozenset({"c3"}) - reverted

    along = frozenset({"c2", "c3", "c4", "c5", "c6", "c7"})
    found = _settled(
        oracle, frozenset({"c1"}), along, frozenset({"c1", "c2"}), clashing=clashing
    )  # fmt: skip
    assert found == Root(frozenset({"c1"}), frozenset({"c2", "c3"}), minimal=True)
    assert oracle.asked[1:3] == [frozenset({"c1", "c2"}), frozenset(needed)]


def test_what_went_along_with_an_innocent_one_is_the_root_once_that_was_put_back() -> None:
    """An innocent suspect took the guilty ones along: it is put back in its turn, and they are not put back anew."""
    needed = {"c2", "c3", "c4", "c5"}
    oracle = Counting(_all_or_otherwise(needed))
    found = _settled(oracle, frozenset({"c1"}), frozenset(needed), ids(_COUNT))
    assert found == Root(frozenset(needed), NOTHING, minimal=True)
    assert len(oracle.asked) <= 1 + 1 + 1 + 4  # all, none along, c1 put back, and each of the four


@given(
    needed=st.sets(st.sampled_from(in_order(ids(_COUNT))), min_size=1),
    more=st.sets(st.sampled_from(in_order(ids(_COUNT)))),
    executed=st.sets(st.sampled_from(in_order(ids(_COUNT)))),
    asked=st.integers(1, _COUNT),
    rewritten=st.booleans(),
)
def test_what_is_left_passes_and_none_of_it_can_be_put_back(
    needed: set[str], more: set[str], executed: set[str], asked: int, *, rewritten: bool
) -> None:
    """However what passes is divided into what was asked for and what went along."""
    oracle = _all_or_otherwise(needed) if rewritten else repaired_by(needed)
    undone = in_order(frozenset(needed | more))
    found = _settled(
        oracle, frozenset(undone[:asked]), frozenset(undone[asked:]), frozenset(executed)
    )
    assert found.changes
    assert found.changes | found.auxiliary == needed


def test_a_second_way_is_not_gone_where_it_undoes_as_much() -> None:
    """Put back with what went along it told nothing; what its text asks for besides would make it no smaller."""
    oracle = Counting(_all_or_otherwise({"c1", "c2", "c3"}))

    def asking(reverted: ChangeSet) -> str:
        needs = {"c1": {"c3", "c4", "c5"}, "c2": {"c3", "c6", "c7"}}
        missing = {n for c in reverted for n in needs.get(c, set()) if n not in reverted}
        return " ".join(f"'name{n[1:]}' is not defined" for n in sorted(missing))

    standing = Standing(asking, proves=False)
    auxiliary = AuxiliarySearch(lambda _: True, made(_COUNT), ids(_COUNT), standing)
    trials = Trials(oracle, auxiliary)
    passing: Trial = trials.beside(frozenset({"c1", "c2"}), frozenset({"c3"}))
    found = _shrinking(trials, NOTHING).settled(passing, ["c1", "c2"])
    assert found.changes | found.auxiliary == {"c1", "c2", "c3"}
    assert all(len(reverted) <= 3 for reverted in oracle.asked)
