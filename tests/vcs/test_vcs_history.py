"""The last green revision: found with few runs, merge-aware, and never guessed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pygit2
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from made_repositories import Made, git, texts

from afterd.errors import RepositoryError
from afterd.model.outcome import Outcome, Unresolved, Verdict
from afterd.vcs.history import Baseline, commits_between, find_baseline, first_red
from afterd.vcs.repository import open_repository

PASS, FAIL = Outcome(Verdict.PASS), Outcome(Verdict.FAIL)
SKIP = Outcome(Verdict.UNRESOLVED, Unresolved.BUILD)
_OUTCOMES = {"+": PASS, "-": FAIL, "?": SKIP}


class Answers:
    """Outcomes by commit, and which commits were asked."""

    def __init__(self, outcomes: Mapping[str, Outcome]) -> None:
        self.outcomes = outcomes
        self.asked: list[str] = []

    def __call__(self, commit: str) -> Outcome:
        self.asked.append(commit)
        return self.outcomes[commit]


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> tuple[Made, list[str]]:
    """Forty commits in a row, oldest first."""
    made = Made(tmp_path_factory.mktemp("chain"))
    return made, [made.text(a__c=f"{n}") for n in range(40)]


def _search(
    chain: tuple[Made, list[str]], outcomes: str, budget: int = 500
) -> tuple[Baseline, Answers, list[str]]:
    """Search from the last of the commits that the outcomes (oldest first) are for."""
    made, commits = chain
    used = commits[: len(outcomes)]
    answers = Answers({c: _OUTCOMES[o] for c, o in zip(used, outcomes, strict=True)})
    return find_baseline(made.repository, used[-1], answers, budget), answers, used


@pytest.mark.parametrize(
    ("outcomes", "good", "bad", "adjacent"),
    [
        ("+-", 0, 1, True),
        ("++--", 1, 2, True),
        ("+" * 30 + "-" * 10, 29, 30, True),
        ("+" + "-" * 39, 0, 1, True),
        ("+?-", 0, 2, False),
        ("+??????-", 0, 7, False),
        ("+++?---", 2, 4, False),
        ("?+--", 1, 2, True),
        ("+?+-?-", 2, 3, True),
    ],
)
def test_linear_histories(
    chain: tuple[Made, list[str]], outcomes: str, good: int, bad: int, adjacent: bool
) -> None:
    found, answers, commits = _search(chain, outcomes)
    assert (found.good, found.bad, found.adjacent) == (commits[good], commits[bad], adjacent)
    assert bool(found.reason) != adjacent
    assert len(answers.asked) == len(set(answers.asked)), "no commit is asked twice"
    assert commits[-1] not in answers.asked, "the red end was seen red already"


@pytest.mark.parametrize("outcomes", ["-", "---", "-" * 40, "?-", "???-", "-?-?-"])
def test_already_red_is_said(chain: tuple[Made, list[str]], outcomes: str) -> None:
    found = _search(chain, outcomes)[0]
    assert found.good == ""
    assert "as far back as the history goes" in found.reason


@settings(max_examples=60)
@given(st.integers(1, 38), st.integers(0, 37))
def test_few_runs_are_enough(chain: tuple[Made, list[str]], greens: int, reds: int) -> None:
    """Monotone histories: about two logarithms of the distance."""
    outcomes = "+" * greens + "-" * min(reds + 1, 40 - greens)
    found, answers, commits = _search(chain, outcomes)
    assert (found.good, found.bad) == (commits[greens - 1], commits[greens])
    distance = len(outcomes) - greens
    assert len(answers.asked) <= 2 * distance.bit_length() + 2


@settings(max_examples=80)
@given(st.text("+-?", max_size=38), st.integers(1, 60))
def test_whatever_the_history_the_answer_is_true(
    chain: tuple[Made, list[str]], outcomes: str, budget: int
) -> None:
    found, answers, commits = _search(chain, outcomes + "-", budget)
    assert len(answers.asked) <= budget
    assert answers.outcomes[found.bad] is FAIL
    if found.good:
        assert answers.outcomes[found.good] is PASS
        place = commits.index(found.bad) - commits.index(found.good)
        assert found.adjacent == (place == 1)
        between = outcomes[commits.index(found.good) + 1 : commits.index(found.bad)]
        assert found.adjacent or set(between) == {"?"} or len(answers.asked) == budget


def test_a_spent_budget_is_not_already_red(chain: tuple[Made, list[str]]) -> None:
    found, answers, _ = _search(chain, "+" + "-" * 39, budget=3)
    assert found.good == ""
    assert "the budget ran out" in found.reason
    assert found.spent
    assert len(answers.asked) == 3
    partly, _, commits = _search(chain, "+" * 10 + "-" * 30, budget=6)
    assert partly.good in commits[:10]
    assert not partly.adjacent
    assert "the budget ran out" in partly.reason


def test_a_red_branch_is_searched_behind_its_merge(tmp_path: Path) -> None:
    """A trunk base - main - merge, a branch base - s1 - s2 - s3: s2 broke it."""
    made = Made(tmp_path / "r")
    base = made.text(a="0")
    main = made.text(a="1")
    side = [base]
    for number in range(1, 4):
        side.append(made.commit(texts(a="0", s=f"{number}"), side[-1], ref=None))
    merge = made.commit(texts(a="1", s="3"), main, side[-1])
    tip = made.text(a="2", s="3")
    answers = Answers(
        {base: PASS, main: PASS, side[1]: PASS, side[2]: FAIL, side[3]: FAIL, merge: FAIL}
    )
    found = find_baseline(made.repository, tip, answers)
    assert found == Baseline(side[1], side[2], adjacent=True)


def test_a_merge_of_two_green_branches_is_itself_to_blame(tmp_path: Path) -> None:
    made = Made(tmp_path / "r")
    base = made.text(a="0")
    main = made.text(a="1")
    sides = [made.commit(texts(a="0", s=f"{n}"), base, ref=None) for n in range(2)]
    octopus = made.commit(texts(a="1", s="both"), main, *sides)
    green = Answers(dict.fromkeys([base, main, *sides], PASS))
    assert find_baseline(made.repository, octopus, green) == Baseline(main, octopus, adjacent=True)
    one_red = Answers({base: PASS, main: PASS, sides[0]: PASS, sides[1]: FAIL})
    found = find_baseline(made.repository, octopus, one_red)
    assert found == Baseline(base, sides[1], adjacent=True)


def test_a_shallow_clone_says_that_its_history_ends(tmp_path: Path) -> None:
    made = Made(tmp_path / "r")
    for number in range(5):
        made.text(a=f"{number}")
    git(tmp_path, "clone", "-q", "--depth=3", f"file://{made.path}", "shallow")
    repository = open_repository(tmp_path / "shallow")
    found = find_baseline(repository, "HEAD", lambda _: FAIL)
    assert found.good == ""
    assert "shallow" in found.reason
    with pytest.raises(RepositoryError, match="is not a commit"):
        find_baseline(repository, "HEAD~3", lambda _: FAIL)


@settings(max_examples=60)
@given(st.integers(1, 39), st.integers(1, 39))
def test_between_two_known_ends_halving_is_enough(
    chain: tuple[Made, list[str]], greens: int, reds: int
) -> None:
    made, commits = chain
    outcomes = "+" * greens + "-" * min(reds, 40 - greens)
    answers = Answers({c: _OUTCOMES[o] for c, o in zip(commits, outcomes, strict=False)})
    found = first_red(made.repository, commits[0], commits[len(outcomes) - 1], answers)
    assert found == Baseline(commits[greens - 1], commits[greens], adjacent=True)
    assert len(answers.asked) <= (len(outcomes) - 1).bit_length()
    assert not {commits[0], commits[len(outcomes) - 1]} & set(answers.asked)


@settings(max_examples=60)
@given(st.integers(1, 39), st.floats(0.0, 1.0))
@example(37, 1.0)
def test_commits_that_are_likely_are_asked_first(
    chain: tuple[Made, list[str]], breaks: int, sure: float
) -> None:
    """Two runs are enough where one is sure: it, and the one before it."""
    made, commits = chain
    answers = Answers({c: FAIL if at >= breaks else PASS for at, c in enumerate(commits)})
    guilt = dict.fromkeys(commits, (1 - sure) / len(commits))
    guilt[commits[breaks]] += sure
    found = first_red(made.repository, commits[0], commits[-1], answers, guilt)
    assert found == Baseline(commits[breaks - 1], commits[breaks], adjacent=True)
    expected = 2 if sure > 0.67 else 2 * len(commits).bit_length()
    assert len(answers.asked) <= expected


def test_a_merged_branch_is_halved_with_its_merge_and_no_end_of_it_is_asked(tmp_path: Path) -> None:
    """Where it left is older than what is green, and its tip tells no more than any other commit of it does."""
    made = Made(tmp_path / "r")
    line = [made.text(a="0"), made.text(a="1")]
    side = [line[0]]
    for number in range(1, 17):
        side.append(made.commit(texts(a="0", s=f"{number}"), side[-1], ref=None))
    tip = made.commit(texts(a="1", s="16"), line[1], side[-1])
    green = dict.fromkeys([*line, *side[:6]], PASS)
    answers = Answers({**dict.fromkeys([*side, tip], FAIL), **green})
    found = first_red(made.repository, line[1], tip, answers)
    assert found == Baseline(side[5], side[6], adjacent=True)
    assert len(answers.asked) <= len(side).bit_length()
    assert not {side[0], side[-1], *line} & set(answers.asked)


def test_a_branch_that_was_red_where_it_left_is_searched_further_back(tmp_path: Path) -> None:
    """The trunk was repaired since; that it is green now does not say that it was so."""
    made = Made(tmp_path / "r")
    older = [made.text(a="0"), made.text(a="1")]
    trunk = made.text(a="2")
    side = made.commit(texts(a="1", s="1"), older[1], ref=None)
    tip = made.commit(texts(a="2", s="1"), trunk, side)
    answers = Answers({older[0]: PASS, older[1]: FAIL, trunk: PASS, side: FAIL, tip: FAIL})
    found = first_red(made.repository, trunk, tip, answers)
    assert found == Baseline(older[0], older[1], adjacent=True)


def test_the_likelier_branch_of_a_merge_is_searched_and_nothing_before_what_is_green(
    tmp_path: Path,
) -> None:
    """borgmatic: a branch merged the trunk, and its older commits, which have no such test, were asked one by one."""
    made = Made(tmp_path / "r")
    older = [made.text(a=f"{number}") for number in range(12)]
    trunk = made.text(a="12")
    side = [trunk]
    for number in range(1, 6):
        side.append(made.commit(texts(a="12", s=f"{number}"), side[-1], ref=None))
    feature = made.commit(texts(a="11", f="1"), older[-1], ref=None)
    merge = made.commit(texts(a="12", s="5", f="1"), feature, side[-1], ref=None)
    last = [merge]
    for number in range(13, 17):
        last.append(made.commit(texts(a=f"{number}", s="5", f="1"), last[-1], ref=None))
    red = dict.fromkeys([*side[3:], *last], FAIL)
    answers = Answers(
        {**dict.fromkeys([*older, feature], SKIP), **dict.fromkeys(side[:3], PASS), **red}
    )
    guilt = {**dict.fromkeys([*side, feature, *last], 0.02), side[3]: 0.8}
    found = first_red(made.repository, trunk, last[-1], answers, guilt)
    assert found == Baseline(side[2], side[3], adjacent=True)
    assert answers.asked == [side[3], side[2]]
    assert not {*older, feature} & set(answers.asked)


def test_a_likely_commit_of_a_merged_branch_is_asked_before_the_merge(tmp_path: Path) -> None:
    made = Made(tmp_path / "r")
    line = [made.text(a="0")]
    line += [made.text(a=f"{number}") for number in range(1, 20)]
    side = made.commit(texts(a="19", s="1"), line[10], ref=None)
    merge = made.commit(texts(a="19", s="1"), line[-1], side)
    after = [made.text(a=f"{number}", s="1") for number in range(20, 40)]
    answers = Answers(
        {**dict.fromkeys([*line], PASS), **dict.fromkeys([side, merge, *after], FAIL)}
    )
    guilt = {**dict.fromkeys([*line, *after], 0.002), side: 0.9}
    found = first_red(made.repository, line[0], after[-1], answers, guilt)
    assert found == Baseline(line[10], side, adjacent=True)
    assert answers.asked == [side, line[10]]


def test_a_branch_that_left_before_what_is_green_is_not_asked_before_its_merge(
    tmp_path: Path,
) -> None:
    """What was repaired between is red there, and broke nothing of the trunk, which was broken otherwise later."""
    made = Made(tmp_path / "r")
    older = made.text(a="0")
    trunk = [made.text(a="1")]
    side = [older]
    for number in range(1, 9):
        side.append(made.commit(texts(a="0", s=f"{number}"), side[-1], ref=None))
    merge = made.commit(texts(a="1", s="8"), trunk[0], side[-1])
    after = [merge, *(made.text(a=f"{number}", s="8") for number in range(2, 6))]
    answers = Answers({**dict.fromkeys(after[:3], PASS), **dict.fromkeys(after[3:], FAIL)})
    found = first_red(made.repository, trunk[0], after[-1], answers)
    assert found == Baseline(after[2], after[3], adjacent=True)
    assert not set(side) & set(answers.asked)


@settings(max_examples=60)
@given(st.text("+-?", max_size=38))
def test_what_lies_between_two_known_ends_is_told_truly(
    chain: tuple[Made, list[str]], inside: str
) -> None:
    made, commits = chain
    outcomes = f"+{inside}-"
    answers = Answers({c: _OUTCOMES[o] for c, o in zip(commits, outcomes, strict=False)})
    found = first_red(made.repository, commits[0], commits[len(outcomes) - 1], answers)
    assert answers.outcomes[found.good] is PASS
    assert answers.outcomes[found.bad] is FAIL
    assert commits.index(found.good) < commits.index(found.bad)
    assert len(answers.asked) <= 2 * len(outcomes).bit_length()
    assert found.adjacent == (commits.index(found.bad) - commits.index(found.good) == 1)


def test_many_commits_in_a_row_that_cannot_be_tested_are_left_in_leaps(
    chain: tuple[Made, list[str]],
) -> None:
    """Asked one beside the other they were all that could be asked."""
    made, commits = chain
    outcomes = "+" * 8 + "?" * 18 + "+" * 6 + "-" * 8
    answers = Answers({c: _OUTCOMES[o] for c, o in zip(commits, outcomes, strict=True)})
    found = first_red(made.repository, commits[0], commits[-1], answers)
    assert found == Baseline(commits[31], commits[32], adjacent=True)
    assert len(answers.asked) <= 8


def release_aside(made: Made, length: int) -> tuple[str, list[str]]:
    """A release, and the line of commits at whose first one it left."""
    line = [made.text(a="0")]
    release = made.commit(texts(a="0", r="1"), line[0], ref=None)
    for number in range(1, length):
        line.append(made.commit(texts(a=f"{number}"), line[-1], ref=None))
    return release, line


def test_a_good_end_on_a_branch_of_its_own_is_left_for_where_both_parted(tmp_path: Path) -> None:
    """A release with a commit on top of it: base - release; base - b1 - b2 - b3, of which b2 broke it."""
    made = Made(tmp_path / "r")
    release, line = release_aside(made, 4)
    base = line[0]
    answers = Answers({base: PASS, line[1]: PASS, line[2]: FAIL})
    found = first_red(made.repository, release, line[3], answers)
    assert found == Baseline(line[1], line[2], adjacent=True)
    red_before = Answers({base: FAIL})
    assert first_red(made.repository, release, line[3], red_before).good == ""
    assert red_before.asked == [base]


def test_where_both_parted_cannot_be_tested_a_green_commit_is_looked_for_behind_it(
    tmp_path: Path,
) -> None:
    """Parsedown: the release on a branch of its own left where its tests cannot be run, and no commit was halved."""
    made = Made(tmp_path / "r")
    release, line = release_aside(made, 40)
    outcomes = dict.fromkeys(line[:9], SKIP) | dict.fromkeys(line[9:21], PASS)
    answers = Answers(outcomes | dict.fromkeys(line[21:], FAIL))
    found = first_red(made.repository, release, line[-1], answers)
    assert found == Baseline(line[20], line[21], adjacent=True)
    assert len(answers.asked) <= 12
    never = Answers(dict.fromkeys(line[:9], SKIP) | dict.fromkeys(line[9:], FAIL))
    assert first_red(made.repository, release, line[-1], never).good == ""


def test_a_good_end_behind_a_merge_is_where_the_search_begins(tmp_path: Path) -> None:
    """The release was made on a branch that was merged later; what came before it is not asked."""
    made = Made(tmp_path / "r")
    older = made.text(a="0")
    release = made.commit(texts(a="0", s="1"), older, ref=None)
    main = made.text(a="1")
    merge = made.commit(texts(a="1", s="1"), main, release)
    tip = made.commit(texts(a="2", s="1"), merge)
    answers = Answers({merge: PASS})
    assert first_red(made.repository, release, tip, answers) == Baseline(merge, tip, adjacent=True)
    assert answers.asked == [merge]


def test_a_red_branch_that_the_release_s_branch_merged_is_searched(tmp_path: Path) -> None:
    """The next release's branch went into this one's: the first parent of the merge is the red side."""
    made = Made(tmp_path / "r")
    older = made.text(a="0")
    release = made.commit(texts(a="0", s="1"), older, ref=None)
    line = [older]
    for number in range(1, 20):
        line.append(made.commit(texts(a=f"{number}"), line[-1], ref=None))
    merge = made.commit(texts(a="19", s="1"), line[-1], release, ref=None)
    tip = made.commit(texts(a="20", s="1"), merge, ref=None)
    green = [older, release, *line[:7]]
    answers = Answers({**dict.fromkeys([*line, merge], FAIL), **dict.fromkeys(green, PASS)})
    found = first_red(made.repository, release, tip, answers)
    assert found == Baseline(line[6], line[7], adjacent=True)
    assert len(answers.asked) <= 8


def test_histories_that_never_met_have_nothing_between_them(tmp_path: Path) -> None:
    made = Made(tmp_path / "r")
    one, other = (made.commit(texts(a=text), ref=None) for text in ("0", "1"))
    assert first_red(made.repository, one, other, Answers({})).good == ""


def test_commits_of_a_range_are_counted_with_those_of_merged_branches(tmp_path: Path) -> None:
    made = Made(tmp_path / "r")
    older = made.text(a="0")
    side = made.commit(texts(a="0", s="1"), older, ref=None)
    main = made.text(a="1")
    merge = made.commit(texts(a="1", s="1"), main, side)
    assert commits_between(made.repository, older, merge) == 3
    assert commits_between(made.repository, side, merge) == 2
    assert commits_between(made.repository, merge, merge) == 0
    tree = str(made.repository[merge].peel(pygit2.Commit).tree_id)
    assert commits_between(made.repository, older, tree) == 0, "a patch that is tried is no commit"
