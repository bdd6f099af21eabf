"""Where two long runs are dearer to read than a few commits are to bisect, the commits come first."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from made_changes import change
from pipeline_runs import authored_git

from afterd.causality.auxiliary import Needed, nothing_needed
from afterd.config import Budget, Settings
from afterd.execution.oracle import Oracle
from afterd.limits import SEARCH, WORK
from afterd.model.change import Change, ChangeSet
from afterd.model.explanation import Explanation, Status
from afterd.model.outcome import Outcome, Verdict
from afterd.model.progress import Silent
from afterd.pipeline import searched
from afterd.pipeline.bisected import Bisection
from afterd.pipeline.by_commits import likely_commit, of_red_commits
from afterd.pipeline.case import Case
from afterd.pipeline.explain import explain
from afterd.report.summary import measure
from afterd.workspace import PhaseClock, Range

COMMITS = 4
BREAKS = 2
LONG = (
    20_000  # rounds of a loop, of which reading costs more than two runs of a quarter of a second
)
TEST = "from ops import total\n\n\ndef test_total():\n    assert total({rounds}) == {rounds} + 7\n"


@pytest.fixture(autouse=True)
def quick_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a run costs is measured, and differs from machine to machine."""
    monkeypatch.setattr(searched, "run_work", lambda _cpu: WORK.second // 4)


class Heard(Silent):
    """The stages, in order."""

    def __init__(self) -> None:
        self.stages: list[str] = []

    def stage(self, name: str, detail: str = "") -> None:  # noqa: ARG002 - as the protocol has it
        """Keep its name."""
        self.stages.append(name)


def _program(commit: int, parts: int) -> str:
    """Each commit changes a line of its own, and the one that breaks it ``parts`` others, all of them guilty."""
    offsets = "\n\n\n".join(
        f"def part{each}():\n    return {7 if not each and commit < BREAKS else int(commit >= BREAKS)}"
        for each in range(parts)
    )
    others = "\n\n\n".join(
        f"def other{each}():\n    return {int(commit >= each)}" for each in range(COMMITS)
    )
    called = " + ".join(f"part{each}()" for each in range(parts))
    loop = "    found = 0\n    for _ in range(rounds):\n        found += 1\n"
    return f"{offsets}\n\n\n{others}\n\n\ndef total(rounds):\n{loop}    return found + {called}\n"


def _history(path: Path, rounds: int, parts: int, broken: str = "return 1") -> list[str]:
    authored_git(path.parent, "init", "-q", "-b", "main", str(path))
    (path / "test_ops.py").write_text(TEST.format(rounds=rounds))
    for commit in range(COMMITS):
        program = _program(commit, parts)
        if commit >= BREAKS:
            program = program.replace("return 1", broken, 1)
        (path / "ops.py").write_text(program)
        authored_git(path, "add", "-A")
        authored_git(path, "commit", "-q", "-m", f"version {commit}")
    return authored_git(path, "rev-list", "--reverse", "HEAD").split()


def _explained(path: Path, good: str, budget: Budget | None = None) -> tuple[Explanation, Heard]:
    heard = Heard()
    command = (sys.executable, "-m", "pytest", "-q", "test_ops.py::test_total")
    settings = Settings(path, range=f"{good}..HEAD", test=command, budget=budget or Budget())
    [found] = explain(settings, heard)
    return found, heard


@pytest.mark.parametrize(("rounds", "bisected"), [(LONG, True), (3, False)], ids=["long", "short"])
def test_a_long_run_is_read_once_the_commit_is_known(
    tmp_path: Path, rounds: int, *, bisected: bool
) -> None:
    path = tmp_path / "repository"
    commits = _history(path, rounds, parts=1)
    found, heard = _explained(path, commits[0])
    assert found.status is Status.EXPLAINED
    assert (found.range.good, found.range.bad) == (commits[0], commits[-1]), "undone in the bad one"
    [guilty] = found.root
    assert "+    return 1" in guilty.patch
    assert guilty.commits == (commits[BREAKS],)
    assert ("bisecting the commits" in heard.stages) is bisected
    assert ("reading the two runs" in heard.stages) is not bisected
    assert any(note.startswith("Commits of the range") for note in found.remarks) is bisected
    assert found.tree is not None, "its story is told all the same"
    assert "executed" in str(measure(found)[0]), "the failing run's own lines are known"
    assert found.runs.tests <= (COMMITS.bit_length() + 2 if bisected else 4)


@pytest.mark.parametrize("raises", [True, False])
def test_a_change_that_the_failure_s_report_shows_is_tried_before_the_commits_are_bisected(
    tmp_path: Path, *, raises: bool
) -> None:
    """Sqlglot's parser raised below an entry that was new in a table: seven commits were run, and three variants."""
    path = tmp_path / "repository"
    commits = _history(path, LONG, parts=1, broken="raise ValueError" if raises else "return 1")
    found, heard = _explained(path, commits[0])
    assert found.status is Status.EXPLAINED
    [guilty] = found.root
    assert guilty.commits == (commits[BREAKS],)
    assert ("bisecting the commits" in heard.stages) is not raises
    assert found.tree is not None
    assert not raises or found.runs.tests <= 2


def test_where_a_later_commit_wrote_of_the_line_as_well_what_the_commits_leave_is_searched_at_once(
    tmp_path: Path,
) -> None:
    """Mwparserfromhell's whole range was read, and two changes of commits that were known to be green undone."""
    path, commits = _rewritten_later(tmp_path / "repository")
    found, heard = _explained(path, commits[0])
    assert found.status is Status.EXPLAINED
    assert found.range.bad == commits[BREAKS], "its own part of the range"
    [guilty] = found.root
    assert guilty.commits == (commits[BREAKS],)
    assert "reading the two runs" not in heard.stages, "few changes are tried"
    assert found.tree is not None
    assert found.runs.tests <= (COMMITS + 1).bit_length() + 1
    path, commits = _rewritten_later(tmp_path / "again")
    left, _ = _explained(path, commits[0], Budget(runs=found.runs.tests - 1))
    assert left.status is Status.INCONCLUSIVE
    assert left.reason.startswith("The budget was spent")


def _rewritten_later(path: Path) -> tuple[Path, list[str]]:
    """A history whose last commit wrote of the guilty line as well."""
    commits = _history(path, LONG, parts=1)
    program = (path / "ops.py").read_text()
    (path / "ops.py").write_text(program.replace("return 1\n", "return 1 + 0\n", 1))
    authored_git(path, "commit", "-qam", "the same, in other words")
    return path, commits


def test_a_commit_of_many_changes_is_searched_beside_the_version_without_it(tmp_path: Path) -> None:
    path = tmp_path / "repository"
    commits = _history(path, LONG, parts=SEARCH.put_back + 2)
    found, heard = _explained(path, commits[0])
    assert found.status is Status.EXPLAINED
    assert found.range.bad == commits[-1]
    assert all(change.commits == (commits[BREAKS],) for change in found.root)
    assert heard.stages.index("bisecting the commits") < heard.stages.index("reading the two runs")


def test_a_budget_that_ends_in_the_bisection_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "repository"
    commits = _history(path, LONG, parts=1)
    found, _ = _explained(path, commits[0], Budget(runs=1))
    assert found.status is Status.INCONCLUSIVE
    assert found.runs.tests <= 1


def _of_red(
    red: str,
    changes: Sequence[Change],
    outcome: Callable[[ChangeSet], Outcome],
    within: object = None,
    most: int = sys.maxsize,
    needed: Needed = nothing_needed,
) -> ChangeSet:
    """What is undone of the changes of a red commit, whose own version is known ``within`` a part of the range."""
    return of_red_commits(
        cast("Case", SimpleNamespace(workspace=SimpleNamespace(clock=PhaseClock()))),
        cast("Range", SimpleNamespace(changes=SimpleNamespace(live=changes, commits=()))),
        cast("Oracle", SimpleNamespace(outcome=outcome)),
        cast(
            "Bisection",
            SimpleNamespace(red_commits=lambda _guilt: frozenset({red}), within=within),
        ),
        most=most,
        needed=needed,
    )


@pytest.mark.parametrize(("most", "found"), [(9, {"c1", "c2"}), (1, set())])
def test_what_a_commits_changes_need_to_build_is_undone_with_them(
    most: int, found: set[str]
) -> None:
    """Tidy's commit brought a function that a later one calls: without it nothing was linked, and its own range was
    recorded once more.
    """
    changes = [replace(change(n), commits=(f"commit{n}",)) for n in (1, 2, 3)]
    asked: list[ChangeSet] = []

    def outcome(reverted: ChangeSet) -> Outcome:
        asked.append(reverted)
        return Outcome(Verdict.PASS if {"c1", "c2"} <= reverted else Verdict.UNRESOLVED)

    made = _of_red(
        "commit1",
        changes,
        outcome,
        most=most,
        needed=lambda reverted: frozenset({"c2"}) - reverted,
    )
    assert made == frozenset(found)
    assert len(asked) == len(found) // 2


def test_of_lines_that_two_commits_rewrote_the_first_ones_work_is_not_undone() -> None:
    """Dash's echo was rewritten by the commit after the one that gave it another function to call: with it nine of that
    one's changes went along.
    """
    changes = [replace(change(n), commits=(f"commit{n}",)) for n in (1, 2, 3)]
    changes[1] = replace(changes[1], commits=("commit1", "commit2"))
    asked: list[ChangeSet] = []

    def outcome(reverted: ChangeSet) -> Outcome:
        asked.append(reverted)
        return Outcome(Verdict.PASS)

    made = _of_red(
        "commit2",
        changes,
        outcome,
        needed=lambda reverted: frozenset({"c1"}) - reverted,
    )
    assert not made
    assert not asked


@pytest.mark.parametrize(("known", "runs"), [(True, 0), (False, 1)], ids=["divided", "undone"])
def test_with_lines_that_others_wrote_as_well_a_commit_is_not_undone_where_its_version_is_known(
    *, known: bool, runs: int
) -> None:
    """Of pyhocon, pydal and zipp such a run failed otherwise each time: it undid what two or three others had done."""
    changes = [replace(change(n), commits=(f"commit{n}",)) for n in (1, 2, 3)]
    changes[0] = replace(changes[0], commits=("commit1", "commit3"))
    asked: list[ChangeSet] = []

    def outcome(reverted: ChangeSet) -> Outcome:
        asked.append(reverted)
        return Outcome(Verdict.UNRESOLVED)

    _of_red("commit1", changes, outcome, within=object() if known else None)
    assert len(asked) == runs


def _asked_commit(
    bisection: SimpleNamespace, outcome: Callable[[ChangeSet], Outcome]
) -> tuple[str, list[ChangeSet]]:
    """The likely commit of 64, of which the first is it by a half, and what was undone to see that."""
    changes = [replace(change(n), commits=(f"commit{n}",)) for n in range(1, 65)]
    asked: list[ChangeSet] = []

    def noted(reverted: ChangeSet) -> Outcome:
        asked.append(reverted)
        return outcome(reverted)

    case = SimpleNamespace(workspace=SimpleNamespace(clock=PhaseClock()), progress=Silent())
    found = likely_commit(
        cast("Case", case),
        cast("Range", SimpleNamespace(changes=SimpleNamespace(live=changes))),
        cast("Oracle", SimpleNamespace(outcome=noted)),
        cast("Bisection", bisection),
        {"commit1": 0.5} | {f"commit{n}": 0.5 / 63 for n in range(2, 65)},
    )
    return found, asked


@pytest.mark.parametrize(
    ("repairs", "before", "verdict", "found", "runs"),
    [
        ("c1", Verdict.PASS, Verdict.FAIL, "commit1", 1),
        ("c1", Verdict.PASS, Verdict.PASS, "", 1),
        ("c1", Verdict.FAIL, Verdict.FAIL, "", 1),
        ("c1", Verdict.UNRESOLVED, Verdict.FAIL, "", 1),
        ("c9", Verdict.PASS, Verdict.FAIL, "", 1),
    ],
    ids=["guilty", "green with it", "red before it", "not told before it", "repairs nothing"],
)
def test_a_likely_commit_is_the_one_where_it_repairs_and_turned_red(
    repairs: str, before: Verdict, verdict: Verdict, found: str, runs: int
) -> None:
    """Where undoing it only hides what came later or earlier, the commits are bisected all the same. (mutagen: of a
    commit that wrote a field anew the answer was told, and what it hid was of the one before.)
    """

    def outcome(reverted: ChangeSet) -> Outcome:
        return Outcome(Verdict.PASS if repairs in reverted else Verdict.FAIL)

    bisection = SimpleNamespace(
        told=False,
        commits=64,
        undone="",
        verdict_at=lambda _commit: verdict,
        verdict_before=lambda _commit: before,
    )
    commit, asked = _asked_commit(bisection, outcome)
    assert commit == found
    assert len(asked) == runs


@pytest.mark.parametrize(("told", "commits"), [(True, 64), (False, 0)], ids=["told", "untestable"])
def test_no_likely_commit_is_undone_where_the_commits_have_told_or_cannot(
    *, told: bool, commits: int
) -> None:
    """A bisection before the two runs are read is not asked for again by the search that comes after it."""
    bisection = SimpleNamespace(told=told, commits=commits, undone="")
    known, asked = _asked_commit(bisection, lambda _reverted: Outcome(Verdict.PASS))
    assert not known
    assert not asked
