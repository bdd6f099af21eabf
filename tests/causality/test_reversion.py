"""Dynamic analysis against every kind of oracle: what it returns passes, and is 1-minimal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import log2
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from made_changes import (
    DIFFERENT,
    FAIL,
    NOT_BUILT,
    NOT_RUN,
    PASS,
    Answer,
    Counting,
    arbitrary,
    change,
    ids,
    made,
    repaired_by,
    running_example,
)

from afterd.causality.auxiliary import AuxiliarySearch
from afterd.causality.deltas.dependencies import home
from afterd.causality.reversion import Reversion, TrialsSpentError
from afterd.causality.shrinking import Root
from afterd.causality.standing import Standing
from afterd.causality.suspicion import Suspect, Tier
from afterd.causality.trials import BudgetSpentError, Trial, Trials
from afterd.causality.worth import Worth
from afterd.limits import SEARCH
from afterd.model.change import NOTHING, ChangeSet, in_order
from afterd.model.outcome import Outcome, Unresolved, Verdict


def _trials(oracle: Answer, count: int) -> Trials:
    def builds(reverted: ChangeSet) -> bool:
        return oracle(reverted).built

    return Trials(oracle, AuxiliarySearch(builds, made(count), ids(count)))


def _reversion(oracle: Answer, count: int) -> Reversion:
    return Reversion(_trials(oracle, count), made(count))


def _suspects(count: int, tiers: Sequence[Tier] = (Tier.CAUSE,)) -> list[Suspect]:
    named = in_order(ids(count))
    return [Suspect(change, tiers[i % len(tiers)]) for i, change in enumerate(named)]


def _found(oracle: Answer, count: int, outside: float = 0.15) -> Root | None:
    return _searched(oracle, count, _suspects(count), outside)


def _searched(
    oracle: Answer, count: int, suspects: Sequence[Suspect], outside: float
) -> Root | None:
    """As the loop does: where trials were in vain, from all changes downwards."""
    trials = _trials(oracle, count)
    reversion = Reversion(trials, made(count))
    try:
        return reversion.find_root(suspects, outside)
    except TrialsSpentError:
        whole = trials.revert(ids(count))
        return reversion.find_root(suspects, 0.0, passing=whole) if whole.passed else None


def test_sets_that_do_not_build_wait_no_longer_than_a_search_from_above_takes() -> None:
    """QuickJS's rewrite of 160 changes: most parts of it are not built, and 160 of them were to be tried first."""

    def answer(reverted: ChangeSet) -> Outcome:
        return PASS if len(reverted) > 150 else DIFFERENT

    oracle = Counting(answer)
    reversion, suspects = _reversion(oracle, 160), _suspects(160)

    def search_in_vain() -> None:
        for first in range(0, 160, 20):
            reversion.find_root(suspects[first : first + 20], 0.5)

    with pytest.raises(TrialsSpentError):
        search_in_vain()
    assert len(oracle.asked) <= 40


def test_the_sixteen_reversions_of_the_running_example() -> None:
    found = _found(running_example, 4)
    assert found is not None
    assert found.minimal
    assert len(found.changes) == 2
    assert running_example(found.changes) is PASS


@pytest.mark.parametrize("guilty", [{"c1"}, {"c7"}, {"c2", "c5"}, {"c1", "c2", "c9"}])
def test_a_conjunctive_root_is_found_exactly(guilty: set[str]) -> None:
    assert _found(repaired_by(guilty), 9) == Root(frozenset(guilty), frozenset(), minimal=True)


def test_a_leading_suspect_that_repairs_alone_is_the_root() -> None:
    """jinja2: it was tried only for how the test fails without it, and passed, to no effect."""
    oracle = Counting(repaired_by({"c3"}))
    reversion = _reversion(oracle, 9)
    root = Root(frozenset({"c3"}), frozenset(), minimal=True)
    assert reversion.leading(["c2", "c3", "c1"]) == root
    assert len(oracle.asked) == 2
    assert _reversion(oracle, 9).leading(["c2", "c1"]) is None


def test_what_a_variant_clashes_with_is_undone_as_well() -> None:
    """tomlkit: of four places that agree on what a list holds, two alone fail at the third."""
    clashes = {ids(2): frozenset(["c7"]), ids(2) | {"c7"}: frozenset(["c5"])}

    def answer(reverted: ChangeSet) -> Outcome:
        shaped = {"c1", "c2"} <= reverted
        if shaped and not {"c5", "c7"} <= reverted:
            return DIFFERENT
        return repaired_by({"c1", "c2", "c5", "c7"})(reverted)

    oracle = Counting(answer)
    changes = {**made(9), "c1": change(1, symbol="A.f"), "c2": change(2, symbol="A.f")}
    trials = Trials(
        oracle,
        AuxiliarySearch(lambda _: True, changes, ids(9)),
        clashing=lambda reverted: clashes.get(reverted, frozenset()),
    )
    suspects = [
        Suspect(each, Tier.ENTRY, home=home(changes[each])) if each in ids(2)
        else Suspect(each, Tier.SLICE)
        for each in in_order(ids(9) - {"c5", "c7"})
    ]  # fmt: skip
    found = Reversion(trials, changes).find_root(suspects, 0.15)
    assert found == Root(frozenset({"c1", "c2", "c5", "c7"}), frozenset(), minimal=True)
    assert len(oracle.asked) <= 8  # k + 4: the two that are suspected are tried alone first


def test_what_only_stands_around_suspects_is_put_back_before_them() -> None:
    """cc65: of a function's six changes, undone together, the suspected ones were put back first, and again at last."""
    changes = {f"c{n}": change(n, symbol="f") for n in range(1, 7)} | {"c7": change(7)}

    def answer(reverted: ChangeSet) -> Outcome:
        repaired = repaired_by({"c2", "c4", "c5"})(reverted)
        return repaired if repaired.passed or not reverted & {"c2", "c5"} else DIFFERENT

    oracle = Counting(answer)
    trials = Trials(
        oracle,
        AuxiliarySearch(lambda _: True, changes, ids(7)),
        kin=lambda reverted: ids(6) - reverted if len(reverted) < 6 else NOTHING,
    )
    suspects = [Suspect(each, Tier.CAUSE, home=home(changes[each])) for each in ("c4", "c5", "c2")]
    found = Reversion(trials, changes).find_root(suspects, 0.15)
    assert found == Root(frozenset({"c2", "c4", "c5"}), frozenset(), minimal=True)
    put_back = oracle.asked[oracle.asked.index(ids(6)) + 1 :]
    assert len(put_back) == 6


def test_of_a_guilty_pair_one_is_enough() -> None:
    """They only fail together: reverting either repairs, so the smallest root has one change."""
    oracle = Counting(repaired_by({"c2"}, {"c3"}))
    found = _found(oracle, 6)
    assert found is not None
    assert found.changes in ({"c2"}, {"c3"})
    assert len(oracle.asked) <= 4


def test_nothing_is_found_where_nothing_passes() -> None:
    oracle = Counting(repaired_by({"c99"}))
    assert _found(oracle, 12) is None
    assert ids(12) in oracle.asked  # all of them together were tried before giving up


@pytest.mark.parametrize(("needed", "minimal"), [(60, None), (12, True), (1, True)])
def test_of_a_rewrite_that_comes_down_to_many_no_more_is_asked(
    needed: int, minimal: bool | None
) -> None:
    """xarray: a commit of 775 lines came to no end in 245 runs, since with most parts put back it fails otherwise."""
    whole = ids(needed)
    oracle = Counting(lambda reverted: PASS if whole <= reverted else DIFFERENT)
    trials, blind = _trials(oracle, 90), 2 * log2(91) + 3
    found = Reversion(trials, made(90)).find_root(
        _suspects(90), 0.0, passing=trials.revert(ids(90))
    )
    assert found is not None
    assert found.minimal is minimal
    assert whole <= found.changes
    assert minimal is None or found.changes == whole
    assert len(oracle.asked) <= 4 * blind + 20


def test_what_builds_only_as_a_whole_is_given_up_and_told() -> None:
    """apk-tools: of a rewrite of which no part builds alone ten sets from above were each built twenty times, and then
    it was begun to count.
    """
    whole = ids(90)
    oracle = Counting(lambda reverted: PASS if whole <= reverted else NOT_BUILT)
    search = AuxiliarySearch(
        lambda reverted: oracle(reverted).built, made(90), whole, Standing(lambda _: "")
    )
    trials, blind = Trials(oracle, search), 2 * log2(91) + 3
    reversion = Reversion(trials, made(90), worth=Worth(changes=90))
    found = reversion.find_root(_suspects(90), 0.0, passing=trials.revert(whole))
    assert found is not None
    assert found.minimal is None
    assert found.changes | found.auxiliary == whole
    assert len(oracle.asked) <= 4 * blind + 3 * SEARCH.builds_when_told


def test_the_most_suspicious_change_costs_one_run() -> None:
    oracle = Counting(repaired_by({"c1"}))
    suspects = [Suspect("c1", Tier.ENTRY), *_suspects(60, [Tier.SLICE])[1:]]
    found = _reversion(oracle, 60).find_root(suspects, 0.15)
    assert found == Root(frozenset({"c1"}), frozenset(), minimal=True)
    assert oracle.asked == [frozenset({"c1"})]


def test_verdicts_of_an_earlier_call_are_not_asked_for_again() -> None:
    oracle = Counting(running_example)
    reversion = _reversion(oracle, 4)
    assert reversion.find_root([Suspect("c3", Tier.CARRIER)], 0.4) is None
    found = reversion.find_root([Suspect("c3", Tier.CARRIER), Suspect("c2", Tier.CARRIER, 1)], 0.15)
    assert found == Root(frozenset({"c2", "c3"}), frozenset(), minimal=True)
    assert len(oracle.asked) == len(set(oracle.asked)) == 3


@pytest.mark.parametrize(("needed", "helps"), [(True, True), (False, True), (False, False)])
def test_a_suspicion_is_no_proof(*, needed: bool, helps: bool) -> None:
    """c1 is suspected to need c2 (or nothing helps it); a run decides."""

    def suspicion(reverted: ChangeSet) -> str:
        free = "c1" not in reverted or (helps and "c2" in reverted)
        return "" if free else "'x' is not defined"

    def oracle(reverted: ChangeSet) -> Outcome:
        if "c1" in reverted and needed and "c2" not in reverted:
            return NOT_BUILT
        return repaired_by({"c1"})(reverted)

    changes = made(6)
    auxiliary = AuxiliarySearch(lambda _: True, changes, ids(6), Standing(suspicion, proves=False))
    found = Reversion(Trials(oracle, auxiliary), changes).find_root(_suspects(6), 0.15)
    assert found is not None
    if not needed:
        assert found == Root(frozenset({"c1"}), frozenset(), minimal=True)
    else:
        assert found.changes | found.auxiliary == {"c1", "c2"}


def test_of_a_set_that_does_not_stand_what_stands_together_is_tried() -> None:
    """mistletoe: of 61 suspects some parted a docstring two by two, and each set that held such two was refused."""

    def suspicion(reverted: ChangeSet) -> str:
        parted = any({f"c{n}", f"c{n + 1}"} <= reverted for n in range(1, 60, 3))
        return "lib.py: SyntaxError: unterminated string" if parted else ""

    oracle = Counting(repaired_by({"c50"}))
    changes = made(60)
    standing = Standing(suspicion, proves=False, certain=suspicion)
    auxiliary = AuxiliarySearch(lambda _: True, changes, ids(60), standing)
    found = Reversion(Trials(oracle, auxiliary), changes).find_root(_suspects(60), 0.15)
    assert found == Root(frozenset({"c50"}), frozenset(), minimal=True)
    assert len(oracle.asked) <= 10  # as many as 60 alike have bits, and a few


def test_sets_that_fail_otherwise_wait_no_longer_than_to_put_back_each_that_is_executed() -> None:
    """Kconfiglib: of a rewrite of 66 changes, 18 of them executed, thirty sets of suspects failed otherwise."""
    needed = ids(14) - ids(4)
    oracle = Counting(lambda reverted: PASS if needed <= reverted else DIFFERENT)
    suspects = _suspects(10)  # not all that are needed
    for executed, most in ((ids(18), 10), (NOTHING, 32)):
        oracle.asked.clear()
        reversion = Reversion(_trials(oracle, 66), made(66), executed=executed)
        with pytest.raises(TrialsSpentError):
            [reversion.find_root(suspects, 0.15) for _ in range(66)]
        assert len(oracle.asked) <= most


def test_what_the_test_does_not_execute_need_not_go_along() -> None:
    """c1 needs c2; c3 is asked for by a text that the test does not come to."""

    def suspicion(reverted: ChangeSet) -> str:
        missing = sorted({"c2", "c3"} - reverted) if "c1" in reverted else []
        return "\n".join(f"'name{c[1:]}' is not defined" for c in missing)

    oracle = Counting(repaired_by({"c1", "c2"}))
    changes = {f"c{n}": change(n, patch=f"+name{n}") for n in range(1, 7)}
    auxiliary = AuxiliarySearch(lambda _: True, changes, ids(6), Standing(suspicion, proves=False))
    trials = Trials(oracle, auxiliary)
    reversion = Reversion(trials, changes, executed=frozenset({"c1", "c2", "c4"}))
    found = reversion.find_root([Suspect("c1", Tier.ENTRY)], 0.15)
    assert found == Root(frozenset({"c1"}), frozenset({"c2"}), minimal=True)
    assert (
        len(oracle.asked) <= 4
    )  # with both, without what is not executed, and each of the two put back


def test_what_a_second_change_does_wrong_is_undone_with_the_first() -> None:
    """Without c1 the test fails further on, or as ever by another line, of which c2 is told; c3's other failure tells
    of c2 as well, but the test came no further by it.
    """
    told = {frozenset({"c1"}): frozenset({"c2"}), frozenset({"c3"}): frozenset({"c2"})}
    for first, furthered in ((DIFFERENT, True), (Outcome(Verdict.FAIL), False)):

        def failing(reverted: ChangeSet, first: Outcome = first) -> Outcome:
            if reverted == {"c1"}:
                return first
            return repaired_by({"c1", "c2"})(reverted) if "c1" in reverted else DIFFERENT

        def further(reverted: ChangeSet, furthered: bool = furthered) -> bool:
            return furthered and reverted == {"c1"}

        oracle = Counting(failing)
        trials = Trials(
            oracle,
            AuxiliarySearch(lambda _: True, made(5), ids(5)),
            clashing=lambda reverted: told.get(reverted, NOTHING),
            came_further=further,
        )
        found = Reversion(trials, made(5)).leading(["c3", "c1"])
        assert found == Root(frozenset({"c1", "c2"}), NOTHING, minimal=True)
        assert oracle.asked[:3] == [{"c3"}, {"c1"}, {"c1", "c2"}]


@pytest.mark.parametrize(("needs", "tried"), [(1, True), (5, True), (6, False)])
def test_a_leading_change_is_tried_with_the_few_that_its_text_needs(
    needs: int, *, tried: bool
) -> None:
    """So many others define what c1's text uses."""
    needed = in_order(ids(9) - {"c1"})[:needs]

    def suspicion(reverted: ChangeSet) -> str:
        missing = [each for each in needed if "c1" in reverted and each not in reverted]
        return "\n".join(f"'name{each[1:]}' is not defined" for each in missing)

    oracle = Counting(repaired_by({"c1", *needed}))
    changes = {f"c{n}": change(n, patch=f"+name{n}") for n in range(1, 10)}
    auxiliary = AuxiliarySearch(lambda _: True, changes, ids(9), Standing(suspicion, proves=False))
    found = Reversion(Trials(oracle, auxiliary), changes, executed=ids(9)).leading(["c1"])
    assert found == (Root(frozenset({"c1"}), frozenset(needed), minimal=True) if tried else None)
    assert bool(oracle.asked) is tried


def test_of_few_that_pass_each_is_put_back_once_a_part_fails_in_a_way_of_its_own() -> None:
    """c1 and c4 need each other: every set with one of them fails otherwise (Portage: a class that lost its base, and
    who makes it; twelve runs for two of five changes).
    """

    def failing(reverted: ChangeSet) -> Outcome:
        return (
            DIFFERENT if len(reverted & {"c1", "c4"}) == 1 else repaired_by({"c1", "c4"})(reverted)
        )

    oracle = Counting(failing)
    suspects = _suspects(5, [Tier.CAUSE, Tier.CAUSE, Tier.CAUSE, Tier.SLICE, Tier.CAUSE])
    passing = Trial(ids(5), NOTHING, PASS)
    found = _reversion(oracle, 5).find_root(suspects, 0.0, passing=passing)
    assert found == Root(frozenset({"c1", "c4"}), NOTHING, minimal=True)
    assert len(oracle.asked) <= 5 + 1  # each put back, and a first guess


def test_what_the_test_executes_is_tried_with_all_of_its_functions() -> None:
    """Two changes a function, a head and its body: one alone is no text (nicotine-plus, whose messages' methods all got
    other parameters: twelve runs of ever fewer came to what the test executes).
    """

    def torn(reverted: ChangeSet) -> str:
        halves = (len(reverted & {f"c{n}", f"c{n + 1}"}) for n in range(1, 41, 2))
        return "SyntaxError" if 1 in halves else ""

    oracle = Counting(repaired_by({"c1", "c2", "c5", "c6"}))
    changes = made(40, a_file=40, a_function=2)
    standing = Standing(torn, proves=False, certain=torn)
    trials = Trials(oracle, AuxiliarySearch(lambda _: True, changes, ids(40), standing))
    reversion = Reversion(trials, changes, executed=frozenset({"c1", "c6"}))
    found = reversion.settle(ids(40), [])
    assert found is not None
    assert found.changes | found.auxiliary == {"c1", "c2", "c5", "c6"}
    assert oracle.asked[:2] == [ids(40), {"c1", "c2", "c5", "c6"}]


def test_what_went_along_is_not_tried_alone_where_it_failed_with_more_undone() -> None:
    """c1 needs c2 by its text; with c1 put back the test fails as ever, and c2 was undone there too."""

    def suspicion(reverted: ChangeSet) -> str:
        return "'name2' is not defined" if "c1" in reverted and "c2" not in reverted else ""

    oracle = Counting(repaired_by({"c1", "c2", "c3"}))
    changes = {f"c{n}": change(n, patch=f"+name{n}") for n in range(1, 5)}
    auxiliary = AuxiliarySearch(lambda _: True, changes, ids(4), Standing(suspicion, proves=False))
    reversion = Reversion(Trials(oracle, auxiliary), changes, executed=ids(4))
    found = reversion.settle(frozenset({"c1", "c3"}), ["c1", "c3"])
    assert found == Root(frozenset({"c1", "c3"}), frozenset({"c2"}), minimal=True)
    assert {"c3", "c2"} in oracle.asked
    assert {"c2"} not in oracle.asked


@settings(max_examples=100)
@given(
    st.integers(),
    st.dictionaries(st.sampled_from(range(1, 8)), st.sets(st.integers(1, 7), min_size=1)),
)
@example(0, {1: {2}, 2: {1}})
def test_whatever_is_suspected_it_ends(seed: int, needs: dict[int, set[int]]) -> None:
    """Rules of werkzeug: changes that are said to need each other, and repair without; in a circle."""

    def suspicion(reverted: ChangeSet) -> str:
        lacking = (n for k, v in needs.items() if f"c{k}" in reverted for n in sorted(v))
        missing = [f"'name{n}' is not defined" for n in lacking if f"c{n}" not in reverted]
        return " ".join(missing)

    answer = arbitrary(seed, 7, resolved=1.0)
    oracle = Counting(answer)
    changes = {f"c{n}": change(n, patch=f"+name{n}") for n in range(1, 8)}
    auxiliary = AuxiliarySearch(lambda _: True, changes, ids(7), Standing(suspicion, proves=False))
    reversion = Reversion(Trials(oracle, auxiliary), changes)
    found = reversion.find_root(_suspects(7), 0.15)
    assert found is None or answer(found.changes | found.auxiliary) is PASS


@settings(max_examples=150)
@given(st.integers(), st.integers(1, 9), st.lists(st.sampled_from(Tier), min_size=1, max_size=4))
@example(99_030_869_804, 8, [Tier.ENTRY])  # ten runs that tell nothing, and none of all together
@example(0, 7, [Tier.ENTRY, Tier.EXECUTED, Tier.ENTRY])  # one suspect left out, which was needed
def test_any_oracle_at_all(seed: int, count: int, tiers: list[Tier]) -> None:
    """Non-monotone, inconsistent, with unresolved runs: the promises hold all the same."""
    answer = arbitrary(seed, count)
    oracle = Counting(answer)
    found = _searched(oracle, count, _suspects(count, tiers), 0.15)
    assert found is not None  # reverting everything passes, and is tried before giving up
    assert answer(found.changes) is PASS
    assert found.minimal
    for one in found.changes if len(found.changes) > 1 else ():
        assert answer(found.changes - {one}) is not PASS
    assert len(oracle.asked) == len(set(oracle.asked)) <= count**2 + 3 * count


@settings(max_examples=60)
@given(
    st.lists(st.sets(st.integers(1, 24), min_size=1, max_size=3), min_size=1, max_size=2),
    st.integers(0, 40),
)
def test_monotone_oracles_and_budgets(roots: list[set[int]], budget: int) -> None:
    named = [{f"c{i}" for i in root} for root in roots]
    answer = repaired_by(*named)
    oracle = Counting(answer, budget)
    try:
        found = _reversion(oracle, 24).find_root(_suspects(24), 0.15)
    except BudgetSpentError:
        assert len(oracle.asked) == budget
        return
    assert found is not None
    assert answer(found.changes) is PASS
    if found.minimal:
        assert found.changes in [frozenset(root) for root in named]
    else:
        assert found.minimal is None
        assert len(oracle.asked) == budget


@settings(max_examples=15)
@given(st.sets(st.integers(1, 120), min_size=1, max_size=3))
def test_a_large_flat_set_is_bisected(guilty: set[int]) -> None:
    root = {f"c{i}" for i in guilty}
    oracle = Counting(repaired_by(root))
    found = _found(oracle, 120)
    assert found == Root(frozenset(root), frozenset(), minimal=True)
    assert len(oracle.asked) <= 20 + 10 * len(root)


def test_what_passes_with_more_undone_is_no_smaller() -> None:
    """prompt_toolkit: five changes passed, then two of them with 41 that went along."""
    five, two, rest = ids(5), frozenset({"c1", "c2"}), ids(43) - {"c1", "c2"}
    passing = Trial(five, NOTHING, PASS)
    assert not Trial(two, rest, PASS).shrinks(passing)
    assert Trial(two, frozenset({"c3", "c4", "c5"}), PASS).shrinks(passing)
    assert not Trial(two, NOTHING, DIFFERENT).shrinks(passing)


def _needs(needed: dict[str, set[str]], answer: Answer) -> Answer:
    """A change builds only together with those it needs."""

    def outcome(reverted: ChangeSet) -> Outcome:
        whole = all(needed.get(change, set()) <= reverted for change in reverted)
        return answer(reverted) if whole else NOT_BUILT

    return outcome


def test_what_must_go_along_is_auxiliary_and_not_root() -> None:
    oracle = _needs({"c4": {"c11"}}, repaired_by({"c4"}))
    assert _found(oracle, 12) == Root(frozenset({"c4"}), frozenset({"c11"}), minimal=True)


def test_what_went_along_with_another_is_kept_where_it_helped() -> None:
    """pathspec: c2 is said to need c3, and is not needed itself, but c3 is."""

    def suspicion(reverted: ChangeSet) -> str:
        return "'name3' is not defined" if "c2" in reverted and "c3" not in reverted else ""

    changes = {f"c{n}": change(n, patch=f"+name{n}") for n in range(1, 8)}
    auxiliary = AuxiliarySearch(lambda _: True, changes, ids(7), Standing(suspicion, proves=False))
    trials = Trials(repaired_by({"c1", "c3"}), auxiliary)
    suspects = [Suspect("c1", Tier.ENTRY), Suspect("c2", Tier.ENTRY)]
    found = Reversion(trials, changes).find_root(suspects, 0.15)
    assert found is not None
    assert found.changes | found.auxiliary == {"c1", "c3"}


def test_of_what_went_along_two_that_need_only_each_other_go() -> None:
    """pyparsing: two slots of another class, of which neither can be left out alone."""
    needs = {"c1": {"c2", "c6", "c7"}, "c6": {"c7"}, "c7": {"c6"}}
    files = {n: "f.py" if n < 5 else "g.py" for n in range(1, 8)}

    def suspicion(reverted: ChangeSet) -> str:
        missing = {n for c in reverted for n in needs.get(c, set()) if n not in reverted}
        return " ".join(f"'name{n[1:]}' is not defined" for n in sorted(missing))

    def oracle(reverted: ChangeSet) -> Outcome:
        halved = len(reverted & {"c6", "c7"}) == 1
        return DIFFERENT if halved else repaired_by({"c1", "c2"})(reverted)

    changes = {f"c{n}": change(n, file=files[n], patch=f"+name{n}") for n in range(1, 8)}
    auxiliary = AuxiliarySearch(lambda _: True, changes, ids(7), Standing(suspicion, proves=False))
    reversion = Reversion(Trials(oracle, auxiliary), changes, executed=ids(7))
    found = reversion.find_root([Suspect("c1", Tier.ENTRY)], 0.15)
    assert found == Root(frozenset({"c1"}), frozenset({"c2"}), minimal=True)


def test_of_what_went_along_those_that_need_only_each_other_go_at_once() -> None:
    """dulwich: parameters and who hands them on, in the file of all others, went along with what does not need them."""
    needs = {"c1": {"c2", "c3"}, "c6": {"c7"}, "c7": {"c6"}, "c8": {"c6", "c7"}}
    text = {**needs, "c1": needs["c1"] | {"c6", "c8"}}  # it asks for too much

    def suspicion(reverted: ChangeSet) -> str:
        asks = text if "c1" in reverted and len(reverted) < 6 else needs
        missing = {n for c in reverted for n in asks.get(c, set()) if n not in reverted}
        return " ".join(f"'name{n[1:]}' is not defined" for n in sorted(missing))

    def answer(reverted: ChangeSet) -> Outcome:
        whole = all(needs.get(each, set()) <= reverted for each in reverted)
        return repaired_by({"c1", "c2", "c3"})(reverted) if whole else DIFFERENT

    oracle = Counting(answer)
    changes = {f"c{n}": change(n, patch=f"+name{n}") for n in range(1, 10)}
    auxiliary = AuxiliarySearch(lambda _: True, changes, ids(9), Standing(suspicion, proves=False))
    reversion = Reversion(Trials(oracle, auxiliary), changes, executed=ids(9))
    found = reversion.find_root([Suspect("c1", Tier.ENTRY)], 0.15)
    assert found == Root(frozenset({"c1"}), frozenset({"c2", "c3"}), minimal=True)
    assert len(oracle.asked) <= 6  # with these and without them, then without each of the three


def test_where_what_went_along_did_it_that_is_the_root() -> None:
    """c4 is suspected and needs c11 to build; c11 alone repairs."""
    oracle = _needs({"c4": {"c11"}}, repaired_by({"c11"}))
    suspects = [Suspect("c4", Tier.ENTRY)]
    found = _reversion(oracle, 12).find_root(suspects, 0.15)
    assert found == Root(frozenset({"c11"}), frozenset(), minimal=True)


def test_of_what_went_along_with_an_innocent_one_what_is_not_executed_goes_at_once() -> None:
    """yajl: with the callback's loop five others were undone, of which the rewritten caller and its old text repair."""
    along = {"c2", "c3", "c4", "c5", "c6"}
    oracle = Counting(_needs({"c1": along, "c2": {"c3"}}, repaired_by({"c2", "c3"})))
    trials = _trials(oracle, 12)
    reversion = Reversion(trials, made(12), executed=frozenset({"c1", "c2", "c3"}))
    found = reversion.find_root([Suspect("c1", Tier.ENTRY)], 0.15)
    assert found is not None
    assert found.minimal
    assert found.changes | found.auxiliary == frozenset({"c2", "c3"})
    assert trials.runs <= 4


def test_a_root_change_that_another_needs_is_its_auxiliary() -> None:
    oracle = _needs({"c4": {"c5"}}, repaired_by({"c4", "c5"}))
    found = _found(oracle, 8)
    assert found == Root(frozenset({"c4"}), frozenset({"c5"}), minimal=True)


def test_what_a_linker_misses_is_left_out_of_a_set() -> None:
    """c-ares: each of nine changes compiles alone, and one takes away a function that others call."""
    asked: list[ChangeSet] = []
    missed = replace(NOT_BUILT, detail="a.c:3: undefined reference to `gone'")

    def outcome(reverted: ChangeSet) -> Outcome:
        asked.append(reverted)
        if "c2" in reverted:
            return missed
        return repaired_by({"c5"})(reverted)

    changes = {**made(9), "c2": change(2, patch="+int gone(void) {\n")}
    search = AuxiliarySearch(
        lambda reverted: outcome(reverted).built,
        changes,
        ids(9),
        standing=Standing(lambda _reverted: ""),
    )
    found = Reversion(Trials(outcome, search), changes).find_root(_suspects(9), 0.15)
    assert found == Root(frozenset({"c5"}), frozenset(), minimal=True)
    assert sum("c2" in reverted for reverted in asked) <= 2


def _misses_a_function(reverted: ChangeSet, others: ChangeSet) -> Outcome:
    """c2 takes away a function that c3 calls; c3 alone repairs, and not with c1."""
    if "c2" in reverted and not others <= reverted:
        return replace(NOT_BUILT, detail="a.c:3: undefined reference to `track'")
    return FAIL if "c1" in reverted else repaired_by({"c3"})(reverted)


@pytest.mark.parametrize("spoilt", [("c2", "c3"), ("c1", "c2", "c3")])
@pytest.mark.parametrize("told", ["nothing", "all that is needed"])
def test_one_of_several_that_is_built_alone_is_tried_before_what_all_of_them_need(
    told: str, spoilt: tuple[str, ...]
) -> None:
    """mpack: one suspect defines a function that another one calls; both compile alone, and a linker's word fits both.
    With 64 others the two were built, and 54 were called minimal; the one that calls it repairs alone.
    """
    others = ids(40) - ids(6)

    def named(reverted: ChangeSet) -> ChangeSet:
        asks = told == "all that is needed" and "c2" in reverted
        return others - reverted if asks else NOTHING

    oracle = Counting(lambda reverted: _misses_a_function(reverted, others))
    changes = {
        **made(40),
        "c2": change(2, patch="+int track(int n) {\n"),
        "c3": change(3, patch="-track(1);\n+track(2);\n"),
    }
    search = AuxiliarySearch(
        lambda reverted: oracle(reverted).built,
        changes,
        ids(40),
        Standing(lambda _reverted: ""),
        named,
    )
    trials = Trials(oracle, search)
    suspects = [Suspect(each, Tier.CAUSE) for each in spoilt]
    found = Reversion(trials, changes).find_root(suspects, 0.45)
    assert found == Root(frozenset({"c3"}), frozenset(), minimal=True)
    assert len(oracle.asked) <= 2 * len(spoilt)
    assert all(len(reverted) <= 3 for reverted in oracle.asked)


def test_what_a_compiler_refuses_alone_is_seen_before_sets_with_it_are_built() -> None:
    """c-ares: one field of a struct spoilt five sets of suspects, and each was built thirteen times with ever more."""
    built: list[ChangeSet] = []

    def outcome(reverted: ChangeSet) -> Outcome:
        built.append(reverted)
        return NOT_BUILT if "c2" in reverted else repaired_by({"c5"})(reverted)

    def against(reverted: ChangeSet) -> str:
        return "f.c:3:1: error: no member named 'gone'" if "c2" in reverted else ""

    search = AuxiliarySearch(
        lambda reverted: outcome(reverted).built, made(9), ids(9), Standing(against)
    )
    found = Reversion(Trials(outcome, search), made(9)).find_root(_suspects(9), 0.15)
    assert found == Root(frozenset({"c5"}), frozenset(), minimal=True)
    assert not any("c2" in reverted for reverted in built)


@pytest.mark.parametrize("missed", ["c5", "c9"])
def test_what_names_ask_for_goes_along_before_anything_is_built(missed: str) -> None:
    """Tidy: a function taken away, its callers left; each set with it was built once for the linker's word. Where
    names are wrong, and nothing builds with what they ask for, the set is built alone after all.
    """
    repaired = repaired_by({"c2"})
    oracle = Counting(lambda reverted: NOT_BUILT if "c9" in reverted else repaired(reverted))
    search = AuxiliarySearch(
        lambda reverted: oracle(reverted).built,
        made(9),
        ids(9),
        Standing(lambda _reverted: ""),
        lambda reverted: frozenset({missed}) - reverted if "c2" in reverted else frozenset(),
    )
    trial = Trials(oracle, search).revert(frozenset({"c2"}))
    assert trial.passed
    assert trial.reverted == ({"c2", "c5"} if missed == "c5" else {"c2"})
    assert (frozenset({"c2"}) in oracle.asked) == (missed == "c9")


def test_what_needs_nothing_else_is_tried_before_single_changes_are_put_back() -> None:
    """werkzeug: a module became a package; undoing any new file needs the old module and all others."""
    oracle = Counting(repaired_by({"c1", "c2"}))
    every = ids(7)
    needs = {"c1": frozenset[str](), "c2": frozenset({"c1"})}
    suspects = [
        replace(suspect, needs=needs.get(suspect.change, every - {suspect.change}))
        for suspect in _suspects(7)
    ]
    found = _reversion(oracle, 7).find_root(suspects, 0.15)
    assert found == Root(frozenset({"c1", "c2"}), frozenset(), minimal=True)
    assert len(oracle.asked) <= 6


def test_a_part_is_tried_as_it_is_where_a_text_asks_for_as_much_again() -> None:
    """dynaconf: what its text suspects was added to each part again, which passed and was no smaller."""
    rewritten, others = ids(20), ids(30) - ids(20)

    def suspicion(reverted: ChangeSet) -> str:
        part = reverted and not rewritten <= reverted
        return " ".join(f"'name{c[1:]}' is not defined" for c in sorted(others - reverted) if part)

    oracle = Counting(repaired_by({"c3", "c8"}))
    changes = {f"c{n}": change(n, patch=f"+name{n}") for n in range(1, 31)}
    auxiliary = AuxiliarySearch(lambda _: True, changes, ids(30), Standing(suspicion, proves=False))
    found = Reversion(Trials(oracle, auxiliary), changes).settle(rewritten, sorted(rewritten))
    assert found == Root(frozenset({"c3", "c8"}), frozenset(), minimal=True)
    assert len(oracle.asked) <= 15


@pytest.mark.parametrize("seed", range(4))
def test_of_few_that_ask_for_all_others_each_is_tried_alone_before_all_sets_of_them_are(
    seed: int,
) -> None:
    """Of jrnl's 55 changes ten asked for all others, and one of them passes alone: of the ten 370 sets were tried."""
    few, rest = in_order(ids(10)), ids(55) - ids(10)
    alone = frozenset({few[-2 - seed]})

    def suspicion(reverted: ChangeSet) -> str:
        asking = len(reverted & ids(10)) > 1 and not rest <= reverted
        return " ".join(f"'name{c[1:]}' is not defined" for c in sorted(rest - reverted) if asking)

    def answer(reverted: ChangeSet) -> Outcome:
        return PASS if reverted in (ids(55), alone) else lacking

    lacking = Outcome(Verdict.UNRESOLVED, Unresolved.BUILD, "NameError: name 'x' is not defined")
    oracle = Counting(answer)
    changes = {f"c{n}": change(n, patch=f"+name{n}") for n in range(1, 56)}
    auxiliary = AuxiliarySearch(lambda _: True, changes, ids(55), Standing(suspicion, proves=False))
    trials, weigh = Trials(oracle, auxiliary), Random(seed)
    suspects = [Suspect(c, Tier.EXECUTED, similarity=weigh.uniform(-1, 1.5)) for c in few]
    suspects += [Suspect(each, Tier.OTHER) for each in in_order(rest)]
    passing = Trial(frozenset(few), rest, trials.revert(ids(55)).outcome)
    reversion = Reversion(trials, changes)
    found = reversion.find_root(suspects, 0.0, passing=passing)
    assert found == Root(alone, frozenset(), minimal=True)
    assert len(oracle.asked) <= 40


def test_a_part_that_passes_with_more_along_is_tried_once() -> None:
    """asyncssh: what was left passed, and took more along than what was known to pass; it was tried for ever."""

    def suspicion(reverted: ChangeSet) -> str:
        lacking = sorted({"c4", "c5", "c6", "c7"} - reverted)
        asked = lacking if "c3" in reverted and "c1" not in reverted else []
        return " ".join(f"'name{each[1:]}' is not defined" for each in asked)

    oracle = Counting(repaired_by({"c1", "c2", "c3"}, {"c3", "c4", "c5", "c6", "c7"}))
    changes = {f"c{n}": change(n, patch=f"+name{n}") for n in range(1, 8)}
    auxiliary = AuxiliarySearch(lambda _: True, changes, ids(7), Standing(suspicion, proves=False))
    reversion = Reversion(Trials(oracle, auxiliary), changes)
    suspects = _suspects(3)
    suspects[1] = replace(suspects[1], needs=frozenset({"c1"}))
    found = reversion.find_root(suspects, 0.15)
    assert found == Root(frozenset({"c1", "c2", "c3"}), frozenset(), minimal=True)


@pytest.mark.parametrize("guilty", [{"c3"}, {"c17"}, {"c31"}, {"c8", "c29"}])
def test_side_by_side_the_same_root_is_found_in_fewer_rounds(guilty: set[str]) -> None:
    """A round is what takes the time of one test: four runs at the same time are one."""
    oracle = repaired_by(guilty)
    rounds = {1: 0, 4: 0}

    def found(width: int) -> Root | None:
        def one(reverted: ChangeSet) -> Outcome:
            rounds[width] += 1
            return oracle(reverted)

        def several(candidates: Sequence[ChangeSet]) -> list[Outcome]:
            rounds[width] += -(-len(candidates) // width)
            return [oracle(reverted) for reverted in candidates]

        changes = made(40)
        auxiliary = AuxiliarySearch(lambda _: True, changes, ids(40))
        trials = Trials(one, auxiliary, several if width > 1 else None, width=width)
        return Reversion(trials, changes).find_root(_suspects(40), 0.15)

    alone, beside = found(1), found(4)
    assert alone is not None
    assert beside is not None
    assert alone.changes == beside.changes == frozenset(guilty)
    assert beside.minimal
    assert rounds[4] <= 0.75 * rounds[1], rounds


def test_runs_that_the_budget_has_no_room_for_do_not_lose_those_that_were_made() -> None:
    passing = repaired_by({"c1"})

    def several(candidates: Sequence[ChangeSet]) -> list[Outcome]:
        made_, left = candidates[:1], candidates[1:]
        return [passing(each) for each in made_] + [NOT_RUN for _ in left]

    changes = made(6)
    auxiliary = AuxiliarySearch(lambda _: True, changes, ids(6))
    trials = Trials(lambda _: NOT_RUN, auxiliary, several, width=3)
    found = Reversion(trials, changes).find_root(_suspects(6, [Tier.ENTRY, Tier.SLICE]), 0.15)
    assert found is not None
    assert "c1" in found.changes


def test_what_passes_is_made_smaller_by_what_can_be_built_without_the_rest() -> None:
    """QuickJS: a rewrite of 160 changes, of which each asks for those that it rests on; parts that were cut otherwise
    were each refused by a compiler, and made whole again by what they lack.
    """
    needed = ids(9)
    built: list[ChangeSet] = []

    def asks_for(reverted: ChangeSet) -> ChangeSet:
        numbers = [int(change[1:]) - 1 for change in reverted]
        before = {f"c{n + 1}" for number in numbers for n in range(number - number % 20, number)}
        return frozenset(before) - reverted

    def outcome(reverted: ChangeSet) -> Outcome:
        built.append(reverted)
        return repaired_by(needed)(reverted)

    search = AuxiliarySearch(
        lambda _reverted: True, made(60), ids(60), Standing(lambda _reverted: ""), asks_for
    )
    trials = Trials(outcome, search)
    reversion = Reversion(trials, made(60))
    whole = trials.revert(ids(60))
    found = reversion.find_root(_suspects(60, [Tier.OTHER]), 0.0, passing=whole)
    assert found is not None
    assert found.changes | found.auxiliary == needed
    assert not [in_order(reverted) for reverted in built if asks_for(reverted)]
    assert len(built) < 24


def test_what_was_built_in_vain_is_counted_as_runs_are() -> None:
    search = AuxiliarySearch(
        lambda _reverted: False, made(60), ids(60), Standing(lambda _reverted: "")
    )
    trials = Trials(lambda _reverted: NOT_BUILT, search)
    assert not trials.revert(frozenset({"c1"})).outcome.built
    assert trials.runs == 0
    assert trials.spent() == search.builds + 2 > 5  # as it was asked for, and with all others
