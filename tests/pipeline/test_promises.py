"""What is claimed of an answer was run: also where the search that found it lies."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from made_changes import Counting, repaired_by
from pipeline_runs import repository

from afterd.config import Settings
from afterd.limits.searching import SEARCH
from afterd.model.change import NOTHING, ChangeId, ChangeSet
from afterd.model.explanation import Explanation
from afterd.model.outcome import Outcome, Unresolved, Verdict
from afterd.pipeline.explain import explain
from afterd.pipeline.promises import (
    Promises,
    ToldByText,
    kept_promises,
    those_without_which_it_fails_as_ever,
)

_CHANGES = ("c1", "c2", "c3", "c4")
_EVERY = [frozenset(found) for size in range(5) for found in combinations(_CHANGES, size)]
_VERDICTS = st.sampled_from(
    [
        Outcome(Verdict.PASS),
        Outcome(Verdict.FAIL),
        Outcome(Verdict.UNRESOLVED, Unresolved.BUILD),
        Outcome(Verdict.UNRESOLVED, Unresolved.DIFFERENT_FAILURE),
        Outcome(Verdict.UNRESOLVED, Unresolved.SILENT),
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
        parts = [whole - {change} for change in whole if len(whole) > 1]
        if not any(seen[part].verdict is Verdict.FAIL for part in parts):
            parts += [frozenset({change}) for change in whole if len(whole) > 1]
        assert not any(
            seen[part].passed or seen[part].reason is Unresolved.SILENT for part in parts
        )


def test_changes_that_hang_together_are_each_tried_alone() -> None:
    """Put back, each fails otherwise, so none was seen to be needed (pluggy: fourteen changes for one call)."""
    whole = frozenset(f"c{number}" for number in range(1, 2 * SEARCH.lead_alone))
    asked: list[ChangeSet] = []

    def outcome(reverted: ChangeSet) -> Outcome:
        asked.append(reverted)
        if reverted in (whole, frozenset({"c5"})):
            return Outcome(Verdict.PASS)
        return Outcome(Verdict.UNRESOLVED, Unresolved.DIFFERENT_FAILURE)

    found = kept_promises(frozenset({"c2"}), whole - {"c2"}, outcome, _nothing_refused)
    assert (found.root, found.auxiliary, found.minimal) == (frozenset({"c5"}), NOTHING, True)
    assert len(set(asked)) <= 1 + 2 * len(whole)


def test_what_cannot_stand_alone_is_not_tried_alone() -> None:
    """Graphene-django: of seven changes that hang together each was run alone, though the text says what five lack."""
    whole = frozenset(f"c{number}" for number in range(1, 8))
    asked: list[ChangeSet] = []

    def outcome(reverted: ChangeSet) -> Outcome:
        asked.append(reverted)
        if reverted == whole:
            return Outcome(Verdict.PASS)
        return Outcome(Verdict.UNRESOLVED, Unresolved.DIFFERENT_FAILURE)

    def asked_alone(standing: ChangeSet) -> list[ChangeId]:
        asked.clear()
        told = ToldByText(stands=standing.__ge__)
        found = kept_promises(whole, NOTHING, outcome, _nothing_refused, ["c4", "c3"], told)
        assert found.minimal
        return [change for each in asked if len(each) == 1 for change in each]

    assert asked_alone(frozenset({"c3", "c6"})) == ["c3", "c6"]
    assert asked_alone(NOTHING) == ["c4"], "the likeliest at least"


def test_of_changes_that_were_each_put_back_no_parts_are() -> None:
    whole = frozenset(f"c{number}" for number in range(1, 9))
    asked: list[ChangeSet] = []

    def outcome(reverted: ChangeSet) -> Outcome:
        asked.append(reverted)
        return Outcome(Verdict.PASS if reverted == whole else Verdict.FAIL)

    found = kept_promises(
        whole, NOTHING, outcome, _nothing_refused, known=lambda left: len(left) == 7
    )
    assert (found.root, found.minimal) == (whole, True)
    assert {len(each) for each in asked} == {7, 8}


def test_what_a_compiler_takes_alone_is_tried_at_once() -> None:
    """libucl: a parameter was added, so that none of 24 changes could be put back; eight of them were undone alone."""
    whole = frozenset(f"c{number}" for number in range(1, 10))
    loose = frozenset({"c2", "c3", "c5", "c8"})

    def refused(reverted: ChangeSet) -> str:
        return "" if reverted == whole or reverted <= loose else "too few arguments"

    oracle = Counting(repaired_by(whole))
    found = kept_promises(frozenset({"c1"}), whole - {"c1"}, oracle, refused)
    assert (found.root | found.auxiliary, found.minimal) == (whole, True)
    assert oracle.asked == [whole, loose]
    oracle = Counting(repaired_by({"c5"}))
    found = kept_promises(frozenset({"c1"}), whole - {"c1"}, oracle, refused)
    assert (found.root, found.auxiliary, found.minimal) == (frozenset({"c5"}), NOTHING, True)


def test_what_is_put_back_in_vain_is_asked_again_only_in_the_smallest_answer() -> None:
    """pydot: of ten changes two were not needed, the last ones asked, and each time all others were put back anew."""
    needed = frozenset(f"c{number}" for number in range(1, 9))
    oracle = Counting(repaired_by(needed))
    found = kept_promises(needed | {"c98", "c99"}, NOTHING, oracle, _nothing_refused)
    assert found.root == needed
    assert found.minimal
    assert len(set(oracle.asked)) == 1 + 2 * len(needed)


def test_of_a_crowd_that_goes_along_parts_are_put_back_together() -> None:
    """lighttpd: 186 changes went along by their names, of which each took a run and a build."""
    needed = frozenset({"c7", "c90", "c150"})
    crowd = frozenset(f"c{number}" for number in range(1, 190))
    oracle = Counting(repaired_by(needed))
    found = kept_promises(frozenset({"c7"}), crowd - {"c7"}, oracle, _nothing_refused)
    assert (found.root, found.auxiliary) == (frozenset({"c7"}), needed - {"c7"})
    assert found.minimal
    assert len(set(oracle.asked)) < len(crowd) / 3


def _after(change: str) -> ChangeSet:
    """Each change asks for all before it."""
    return frozenset(f"c{number}" for number in range(1, int(change[1:])))


def test_of_a_crowd_nothing_is_left_that_asks_for_what_is_put_back() -> None:
    needed = frozenset(f"c{number}" for number in range(1, 9))
    crowd = frozenset(f"c{number}" for number in range(1, 60))
    oracle = Counting(repaired_by(needed))
    found = kept_promises(
        frozenset({"c7"}),
        crowd - {"c7"},
        oracle,
        _nothing_refused,
        told=ToldByText(lambda changes: NOTHING.union(*map(_after, changes))),
    )
    assert found.root | found.auxiliary == needed
    halving = set(oracle.asked[: len(oracle.asked) - 2 * len(needed)])
    assert all(_after(change) <= tried for tried in halving for change in tried)


def test_of_a_crowd_no_more_is_asked_than_it_is_worth() -> None:
    """Of which nothing can be put back: the answer is what is left, and not said to be the smallest."""
    crowd = frozenset(f"c{number}" for number in range(1, 60))
    oracle = Counting(repaired_by(crowd))
    found = kept_promises(frozenset({"c7"}), crowd - {"c7"}, oracle, _nothing_refused, most=9)
    assert found.root | found.auxiliary == crowd
    assert (found.verified, found.minimal) == (True, None)
    assert len(oracle.asked) <= 11


def test_of_what_the_search_put_back_one_by_one_no_parts_are_put_back() -> None:
    """dulwich, pyfakefs: of seven and eight changes parts were put back, each of which had been put back in vain."""
    whole = frozenset(f"c{number}" for number in range(1, 2 + SEARCH.put_back))
    oracle = Counting(repaired_by(whole))
    parts = {whole - {change} for change in whole}
    found = kept_promises(whole, NOTHING, oracle, _nothing_refused, known=parts.__contains__)
    assert found.minimal
    assert set(oracle.asked) == {whole, *parts}


def test_what_is_only_missed_by_the_rest_goes_along() -> None:
    """sqlite-utils: with c2 put back the test fails as ever; with c1, c2's old text calls what is not there."""
    whole = frozenset({"c1", "c2"})

    def outcome(reverted: ChangeSet) -> Outcome:
        if reverted == whole:
            return Outcome(Verdict.PASS)
        if reverted == {"c1"}:
            return Outcome(Verdict.FAIL)
        return Outcome(
            Verdict.UNRESOLVED, Unresolved.DIFFERENT_FAILURE, "name 'old' is not defined"
        )

    def missing(reverted: ChangeSet, seen: Outcome) -> str:
        return seen.detail if reverted == {"c2"} else ""

    kept = kept_promises(whole, NOTHING, outcome, _nothing_refused)
    led = those_without_which_it_fails_as_ever(kept, outcome, missing, _nothing_refused)
    assert led == replace(kept, root=frozenset({"c2"}), auxiliary=frozenset({"c1"}))
    neither = those_without_which_it_fails_as_ever(
        kept, outcome, lambda _reverted, _seen: "", _nothing_refused
    )
    assert neither == kept


def test_without_which_a_compiler_takes_no_other_only_goes_along() -> None:
    """md4c: a call passes ``chain`` again, whose declaration must come back; to declare it repairs nothing."""
    whole = frozenset({"declaration", "call"})
    fails = Outcome(Verdict.FAIL)

    def outcome(reverted: ChangeSet) -> Outcome:
        return Outcome(Verdict.PASS) if reverted == whole else fails

    def refused(reverted: ChangeSet) -> str:
        return "chain is not declared" if reverted == {"call"} else ""

    kept = Promises(whole, NOTHING, verified=True, minimal=True)
    led = those_without_which_it_fails_as_ever(kept, outcome, lambda _reverted, _seen: "", refused)
    assert led == replace(kept, root=frozenset({"call"}), auxiliary=frozenset({"declaration"}))


def test_with_which_put_back_it_fails_as_ever_is_the_cause_whatever_led_to_it() -> None:
    """tabulate: a pattern that is gone led to the line that reads it, and that line was said to go along."""
    whole = frozenset({"pattern", "import", "line"})
    otherwise = Outcome(Verdict.UNRESOLVED, Unresolved.DIFFERENT_FAILURE, "NameError")
    truth = {
        whole: Outcome(Verdict.PASS),
        whole - {"pattern"}: otherwise,
        whole - {"import"}: otherwise,
        whole - {"line"}: Outcome(Verdict.FAIL),
    }
    kept = Promises(frozenset({"pattern"}), whole - {"pattern"}, verified=True, minimal=True)

    def missing(reverted: ChangeSet, seen: Outcome) -> str:
        return "a name" if seen.detail and reverted else ""

    led = those_without_which_it_fails_as_ever(
        kept, truth.__getitem__, missing, _nothing_refused, truth.__contains__
    )
    assert led == replace(kept, root=frozenset({"line"}), auxiliary=whole - {"line"})


def test_where_nothing_fails_as_ever_no_change_is_said_to_lead() -> None:
    whole = frozenset({"c1", "c2"})

    def outcome(reverted: ChangeSet) -> Outcome:
        different = Outcome(Verdict.UNRESOLVED, Unresolved.DIFFERENT_FAILURE)
        return Outcome(Verdict.PASS) if reverted == whole else different

    kept = Promises(whole, NOTHING, verified=True, minimal=True)
    found = those_without_which_it_fails_as_ever(
        kept, outcome, lambda reverted, _seen: "c1" if reverted == {"c2"} else "", _nothing_refused
    )
    assert found == kept


def test_of_many_with_none_of_which_anything_is_built_none_is_said_to_be_guilty() -> None:
    """Lz4's function was rewritten: 43 guilty changes, and 106 that went along, were all of the commit; with none of
    them put back was anything built.
    """
    many = frozenset(f"c{n}" for n in range(SEARCH.put_to_test + 1))
    kept = Promises(many, NOTHING, verified=True, minimal=True)

    def outcome(reverted: ChangeSet) -> Outcome:
        if reverted == many:
            return Outcome(Verdict.PASS)
        return Outcome(Verdict.UNRESOLVED, Unresolved.BUILD)

    def with_put_back(count: int, seen: Outcome) -> Promises:
        built = frozenset(f"c{n}" for n in range(count))
        return those_without_which_it_fails_as_ever(
            kept,
            lambda reverted: outcome(reverted) if built <= reverted else seen,
            lambda _reverted, _seen: "",
            _nothing_refused,
        )

    assert with_put_back(0, Outcome(Verdict.FAIL)).minimal is None
    assert with_put_back(1, Outcome(Verdict.FAIL)).minimal
    otherwise = Outcome(Verdict.UNRESOLVED, Unresolved.DIFFERENT_FAILURE)
    assert with_put_back(1, otherwise).minimal is None
    assert with_put_back(len(many), otherwise).minimal


def test_what_a_compiler_refuses_is_not_built_to_see_who_is_guilty() -> None:
    """Of lz4's 57 builds 43 were of answers with one change put back, whose files a compiler had refused."""
    many = frozenset(f"c{n}" for n in range(SEARCH.put_to_test + 1))
    kept = Promises(many, NOTHING, verified=True, minimal=True)
    asked: list[ChangeSet] = []

    def outcome(reverted: ChangeSet) -> Outcome:
        asked.append(reverted)
        return Outcome(Verdict.FAIL)

    def refused(reverted: ChangeSet) -> str:
        return "" if "c0" not in reverted else "c0 declares what all others use"

    found = those_without_which_it_fails_as_ever(
        kept, outcome, lambda _reverted, _seen: "", refused
    )
    assert found == kept
    assert asked == [many - {"c0"}]


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
    """Without c2 or without c3 the test fails; the likeliest alone repairs it: their texts tied the three."""
    passing = (frozenset({"c3"}), frozenset({"c1", "c2", "c3"}))

    def outcome(reverted: ChangeSet) -> Outcome:
        return Outcome(Verdict.PASS if reverted in passing else Verdict.FAIL)

    whole = frozenset({"c1", "c2", "c3"})
    found = kept_promises(whole, NOTHING, outcome, _nothing_refused, ["c5", "c3", "c1"])
    assert found.minimal
    assert found.root == frozenset({"c3"})


def _explained(path: Path, said_of_failure: str) -> Explanation:
    test = f"cat said\ngrep -q right value || {{ {said_of_failure}exit 1; }}\n"
    good = {"test.sh": test, "said": "it works\n", "value": "right\n"}
    repository(path, good, {"said": "", "value": "wrong\n"})
    [answer] = explain(Settings(repository=path, range="HEAD~1..HEAD", test=("sh", "test.sh")))
    return answer


def test_after_one_that_is_not_needed_the_next_are_asked() -> None:
    """Pkgconf: 27 went along, of which some were not needed; after each all before it were built again at once."""
    changes = [f"c{number}" for number in range(1, 13)]
    oracle = Counting(repaired_by(set(changes[:6])))
    found = kept_promises(frozenset(changes[:1]), frozenset(changes[1:]), oracle, _nothing_refused)
    assert found.root | found.auxiliary == set(changes[:6])
    assert found.minimal
    assert len(oracle.asked) <= 1 + 12 + 6


def test_a_smaller_part_that_passes_without_a_word_is_told(tmp_path: Path) -> None:
    """What printed is gone as well: it may be that nothing is tested, and it may be that nothing is printed."""
    answer = _explained(tmp_path / "r", "echo wrong; ")
    assert {change.file for change in answer.root} == {"said", "value"}
    assert answer.verified
    assert answer.minimal is False
    assert any("passes too, but prints nothing" in note for note in answer.notes)


def test_what_prints_nothing_where_it_fails_may_pass_without_a_word(tmp_path: Path) -> None:
    """Then the bad version has nothing to say, and its like has not."""
    answer = _explained(tmp_path / "r", "")
    assert [change.file for change in answer.root] == ["value"]
    assert answer.minimal
