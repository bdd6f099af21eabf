"""Reading a folder's tests, and the tables of the formula bench."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from afterd.bench.formula import CONBAS, FORMULAS, Explained, VersionResult, input_of
from afterd.bench.formula_tables import formula_tables, learned_weights, mean_rank
from afterd.bench.formula_work import Work, mean_work
from afterd.localization.formats.weights import read_weights, write_weights
from afterd.localization.fusion import WEIGHTS
from afterd.symbolic.world import Input

A = ("f.c", 3)
WORK = Work(35, 70, 105, 900, 3, 0.1, 0.2, 0.2)


def result(version: str, place: float | None, program: str = "") -> VersionResult:
    techniques = {
        name: Explained(place, 0.5, 2, 4, agrees=True, work=WORK, whole=True)
        for name in (*FORMULAS, CONBAS, "Ochiai", "fused")
    }
    return VersionResult(
        version, techniques, 3, 40, frozenset({A}), {"ochiai": {A: 1.0}}, program=program
    )


def test_a_test_of_the_universe(tmp_path: Path) -> None:
    (tmp_path / "day").write_bytes(b"1 2\n")
    assert input_of("-t 'two words' < day", tmp_path) == Input(
        ("-t", "two words"), b"1 2\n", folder=tmp_path
    )
    assert input_of("1 -2", tmp_path) == Input(("1", "-2"), folder=tmp_path)


def test_what_is_not_reported_comes_last() -> None:
    assert mean_rank([result("v1", 2.0), result("v2", None)], "BA") == (2 + 40) / 2


def test_the_tables() -> None:
    left_out = VersionResult("v3", {}, 0, 0, left_out="no test reveals the fault")
    ranks, seconds, averages, works, first, fusions = formula_tables([result("v1", 1.0), left_out])
    assert ranks.rows[0][1:3] == ("1", "1")
    assert ranks.rows[1][-1] == "no test reveals the fault"
    assert seconds.rows == (("v1", "0.50", "0.50", "1.0", "70", "70", "2", "yes"),)
    assert averages.rows[0][1] == "0.50"
    touched = ("35", "70", "105", "900", "3.0", "0.10", "0.20", "0.20")
    assert works.rows == (
        ("BA of all (1)", *touched, "-", "-"),
        ("OFC of all (1)", *touched, "1.00", "2.0"),
    )
    assert first.rows[0] == ("BA", "1", "1", "1")
    assert fusions.rows[:2] == (
        ("ochiai alone", "1.0", "1", "1.0"),
        ("default weights", "1.0", "1", "1.0"),
    )


def test_the_factor_is_of_whole_runs_that_both_answered() -> None:
    """schedule-lab: BugAssist asked about few paths of the last 300 instructions of 5,101, OFC about all of these."""
    slow = replace(result("v1", 1.0).techniques["BA"], work=replace(WORK, solving=1.7))
    answered = replace(result("v1", 1.0), techniques={**result("v1", 1.0).techniques, "BA": slow})
    given_up = replace(slow, reported=0, work=replace(WORK, solving=99.0))
    silent = replace(answered, version="v2", techniques={**answered.techniques, "BA": given_up})
    works = formula_tables([answered, silent])[3]
    assert [row[0] for row in works.rows] == ["BA of all (1)", "OFC of all (1)"]
    assert works.rows[1][-2:] == ("4.00", "2.0")
    assert mean_work([WORK, replace(WORK, questions=5)]).questions == 4
    part = replace(slow, whole=False, work=replace(WORK, solving=99.0))
    ended = replace(answered, version="v3", techniques={**answered.techniques, "BA": part})
    _, seconds, _, works, *_ = formula_tables([answered, ended])
    assert [row[0] for row in works.rows] == [
        "BA of all (1)",
        "OFC of all (1)",
        "BA of all, in part (1)",
        "OFC of all, in part (1)",
    ]
    assert [row[-2] for row in works.rows] == ["-", "4.00", "-", "-"]
    assert [row[3] for row in seconds.rows] == ["1.0", "-"]


def voted(program: str, version: str, right: str) -> VersionResult:
    """A version in which one technique has the fault first, and the other one last."""
    lines = [("f.c", number) for number in range(3, 33)]
    up = {line: float(at) for at, line in enumerate(reversed(lines))}
    down = {line: float(at) for at, line in enumerate(lines)}
    wrong = {"ofc-cw": "conbas", "conbas": "ofc-cw"}[right]
    made = result(version, 1.0, program)
    return replace(made, votes={right: up, wrong: down})


def test_weights_for_a_program_are_learned_from_the_others() -> None:
    scored = [voted("one", "v1", "ofc-cw"), voted("other", "v1", "conbas")]
    fusions = formula_tables(scored)[-1]
    assert fusions.headings == ("weights", "one", "other", "place", "first ten", "met")
    rows = {row[0]: row[1:] for row in fusions.rows}
    assert rows["ofc-cw alone"] == ("1.0, 1, 1.0", "30.0, 0, 0.0", "15.5", "1", "1.0")
    # What the other program teaches is wrong for this one, both ways.
    assert rows["learned without the program that is ranked"][3] == "0"


def test_a_single_program_is_judged_by_versions_that_its_weights_never_saw() -> None:
    scored = [voted("one", f"v{number}", "ofc-cw") for number in range(3)]
    ranks, *_, fusions = formula_tables(scored)
    assert [row[0] for row in ranks.rows] == ["one v0", "one v1", "one v2", "mean of all"]
    assert fusions.rows[-1] == ("learned without the version that is ranked", "1.0", "3", "3.0")


def test_learned_weights_are_what_rank_reads(tmp_path: Path) -> None:
    file = tmp_path / "weights.json"
    weights = learned_weights([result("v1", 1.0)])
    write_weights(weights, file)
    assert read_weights(file) == weights == {"ochiai": WEIGHTS["ochiai"]}
