"""Reciprocal-rank fusion: votes, boosts, learned weights."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterd.localization.examination import Line
from afterd.localization.fusion import (
    KIND_WEIGHTS,
    KINDS,
    SEEN,
    STAND_INS,
    WEIGHTS,
    Case,
    K,
    Votes,
    chance_among,
    fused_lines,
    place_of,
    weights_learned,
)

A, B, C = (("f.c", line) for line in (1, 2, 3))
_SCORES = st.dictionaries(
    st.tuples(st.just("f.c"), st.integers(1, 9)), st.floats(0, 1), min_size=1, max_size=9
)


def order(votes: Votes) -> list[int]:
    return [line.line for line in fused_lines(votes)]


def test_a_line_that_two_techniques_name_stands_before_one_that_one_does() -> None:
    votes = {"x": {A: 1.0, B: 0.9}, "y": {B: 1.0, C: 0.9}}
    assert order(votes)[0] == 2
    first = fused_lines(votes)[0]
    assert first.votes == {"x": 2.0, "y": 1.0}
    assert first.score == pytest.approx(1 / (K + 2) + 1 / (K + 1))


def test_a_kind_of_evidence_has_one_vote_however_many_techniques_speak_for_it() -> None:
    for kind, names in KINDS.items():
        own = [name for name in names if STAND_INS.get(name) not in names]
        assert sum(WEIGHTS[name] for name in own) == pytest.approx(KIND_WEIGHTS[kind])
    spectrum = {name: {A: 1.0, B: 0.5} for name in KINDS["spectrum"]}
    others = {name: {B: 1.0, A: 0.5} for name in (*KINDS["formula"], *KINDS["slice"])}
    assert order({**spectrum, **others})[0] == 2


def test_a_stand_in_speaks_where_the_other_one_has_no_answer() -> None:
    """ferry, runs of 1,000 to 6,000 instructions: all paths named 16 of 20 faults, on demand five were named."""
    spectrum = {name: {A: 1.0, B: 0.5, C: 0.2} for name in KINDS["spectrum"]}
    every, few = {C: 1.0}, {B: 1.0}
    assert order({**spectrum, "bugassist-cw": every, "ofc-cw": few})[0] == 3
    assert order({**spectrum, "bugassist-cw": {}, "ofc-cw": few})[0] == 2
    votes = {**spectrum, "bugassist-cw": every, "ofc-cw": few}
    assert fused_lines(votes, {**WEIGHTS, "bugassist-cw": 0.0})[0].line == 2
    assert order({**spectrum, "conbas": few})[0] == 2
    assert order({**spectrum, "bugassist-cw": every, "conbas": few})[0] == 3
    alone = fused_lines({**spectrum, "ofc-cw": every})
    both = fused_lines({**spectrum, "ofc-cw": few, "bugassist-cw": every})
    assert [r.score for r in alone] == pytest.approx([r.score for r in both])


def test_what_the_other_one_is_not_about_the_stand_ins_speak_of() -> None:
    """schedule-lab, `v5`: few paths of a sixteenth of the run took the vote of a slice of more than half of it."""
    spectrum = {name: {A: 1.0, B: 0.5, C: 0.2} for name in KINDS["spectrum"]}
    votes = {**spectrum, "bugassist-cw": {C: 1.0}, "ofc-cw": {B: 1.0}, "conbas": {B: 1.0}}
    assert fused_lines(votes)[0].line == 3
    partly = fused_lines(votes, shares={"bugassist-cw": 0.1})
    assert partly[0].line == 2
    assert set(partly[0].votes) == {*KINDS["spectrum"], "ofc-cw", "conbas"}
    silent = {name: scores for name, scores in votes.items() if name != "bugassist-cw"}
    nothing = fused_lines(votes, shares={"bugassist-cw": 0.0})
    assert [r.score for r in nothing] == pytest.approx([r.score for r in fused_lines(silent)])
    of_the_end = {"bugassist-cw": 0.1, "ofc-cw": 0.2, "conbas": 0.2}
    assert fused_lines(votes, shares=of_the_end)[0].line == 1  # most is the spectrum's


def test_who_has_ruled_out_all_has_no_vote_and_no_stand_in() -> None:
    """larder, `F_MISS_1`: no single statement repairs the run, and sets of its end had the formula's vote."""
    spectrum = {name: {A: 1.0, B: 0.5, C: 0.2} for name in KINDS["spectrum"]}
    votes = {**spectrum, "bugassist-cw": {}, "ofc-cw": {C: 1.0}}
    assert fused_lines(votes)[0].line == 3
    ruled_out = fused_lines(votes, shares={"bugassist-cw": 1.0})
    assert [(r.line, set(r.votes)) for r in ruled_out] == [
        (line, set(spectrum)) for line in (1, 2, 3)
    ]


def test_a_formula_of_a_runs_end_and_a_slice_are_one_witness() -> None:
    """meet, `F_MISS_3`: neither names what stands beside a statement that is missing, and both had a whole vote."""
    spectrum = {name: {A: 1.0, B: 0.5, C: 0.2} for name in KINDS["spectrum"]}
    alone = fused_lines({**spectrum, "ofc-cw": {C: 1.0}})
    both = fused_lines({**spectrum, "ofc-cw": {C: 1.0}, "conbas": {C: 1.0}})
    assert [r.score for r in both] == pytest.approx([r.score for r in alone])
    silent = fused_lines({**spectrum, "ofc-cw": {C: 1.0}, "conbas": {}})
    gaps = [silent[0].score - silent[1].score, alone[0].score - alone[1].score]
    assert gaps[0] == pytest.approx(gaps[1])  # what names nothing has no part of the vote


@pytest.mark.parametrize(("known", "first"), [(SEEN, 3), (1.0, 1)])
def test_what_was_seen_to_repair_leads_whatever_statistics_say(known: float, first: int) -> None:
    statistics = {name: {A: 1.0, B: 0.5} for name in ("ochiai", "op2", "dstar", "ofc-cw")}
    assert order({**statistics, "loop": {C: known}})[0] == first


@pytest.mark.parametrize(("share", "first"), [(1.0, 1), (0.4, 2)])
def test_what_a_formula_is_not_about_the_spectrum_says(share: float, first: int) -> None:
    """A formula of the end of a run is right where the fault is within it, with that probability."""
    spectrum = {name: {B: 1.0, A: 0.5} for name in KINDS["spectrum"]}
    votes = {**spectrum, "ofc-cw": {A: 1.0, B: 0.5}}
    assert fused_lines(votes, shares={"ofc-cw": share})[0].line == first


@given(_SCORES, _SCORES, st.floats(0, 1))
def test_a_share_gives_no_vote_away(
    spectrum: dict[Line, float], formula: dict[Line, float], share: float
) -> None:
    """A share of nothing is the spectrum's order, and of votes that agree any is the same."""
    alone = {"ochiai": spectrum}
    both = {**alone, "ofc-cw": formula}
    nothing = [(r.file, r.line) for r in fused_lines(both, shares={"ofc-cw": 0.0})]
    assert nothing[: len(spectrum)] == [(r.file, r.line) for r in fused_lines(alone)]
    same = {**alone, "ofc-cw": spectrum}
    told = {(r.file, r.line): r.score for r in fused_lines(same, shares={"ofc-cw": share})}
    assert told == pytest.approx({(r.file, r.line): r.score for r in fused_lines(same)})


def test_what_a_technique_does_not_name_is_only_behind_what_it_names() -> None:
    """A slice without the fault, which is a statement that is missing, put the spectrum's second line behind all of
    its own forty: larder's F_MISS_3 was at place 58. Behind is one place for all, as for lines of one score.
    """
    lines = [("f.c", number) for number in range(1, 101)]
    spectrum = {line: -float(at) for at, line in enumerate(lines)}
    for named in (lines[10:50], lines[:1] + lines[2:]):
        votes = {"ochiai": spectrum, "conbas": dict.fromkeys(named, 1.0)}
        fused = {(r.file, r.line): r for r in fused_lines(votes)}
        unnamed = [line for line in lines if line not in named]
        behind = len(named) + (len(unnamed) + 1) / 2
        for at, line in enumerate(lines, 1):
            place = behind if line in unnamed else (len(named) + 1) / 2
            score = WEIGHTS["ochiai"] / (K + at) + WEIGHTS["conbas"] / (K + place)
            assert fused[line].score == pytest.approx(score)
            assert ("conbas" in fused[line].votes) == (line in named)


@given(_SCORES)
def test_silence_is_no_vote(spectrum: dict[Line, float]) -> None:
    alone = [(r.file, r.line) for r in fused_lines({"ochiai": spectrum})]
    silent = fused_lines({"ochiai": spectrum, "ofc-cw": {}, "conbas": {}})
    assert [(r.file, r.line) for r in silent] == alone


def test_of_equal_lines_some_are_among_the_first() -> None:
    """tariff, `F_COND_2`: of ten equal lines with the mean place 9.5 four are behind the tenth."""
    ranking = fused_lines({"op2": {("f.c", n): -float(min(n, 5)) for n in range(1, 15)}})
    assert place_of(ranking, [("f.c", 8)], 99.0) == 9.5
    assert chance_among(ranking, [("f.c", 8)], 10) == pytest.approx(0.6)
    assert chance_among(ranking, [("f.c", 8), ("f.c", 9)], 10) == pytest.approx(1 - 6 / 45)
    assert chance_among(ranking, [("f.c", 8), ("f.c", 2)], 10) == 1
    assert chance_among(ranking, [("f.c", 8)], 4) == 0
    assert chance_among(ranking, [("g.c", 1)], 10) == 0


def test_weights_that_may_be_better_by_chance_are_not_learned() -> None:
    """Of nine cases the one technique is right in five, the other one in four."""
    one = {"good": {A: 1.0, B: 0.5}, "bad": {B: 1.0, A: 0.5}}
    cases = [Case(one, {A}, 2.0)] * 5 + [Case(one, {B}, 2.0)] * 4
    assert weights_learned(cases) == {"bad": 1.0, "good": 1.0}


def test_weights_are_learned() -> None:
    cases = [Case({"good": {A: 1.0, B: 0.5}, "bad": {B: 1.0, A: 0.5}}, {A}, 2.0)] * 3
    weights = weights_learned(cases)
    assert weights["good"] > weights["bad"]
    assert place_of(fused_lines(cases[0].votes, weights), {A}, 2.0) == 1


def test_one_technique_may_speak_for_its_kind() -> None:
    """Of those that see the same the one is taken that errs least, and a kind never has more votes than one."""
    cases = [
        Case(
            {"op2": {A: 1.0, B: 0.5}, "ochiai": {B: 1.0, A: 0.5}, "ofc-cw": {B: 1.0, A: 0.5}},
            {A},
            2.0,
        )
    ] * 3
    weights = weights_learned(cases)
    assert weights["op2"] > weights["ofc-cw"]
    assert weights["ochiai"] == 0


def test_nothing_is_learned_from_nothing() -> None:
    assert weights_learned([]) == {}


@given(st.dictionaries(st.sampled_from(["ochiai", "ofc-cw", "new"]), _SCORES, min_size=1))
def test_a_single_voter_keeps_its_order_and_no_line_is_lost(votes: Votes) -> None:
    ranking = fused_lines(votes)
    assert {(r.file, r.line) for r in ranking} == {line for v in votes.values() for line in v}
    assert [r.score for r in ranking] == sorted((r.score for r in ranking), reverse=True)
    if len(votes) == 1:
        ((_, scores),) = votes.items()
        found = [scores[r.file, r.line] for r in ranking]
        assert found == sorted(found, reverse=True)
