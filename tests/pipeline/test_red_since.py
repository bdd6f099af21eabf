"""A test that is red for long, and did not always fail as it does now: the commit in which it turned red is found."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pipeline_runs import authored_git

from afterd.config import Settings
from afterd.limits import SEARCH
from afterd.model.explanation import Status
from afterd.model.outcome import Outcome, Unresolved, Verdict
from afterd.pipeline.explain import explain
from afterd.pipeline.red_since import red_since
from afterd.vcs.history import Baseline
from afterd.vcs.repository import open_repository

COMMITS = 40
_OUTCOMES = {
    "+": Outcome(Verdict.PASS),
    "-": Outcome(Verdict.FAIL),
    "o": Outcome(Verdict.UNRESOLVED, Unresolved.DIFFERENT_FAILURE, "the same line"),
    "m": Outcome(Verdict.UNRESOLVED, Unresolved.DIFFERENT_FAILURE, "the same line, elsewhere"),
    "?": Outcome(Verdict.UNRESOLVED, Unresolved.DIFFERENT_FAILURE, "another line"),
}


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """Forty commits in a row, oldest first."""
    path = tmp_path_factory.mktemp("history")
    authored_git(path, "init", "-q", "-b", "main")
    for number in range(COMMITS):
        authored_git(path, "commit", "-q", "--allow-empty", "-m", str(number))
    return path, authored_git(path, "rev-list", "--reverse", "HEAD").split()


def _found(history: tuple[Path, list[str]], outcomes: str) -> tuple[Baseline, list[str], int]:
    """What is found where the commits' outcomes, oldest first, are these; and how many were asked."""
    path, commits = history
    asked: list[str] = []

    def passes(commit: str) -> Outcome:
        asked.append(commit)
        return _OUTCOMES[outcomes[commits.index(commit)]]

    found = red_since(
        open_repository(path),
        commits[0],
        commits[len(outcomes) - 1],
        passes,
        lambda seen: seen.detail.startswith("the same line"),
        moved=lambda seen: seen.detail.endswith("elsewhere"),
    )
    return found, commits, len(set(asked))


@settings(max_examples=40)
@given(st.integers(1, 20), st.integers(0, 10), st.integers(1, 10))
def test_the_first_red_commit_is_found_however_it_failed(
    history: tuple[Path, list[str]], green: int, otherwise: int, failing: int
) -> None:
    outcomes = "+" * green + "o" * otherwise + "-" * failing
    found, commits, asked = _found(history, outcomes)
    assert found == Baseline(commits[green - 1], commits[green], adjacent=True)
    assert asked <= 2 * len(outcomes).bit_length()


@settings(max_examples=20)
@given(st.integers(1, 20), st.integers(1, 10), st.integers(1, 10))
def test_commits_are_halved_once_where_the_code_that_fails_only_moved(
    history: tuple[Path, list[str]], green: int, elsewhere: int, failing: int
) -> None:
    """Django-axes: twenty versions were run of 167, twelve of them because a function stood in another file then."""
    outcomes = "+" * green + "m" * elsewhere + "-" * failing
    found, commits, asked = _found(history, outcomes)
    assert found == Baseline(commits[green - 1], commits[green], adjacent=True)
    assert asked <= len(outcomes).bit_length()


def test_what_was_broken_for_a_while_is_not_taken_for_it(
    history: tuple[Path, list[str]],
) -> None:
    """The test was green again before it failed as it does now."""
    found, commits, _ = _found(history, "+" * 10 + "o" * 12 + "+" * 10 + "-" * 8)
    assert found == Baseline(commits[31], commits[32], adjacent=True)


def test_what_fails_at_another_line_tells_nothing(history: tuple[Path, list[str]]) -> None:
    found, commits, _ = _found(history, "+" * 10 + "?" * 5 + "-" * 10)
    assert (found.good, found.bad) == (commits[9], commits[15])
    assert not found.adjacent


BREAKS, OTHERWISE, LAST = 2, 5, 6
_TEST = """
import program


def test_answer():
    entries = {value for name, value in vars(program).items() if name.startswith("entry")}
    assert len(entries) == 1, "of several versions"
    assert program.answer() == 42
"""


def _program(commit: int) -> str:
    """Each commit rewrites every line, so that no part of several commits works."""
    answer = (
        f"42 + entry_0 - {commit}"
        if commit < BREAKS
        else "None()"
        if commit < OTHERWISE
        else "missing"
    )
    entries = "".join(f"entry_{n} = {commit}\n# {n}\n" for n in range(SEARCH.all_sets))
    return f"{entries}def answer():\n    value_{commit} = {answer}\n    return value_{commit}\n"


def test_a_fault_that_showed_otherwise_at_first_is_explained_where_it_came_in(
    tmp_path: Path,
) -> None:
    """Of bidict's 197 commits, ninety failed with a TypeError, and the last ones with an AttributeError."""
    authored_git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "test_program.py").write_text(_TEST)
    for commit in range(LAST + 1):
        (tmp_path / "program.py").write_text(_program(commit))
        authored_git(tmp_path, "add", "-A")
        authored_git(tmp_path, "commit", "-q", "-m", f"version {commit}")
    commits = authored_git(tmp_path, "rev-list", "--reverse", "HEAD").split()
    [found] = explain(Settings(tmp_path, range=f"{commits[0]}..HEAD", python=sys.executable))
    assert found.status is Status.EXPLAINED
    assert (found.range.good, found.range.bad) == (commits[BREAKS - 1], commits[BREAKS])
    assert found.verified
    said = next(note for note in found.remarks if note.startswith("Commits of the range were run"))
    assert "There it failed at the same line of the test in another way (TypeError" in said
