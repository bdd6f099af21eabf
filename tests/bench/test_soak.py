"""A slice of the soak: a bad commit made of mutants, its answer replayed, and a false answer noticed."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from afterd.bench.bad_commits import BadCommit, Workshop, programs
from afterd.bench.soak import Journal, Soak, Soaked, broken_promises, is_exact, rate, soaked_case
from afterd.bench.trial import stored_explanation
from afterd.errors import TestError

_SOAK = Soak(
    1, seed=147, most_harmless=12, drawn=20
)  # few mutants, so that the slice takes seconds


@pytest.fixture(scope="module")
def soaked(tmp_path_factory: pytest.TempPathFactory) -> tuple[BadCommit, Soaked]:
    home = tmp_path_factory.mktemp("soak")
    [program] = programs(["sluice/tests/test_lexer.py::test_words"])
    chance = random.Random(f"{_SOAK.seed} 0 {program.name}")
    workshop = Workshop(program, home, chance, _SOAK.drawn)
    cases = (
        workshop.bad_commit(home / f"repository-{n}", _SOAK.most_harmless, chance) for n in range(4)
    )
    case = next(filter(None, cases))
    return case, soaked_case(case, home, _SOAK, "slice")


def test_an_answer_keeps_its_promises(soaked: tuple[BadCommit, Soaked]) -> None:
    _, found = soaked
    assert found.broken == ()
    assert found.exact, found.note
    assert rate([found]).hits == 1


def test_a_false_answer_is_noticed(soaked: tuple[BadCommit, Soaked], tmp_path: Path) -> None:
    case, _ = soaked
    true = stored_explanation(case.path, 1)
    assert is_exact(case, true)
    nothing = replace(true, root=(), auxiliary=())
    assert list(broken_promises(case, nothing, tmp_path)), "nothing undone repairs nothing"
    assert not is_exact(case, nothing)


def test_a_program_whose_test_fails_as_it_stands_is_refused(tmp_path: Path) -> None:
    [program] = programs(["sluice/tests/test_lexer.py::test_words"])
    cannot = replace(program, test="python -m no_such_runner")
    with pytest.raises(TestError, match="does not pass as it stands"):
        Workshop(cannot, tmp_path, random.Random(1))


def test_programs_are_named_by_fixture_or_by_test() -> None:
    assert len(programs(["sluice"])) > 20
    assert {each.fixture.name for each in programs(["sluice", "critical"])} == {
        "sluice",
        "critical",
    }
    assert programs(["nothing"]) == []


def test_what_was_judged_is_not_judged_again(tmp_path: Path) -> None:
    """Two cases of an earlier soak: one that was judged, one for which no bad commit was made; then a kill."""
    path = tmp_path / "journal"
    known = Soaked(
        "a", "explained", exact=True, broken=(), runs=3, changes=7, language="c", guilty=2
    )
    before = Journal(path)
    before.add("a", known)
    before.add("b", None)
    with path.open("a") as file:
        file.write('\n{"case": "c", "fou')
    after = Journal(path)
    assert after.judged("a") == known
    assert "b" in after
    assert after.judged("b") is None
    assert "c" not in after
    after.add("c", known)
    assert Journal(path).judged("c") == known


def test_plugins_that_happen_to_be_installed_are_left_out() -> None:
    """Of pytest: hypothesis' takes most of a run's processor time. What make builds is run as it is."""
    assert {each.test.split()[0] for each in programs(["sluice"])} == {"env"}
    assert not [each for each in programs(["brindle"]) if each.test.startswith("env ")]
