"""A range of many commits, of which the daemon or an earlier explanation knows some."""

from __future__ import annotations

from pathlib import Path

import pytest
from daemon_repositories import commit, git, made, once, settings

from afterd.model.explanation import Explanation, Status
from afterd.model.outcome import Verdict
from afterd.pipeline.explain import explain
from afterd.store.history import Observation, observe
from afterd.workspace import opened_workspace
from afterd.workspace.suites import given_recipe

CHECK = ("sh", "-c", "grep -q bad one && { echo one is $(cat one); exit 1; }; exit 0")
NUMBER, BREAKS = 12, 6

History = tuple[Path, list[str]]


def other(now: int) -> str:
    """A file of which each commit changes a line."""
    return "".join(f"{line}{' now' * (line < now)}\n\n" for line in range(NUMBER))


@pytest.fixture
def history(tmp_path: Path) -> History:
    """Commits that change a line each; one in the middle breaks the test."""
    where = made(tmp_path / "r", {"one": "good\n", "other": other(0)})
    commits = [commit(where, {})]
    for number in range(1, NUMBER):
        broken = {"one": "bad\n"} if number == BREAKS else {}
        commits.append(commit(where, {"other": other(number), **broken}))
    return where, commits


def explained(where: Path, good: str, bad: str) -> Explanation:
    [found] = explain(settings(where, test=CHECK, range=f"{good}..{bad}"))
    assert found.status is Status.EXPLAINED, found.reason
    assert [change.file for change in found.root] == ["one"]
    return found


def said(found: Explanation) -> str:
    return next((note for note in found.remarks if note.startswith("On record")), "")


def test_what_the_daemon_tested_is_left_out(history: History) -> None:
    where, commits = history
    for number in (3, 5, 7, NUMBER - 1):
        git("reset", "-q", "--hard", commits[number], cwd=where)
        once(where, test=CHECK)
    found = explained(where, commits[0], commits[-1])
    assert (found.range.good, found.range.bad) == (commits[5], commits[7])
    assert found.changes.total == 3
    ends = f"green at {commits[5][:10]} and red at {commits[7][:10]}"
    assert said(found) == f"On record the test is {ends}: only what lies between was searched."


def test_nothing_on_record_leaves_all(history: History) -> None:
    where, commits = history
    found = explained(where, commits[0], commits[-1])
    assert (found.range.good, found.range.bad) == (commits[0], commits[-1])
    assert not said(found)


def test_the_ends_of_an_earlier_explanation_count(history: History) -> None:
    where, commits = history
    explained(where, commits[4], commits[8])
    found = explained(where, commits[0], commits[-1])
    assert (found.range.good, found.range.bad) == (commits[4], commits[8])
    assert commits[4][:10] in said(found)
    assert commits[8][:10] in said(found)


def test_another_failure_on_record_is_no_word_on_this_one(history: History) -> None:
    """It was red before, was mended, and is red in another way: the record does not lead there."""
    where, commits = history
    explained(where, commits[4], commits[8])
    ways = commit(where, {"one": "really bad\n"})
    [found] = explain(settings(where, test=CHECK, range=f"{commits[0]}..{ways}"))
    assert found.range.bad == ways, said(found)


def test_a_record_that_does_not_hold_misleads_nobody(history: History) -> None:
    where, commits = history
    with opened_workspace(settings(where, test=CHECK)) as workspace:
        recipe = given_recipe(workspace, settings(where, test=CHECK))
        wrong = Observation(commits[8], "", recipe.command_digest, Verdict.PASS)
        observe(workspace.store, workspace.name, wrong)
    found = explained(where, commits[0], commits[-1])
    assert found.range.good in commits[:BREAKS]
    assert not said(found)
