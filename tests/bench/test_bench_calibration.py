"""Odds fitted to choices that were made up with known odds, and to those that are kept."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from math import log
from pathlib import Path

import pytest
from click.testing import CliRunner

from afterd.bench.calibration import FITTED, fitted_odds
from afterd.bench.choices import Choice, KnownCase, Row, choices
from afterd.bench.evidence import EVIDENCE, keep, known_cases, project_of, save
from afterd.cli.bench_calibrate import command
from afterd.weights import CHOSEN, ODDS, ODDS_FILE, GuiltOdds

SIGNS = ("entry", "carrier", "same", "effect_seen", "level")


def made_up(count: int, odds: GuiltOdds, seed: int = 0) -> list[KnownCase]:
    """Cases of 20 suspects, of which one is guilty, drawn by these odds."""
    chance = random.Random(seed)
    found = []
    for number in range(count):
        signs = [
            {name: 1.0 for name in SIGNS if chance.random() < 0.4} or {"entry": 1.0}
            for _ in range(20)
        ]
        weights = [_weight(each, odds) for each in signs]
        (guilty,) = chance.choices(range(20), weights)
        listed = {f"c{at}": each for at, each in enumerate(signs)}
        made = tuple(choices([listed], {f"c{guilty}"}))
        found.append(KnownCase(f"p{number % 10}/{number}", f"p{number % 10}", made))
    return found


def _weight(signs: dict[str, float], odds: GuiltOdds) -> float:
    weight = 1.0
    for name, much in signs.items():
        weight *= getattr(odds, name) ** much
    return weight


def test_odds_that_the_cases_were_made_with_are_found_again() -> None:
    """Only their ratios show, so one of them stands as it was."""
    true = replace(CHOSEN, carrier=24.0, same=0.5, effect_seen=4.0, level=0.3)
    fit = fitted_odds(made_up(300, true), CHOSEN)
    assert "entry" not in fit.odds
    for name in set(SIGNS) - {"entry"}:
        assert log(fit.odds[name]) == pytest.approx(log(getattr(true, name)), abs=0.7)
    assert fit.left_out > fit.chosen
    assert fit.within >= fit.left_out


def test_few_cases_leave_the_odds_where_they_were() -> None:
    fit = fitted_odds(made_up(1, CHOSEN), CHOSEN)
    for name in FITTED:
        assert log(fit.odds[name]) == pytest.approx(log(getattr(CHOSEN, name)), abs=1.0)
    assert (fit.cases, fit.projects) == (1, 1)


def test_each_program_is_foretold_by_the_others_alone() -> None:
    """What is true of one program only is fitted to it, and foretells no other."""
    entries, others = ({"a": {"entry": 1.0}, "b": {"other": 1.0}} for _ in range(2))
    usual = [
        KnownCase(f"p{n}/x", f"p{n}", tuple(choices([entries], guilty={"a"}))) for n in range(6)
    ]
    odd = [KnownCase(f"q/{n}", "q", tuple(choices([others], guilty={"b"}))) for n in range(6)]
    fit = fitted_odds([*usual, *odd], CHOSEN)
    assert fit.left_out < fit.within


def test_suspects_of_equal_signs_are_counted_together() -> None:
    listed = {"c1": {"entry": 1.0}, "c2": {"other": 1.0}, "c3": {"other": 1.0}}
    (choice,) = choices([listed], {"c3"})
    assert list(choice.rows) == [Row({"entry": 1.0}, 1, 0), Row({"other": 1.0}, 1, 1)]
    assert choice.tells


@pytest.mark.parametrize(
    "rows",
    [(), (Row({"entry": 1.0}, 0, 1),), (Row({"entry": 1.0}, 3, 0),)],
    ids=["nobody", "no choice", "no guilty change"],
)
def test_a_choice_without_a_choice_tells_nothing(rows: tuple[Row, ...]) -> None:
    case = KnownCase("p", "p", (Choice(rows),))
    assert not Choice(rows).tells
    with pytest.raises(ValueError, match="no case"):
        fitted_odds([case], CHOSEN)


def test_cases_are_kept_in_the_place_of_those_of_their_name(tmp_path: Path) -> None:
    path = tmp_path / "evidence.json"
    old, new, other = made_up(3, CHOSEN)
    keep([old, other], path)
    keep([replace(new, case=old.case)], path)
    assert known_cases(path) == sorted(
        [replace(new, case=old.case), other], key=lambda each: each.case
    )
    assert known_cases(tmp_path / "none.json") == []


@pytest.mark.parametrize(
    ("case", "project"),
    [("sluice/pair", "sluice"), ("attrs-evolve-nested", "attrs"), ("critical", "critical")],
)
def test_the_program_of_a_case(case: str, project: str) -> None:
    assert project_of(case) == project


def test_the_odds_that_count_are_those_fitted_to_what_is_kept(tmp_path: Path) -> None:
    """The table cannot say one thing, and the data beside it another."""
    fit = fitted_odds(known_cases(EVIDENCE), CHOSEN)
    save(fit, tmp_path / "odds.json")
    again, kept = (json.loads(path.read_text()) for path in (tmp_path / "odds.json", ODDS_FILE))
    assert (again["cases"], again["projects"]) == (kept["cases"], kept["projects"])
    for name in FITTED:
        assert again["odds"][name] == pytest.approx(kept["odds"][name], rel=0.02)
        assert getattr(ODDS, name) == kept["odds"][name]
    assert kept["log_likelihood"]["left_out"] > kept["log_likelihood"]["chosen"]


def test_the_command_says_what_was_fitted_and_how_well() -> None:
    found = CliRunner().invoke(command, [])
    assert found.exit_code == 0, found.output
    assert "effect_seen" in found.output
    assert "without the case's own program" in found.output


def test_names_without_gathering_are_refused() -> None:
    found = CliRunner().invoke(command, ["sluice"])
    assert "--gather" in str(found.exception)
