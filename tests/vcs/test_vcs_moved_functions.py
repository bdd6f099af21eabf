"""Functions that moved within their file: what was altered in them is a change inside the move."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_repositories import FILE, Made, read_listing, texts

from afterd.compare.pair import differences
from afterd.model.change import Change, ChangeList, ChangeSet
from afterd.model.inside import outer_hunks, with_inner
from afterd.model.location import LineSpan
from afterd.trace.linemap import LineMap
from afterd.vcs.diff import changes_between
from afterd.vcs.hunks import split_lines, undone_lines
from afterd.vcs.variants import Variants

SCORE = """\
/* What a word scores. */
static int score_of(const char *word, int most)
{
    int letters = 0, vowels = 0;

    for (const char *at = word; *at; at++)
        letters++;

    if (letters > most)
        letters = most;
    return letters + vowels;
}

"""
STEPS = "".join(
    f"static int step_{number}(int a, int b)\n{{\n    int sum = a * {number} + b;\n"
    f"    while (sum < {number})\n        sum += b;\n    return sum;\n}}\n\n"
    for number in range(14)
)
MAIN = "int main(int argc, char **argv)\n{\n    return score_of(argv[1], step_3(argc, 7));\n}\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return Made(tmp_path_factory.mktemp("moved"))


def changed(made: Made, *versions: str, name: str = "a__c") -> tuple[ChangeList, list[str]]:
    commits = [made.commit(texts(**{name: version})) for version in versions]
    return changes_between(made.repository, commits[0], commits[-1]), commits


def inner(changes: ChangeList) -> list[Change]:
    outer = outer_hunks(changes.changes)
    return [change for change in changes.changes if change.id in outer]


def test_a_line_that_was_altered_in_a_function_that_moved_is_a_change_of_its_own(
    tmp_path: Path,
) -> None:
    altered = SCORE.replace("letters > most", "letters < most")
    bad = STEPS + altered + MAIN
    made = Made(tmp_path / "r")
    changes, ends = changed(made, SCORE + STEPS + MAIN, bad)
    (line,) = inner(changes)
    assert (line.symbol, line.lines("-"), line.lines("+")) == (
        "score_of",
        ["    if (letters > most)"],
        ["    if (letters < most)"],
    )
    variants = Variants(made.repository, ends[0], ends[-1], changes)
    undone = read_listing(variants.store, variants.tree(frozenset([line.id])))
    assert undone[b"a.c"] == (FILE, (STEPS + SCORE + MAIN).encode())
    outer = outer_hunks(changes.changes)[line.id]
    without = variants.tree(frozenset([outer.id]))
    assert read_listing(variants.store, without)[b"a.c"] == (FILE, (STEPS + MAIN).encode())
    assert variants.tree(frozenset([outer.id, line.id])) == without


def test_a_method_of_python_that_moved_is_no_other_one(tmp_path: Path) -> None:
    made = Made(tmp_path / "r")
    words = (
        "    def words_of(self, text):\n        found = text.split()\n        found.sort()\n"
        "        return [word for word in found if len(word) > self.least]\n\n"
    )
    others = "".join(
        f"    def number_{number}(self):\n        return self.numbers[{number}] + {number}\n\n"
        for number in range(12)
    )
    head = "class Reader:\n    least = 3\n\n"
    changes, _ = changed(
        made,
        head + words + others,
        head + others + words.replace("> self", ">= self"),
        name="a__py",
    )
    assert [each.lines("+") for each in inner(changes)] == [
        ["        return [word for word in found if len(word) >= self.least]"]
    ]


@pytest.mark.parametrize(
    "moved",
    [
        SCORE,  # nothing was altered in it
        "static long score_of(void)\n{\n    return 7;\n}\n\n",
        SCORE.replace("score_of", "value_of"),
        SCORE.replace("int most", "int most, int least").replace("> most", "> least"),
    ],
)
def test_what_is_the_same_or_another_function_has_no_changes_inside(
    moved: str, tmp_path: Path
) -> None:
    made = Made(tmp_path / "r")
    changes, _ = changed(made, SCORE + STEPS + MAIN, STEPS + moved + MAIN)
    assert not inner(changes)


ALTERED = SCORE.replace("letters > most", "letters < most")
SHORT = SCORE.replace("        letters = most;\n", "        ;\n")


def _makers(made: Made, *versions: str) -> tuple[list[tuple[str, ...]], set[str], list[str]]:
    """The commits of each change inside a move, those of the move, and all that there are."""
    changes, commits = changed(made, *versions)
    outer = outer_hunks(changes.changes)
    moved = {commit for around in outer.values() for commit in around.commits}
    return [change.commits for change in inner(changes)], moved, commits[1:]


def test_a_line_of_a_function_that_moved_was_altered_by_who_altered_it(tmp_path: Path) -> None:
    first, last = SCORE + STEPS + MAIN, STEPS + ALTERED + MAIN
    before = _makers(Made(tmp_path / "before"), first, ALTERED + STEPS + MAIN, last)
    (altering, moving) = before[2]
    assert before[:2] == ([(altering,)], {moving})
    after = _makers(Made(tmp_path / "after"), first, STEPS + SCORE + MAIN, last)
    (moving, altering) = after[2]
    assert after[:2] == ([(altering,)], {moving})
    at_once = _makers(Made(tmp_path / "at_once"), first, first + "\n", last)
    assert at_once[:2] == ([(at_once[2][1],)], {at_once[2][1]})


def test_of_two_lines_of_a_function_that_moved_twice_each_is_its_own_commits(
    tmp_path: Path,
) -> None:
    both = SHORT.replace("letters > most", "letters < most")
    one, rest = STEPS[: STEPS.index("static int step_7")], STEPS[STEPS.index("static int step_7") :]
    made = Made(tmp_path / "r")
    found, moved, commits = _makers(
        made,
        SCORE + STEPS + MAIN,
        ALTERED + STEPS + MAIN,
        one + ALTERED + rest + MAIN,
        one + both.replace("vowels = 0", "vowels = 1") + rest + MAIN,
        one + both + rest + MAIN,
        STEPS + both + MAIN,
    )
    assert found == [(commits[0], commits[2])]
    assert moved == {commits[4]}


def test_a_line_that_was_taken_out_of_a_function_that_moved(tmp_path: Path) -> None:
    without = SCORE.replace("        letters = most;\n", "        ;\n").replace(
        "    for (const char *at = word; *at; at++)\n", ""
    )
    first, last = SCORE + STEPS + MAIN, STEPS + without + MAIN
    made = Made(tmp_path / "r")
    found, moved, commits = _makers(made, first, without + STEPS + MAIN, last)
    assert (found, moved) == ([(commits[0],), (commits[0],)], {commits[1]})
    found, moved, commits = _makers(
        Made(tmp_path / "s"), first, STEPS + SCORE + MAIN, STEPS + without + MAIN
    )
    assert (found, moved) == ([(commits[1],), (commits[1],)], {commits[0]})


def test_a_line_of_a_function_that_moved_there_and_back_is_who_altered_its(tmp_path: Path) -> None:
    made = Made(tmp_path / "r")
    changes, commits = changed(
        made,
        SCORE + STEPS + MAIN,
        ALTERED + STEPS + MAIN,
        STEPS + ALTERED + MAIN,
        ALTERED + STEPS + MAIN,
    )
    assert [change.commits for change in changes.changes] == [(commits[1],)]


def test_who_took_a_function_out_has_no_part_in_what_was_altered_in_it_before(
    tmp_path: Path,
) -> None:
    made = Made(tmp_path / "r")
    versions = SCORE + STEPS + MAIN, ALTERED + STEPS + MAIN, STEPS + ALTERED + MAIN
    changes, commits = changed(made, *versions)
    (taken,) = [change for change in changes.changes if not change.new.count]
    assert taken.commits == (commits[2],)


def test_what_two_commits_moved_and_altered_in_python(tmp_path: Path) -> None:
    made = Made(tmp_path / "r")
    words = "def words_of(text):\n    found = text.split()\n    found.sort(key=len)\n"
    words += "    return [word for word in found if len(word) > 3]\n\n\n"
    others = "".join(f"def number_{n}():\n    return [{n}] * {n}\n\n\n" for n in range(12))
    altered = words.replace("> 3", ">= 3")
    changes, commits = changed(
        made, words + others, altered + others, others + altered, name="a__py"
    )
    assert [change.commits for change in inner(changes)] == [(commits[1],)]


_FUNCTIONS = [
    SCORE,
    *(
        f"{part}\n\n"
        for part in STEPS.replace("sum < 5", "sum < 55").replace("a * 6", "b * 6").split("\n\n")[:6]
    ),
]
_LINES = st.sampled_from(
    ["    int extra = 1;\n", "    letters++;\n", "", "\n", "    while (a < b)\n"]
)


@st.composite
def _texts(draw: st.DrawFn) -> tuple[str, str]:
    """A file, and another one with its functions in another order, and lines altered."""
    functions = draw(st.permutations(_FUNCTIONS))
    moved = draw(st.permutations(functions))[: draw(st.integers(3, 7))]
    altered = []
    for function in moved:
        lines = split_lines(function.encode())
        for _ in range(draw(st.integers(0, 3))):
            at = draw(st.integers(0, len(lines)))
            lines[at : at + draw(st.integers(0, 2))] = split_lines(draw(_LINES).encode())
        altered.append(b"".join(lines).decode())
    return "".join(functions) + MAIN, "".join(altered) + MAIN


def _subset(changes: ChangeList) -> st.SearchStrategy[ChangeSet]:
    return (
        st.frozensets(st.sampled_from(sorted(changes.ids))) if changes.ids else st.just(frozenset())
    )


def _rule(good: list[bytes], bad: list[bytes], changes: ChangeList, undone: ChangeSet) -> bytes:
    """The text without some changes: the rule, written down a second time, from the last line to the first."""
    outer = outer_hunks(changes.changes)
    lines = list(bad)
    placed = sorted(changes.changes, key=lambda c: (c.new.before, c.id in outer))
    for change in reversed(placed):
        around = outer.get(change.id)
        if change.id in undone and not (around and around.id in undone):
            begin, old = change.new.before, change.old.before
            lines[begin : begin + change.new.count] = good[old : old + change.old.count]
    return b"".join(lines)


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(ends=_texts(), data=st.data())
def test_any_changes_undone_give_the_text_that_the_rule_says(
    made: Made, ends: tuple[str, str], data: st.DataObject
) -> None:
    changes, commits = changed(made, *ends)
    good, bad = (split_lines(end.encode()) for end in ends)
    variants = Variants(made.repository, commits[0], commits[-1], changes)

    def text(undone: ChangeSet) -> list[bytes]:
        listing = read_listing(variants.store, variants.tree(undone))
        return split_lines(listing[b"a.c"][1])

    assert text(frozenset()) == bad
    assert text(changes.ids) == good
    mine, other = data.draw(_subset(changes)), data.draw(_subset(changes))
    assert b"".join(text(mine)) == _rule(good, bad, changes, mine)
    differing = differences(changes.changes, mine, other)
    within = outer_hunks(differing)
    apart = sorted((c for c in differing if c.id not in within), key=lambda c: c.new.before)
    assert undone_lines(text(other), text(mine), apart) == text(other)
    _expect_true_lines(text(mine), text(other), differing)


def _expect_true_lines(mine: list[bytes], other: list[bytes], changes: tuple[Change, ...]) -> None:
    """A line that no change altered stands, as it is, where the map says; and its place is given back."""
    lines = LineMap(changes)
    for number, line in enumerate(mine, 1):
        if lines.is_kept("a.c", number):
            file, there = lines.to_good("a.c", number)
            assert (file, other[there - 1]) == ("a.c", line)
            assert lines.was_kept("a.c", there)
            assert lines.to_bad("a.c", there) == ("a.c", number)
    for number, line in enumerate(other, 1):
        if lines.was_kept("a.c", number):
            assert mine[lines.to_bad("a.c", number)[1] - 1] == line


def test_what_is_inside_goes_with_what_is_around_it() -> None:
    around = Change("c1", "a.c", "a.c", LineSpan(4, 0), LineSpan(10, 5))
    assert with_inner(frozenset(["c1"]), {"c2": around}) == {"c1", "c2"}
    assert with_inner(frozenset(["c2"]), {"c2": around}) == {"c2"}
