"""The story: in the order in which things happened, and nothing that a reader can do without."""

from __future__ import annotations

from dataclasses import replace

import pytest
from explanation_samples import RUNNING_EXAMPLE, TREE, explanations
from hypothesis import given, settings

from afterd.limits import REPORT
from afterd.model.explanation import EMPTY, NOT_EMPTY, Evidence, Explanation, Failure, TreeStep
from afterd.model.outcome import FailureKind
from afterd.report.story import carried_words, story
from afterd.report.story_lines import printed_story
from afterd.report.summary import as_plain
from afterd.report.told_step import values_beside


def _explained(*steps: TreeStep) -> Explanation:
    """Steps as the tree has them: the last one first."""
    return replace(RUNNING_EXAMPLE, tree=replace(TREE, steps=steps, causes=()))


def _step(
    line: int, observed: str, green: str, *, file: str = "a.py", change: str = ""
) -> TreeStep:
    return TreeStep(
        file, line, f"x{line} = f()", f"x{line}", observed, green, change, Evidence.OBSERVED
    )


def test_from_the_changes_to_the_failure() -> None:
    told = story(RUNNING_EXAMPLE)
    assert [(step.line, step.change) for step in told] == [(5, "c2"), (7, ""), (10, "c3"), (13, "")]
    assert as_plain(told[-1].values) == "1 where 4 was expected"
    assert as_plain(told[2].values) == "sum = 1; without them 4"


def test_what_the_text_computes_and_what_the_old_one_would() -> None:
    guard = TreeStep(
        "format.c", 275, "if ((length - i) % 3 == 0)", "", "false", "true", "c2", Evidence.OBSERVED,
        was="if ((whole - i) % 3 == 0)", computed="(9 - 1) % 3 == 0", undone="(7 - 1) % 3 == 0",
    )  # fmt: skip
    (told, _) = story(_explained(guard))
    assert told.was == "if ((whole - i) % 3 == 0)"
    assert (
        as_plain(told.values) == "(9 - 1) % 3 == 0 is false; without them (7 - 1) % 3 == 0 is true"
    )
    added = replace(guard, target="n", observed="8", computed="9 - 1", green="not executed")
    assert as_plain(story(_explained(added))[0].values) == "n = 9 - 1 = 8; not run without them"
    gone = replace(guard, observed="not executed", green="reset()")
    assert as_plain(story(_explained(gone))[0].values) == "does not run; without them, it does"


def test_a_statement_that_gives_nothing_has_no_value() -> None:
    """Not "None; not run without it" of a `break`."""
    left = TreeStep(
        "a.py", 3, "break", "", "None", "not executed", "c2", Evidence.OBSERVED,
    )  # fmt: skip
    assert as_plain(story(_explained(left))[0].values) == "not run without them"
    given = replace(left, text="return", target="return")
    assert as_plain(story(_explained(given))[0].values) == "return = None; not run without them"


def test_the_truth_of_a_text_is_told_in_words() -> None:
    """Not "7 == 0 is false", which is true of its length."""
    asked = TreeStep(
        "a.py", 3, "if not name:", "", "False", "True", "c2", Evidence.OBSERVED,
        computed=NOT_EMPTY, undone=EMPTY,
    )  # fmt: skip
    (told, _) = story(_explained(asked))
    assert as_plain(told.values) == "the text is not empty; without them the text is empty"


def test_the_first_step_that_was_seen_to_carry_the_failure_says_so() -> None:
    """Of several the first; the others are known as well, and say no more."""
    last, first = (replace(_step(line, "7", str(line)), tested=True) for line in (5, 4))
    told = story(_explained(last, first, _step(3, "0", "1", change="c2")))
    assert [as_plain(step.values) for step in told[:3]] == [
        "x3 = 0; without them 1",
        "x4 = 7; without them 4; set to that here, the test passes",
        "x5 = 7; without them 5",
    ]
    assert [step.tested for step in told] == [False, True, True, False]


def test_a_step_that_carries_the_failure_is_not_left_out_first() -> None:
    """It tells more than another one that differs."""
    steps = [replace(_step(line, "7", str(line)), tested=line == 9) for line in range(20, 5, -1)]
    told = story(_explained(*steps, _step(3, "0", "1", change="c2")))
    assert 9 in [step.line for step in told]
    assert sum(step.lines for step in told) <= REPORT.story


def test_what_only_carries_is_counted_and_what_is_equal_is_not_there() -> None:
    carried = [_step(line, "7", "9", file="text.c") for line in (6, 5, 4)]
    same = TreeStep("text.c", 3, "y = g()", "y", "1", "1", "", Evidence.INFERRED)
    told = story(_explained(*carried, same, _step(2, "7", "9", change="c2")))
    assert [step.line for step in told] == [2, 13]
    assert carried_words(told[-1].carried) == "through text.c:3, 4, 5, 6"


def test_a_truth_is_handed_on_by_what_stores_it_and_decides_again_where_a_branch_asks() -> None:
    """A verdict that four functions returned was told four times."""
    asked = TreeStep("a.py", 5, "if x4:", "", "True", "False", "", Evidence.PROVED)
    returned = [_step(line, "True", "False") for line in (4, 3)]
    told = story(_explained(asked, *returned, _step(2, "True", "False", change="c2")))
    assert [step.line for step in told] == [2, 5, 13]
    assert carried_words(told[1].carried) == "through a.py:3, 4"


def test_what_hands_a_value_on_is_named_by_its_places() -> None:
    """The words "through 5 steps of parser.py and others" hid the whole way, below a third file's name."""
    way = [("lib/parser.py", 82), ("lib/grammar.py", 141), ("lib/grammar.py", 76), ("test.py", 94)]
    carried = [_step(line, "1", "2", file=file) for file, line in way]
    assert carried_words(carried) == "through parser.py:82, grammar.py:141, 76, test.py:94"
    long = [_step(line, "1", "2") for line in range(1, 31)]
    assert carried_words(long) == "through a.py:1, 2, 3, 24 more, a.py:28, 29, 30"
    twice = [_step(3, "1", "2", change="c4"), _step(3, "1", "2")]
    assert carried_words(twice) == "through a.py:3, changed by c4"


def test_the_way_to_another_file_stands_above_that_file_s_name() -> None:
    """``through core.py:447`` stood below "vulture/utils.py", in which there was none of it."""
    steps = [
        _step(1, "1", "2", change="c1", file="src/first.py"),
        _step(2, "1", "2", file="src/second.py"),
        _step(3, "2", "3", file="src/third.py"),
    ]
    lines = [line.strip() for line in printed_story(_explained(*reversed(steps)), 60)]
    assert lines.index("⋮  through second.py:2") < lines.index("src/third.py")


def test_that_both_runs_raised_is_not_cut_off() -> None:
    """The two exceptions part behind what there is room for."""
    mine, other = (
        f"raises Missing(IndexError('list index out of range'), <{name}>, 1)"
        for name in ("Raw", "Path")
    )
    shown = values_beside(mine, other)
    assert all(value.startswith("raises …") for value in shown)
    assert "<Raw>" in shown[0]
    assert "<Path>" in shown[1]


def test_no_addresses() -> None:
    step = _step(2, "0x55550000aa", "0x55550000bb", change="c2")
    assert as_plain(story(_explained(step))[0].values) == "another one without them"
    beside_a_number = _step(2, "7", "0x55550000bb", change="c2")
    said = as_plain(story(_explained(beside_a_number))[0].values)
    assert said == "x2 = 7; another one without them"


def test_a_dozen_lines_with_every_change_and_decision() -> None:
    steps = [_step(line, str(line), str(-line)) for line in range(60, 1, -1)]
    steps[30] = replace(steps[30], change="c3")
    steps[-1] = replace(steps[-1], change="c2")
    told = story(_explained(*steps))
    assert sum(step.lines for step in told) <= REPORT.story
    assert {"c2", "c3"} <= {step.change for step in told}
    assert len(story(_explained(*steps), most=None)) == len(steps) + 1


@given(explanations)
@settings(max_examples=40)
def test_every_change_of_the_tree_is_told(explanation: Explanation) -> None:
    told = story(explanation)
    assert bool(told) == (explanation.tree is not None)
    room = 3 * len([step for step in told if step.change])
    assert sum(step.lines for step in told) <= max(REPORT.story, room + 3)


@pytest.mark.parametrize("at", [0, 30, 300])
def test_two_long_values_are_cut_where_they_part(at: int) -> None:
    one, two = "a" * at + "X" + "b" * 100, "a" * at + "Y" + "b" * 100
    mine, other = values_beside(one, two)
    assert "X" in mine
    assert "Y" in other
    assert max(len(mine), len(other)) <= REPORT.story_value + 1


def test_a_failure_without_values_says_its_message() -> None:
    failure = Failure(FailureKind.EXCEPTION, "ValueError: no", "sum.c", 13)
    told = story(replace(RUNNING_EXAMPLE, failure=failure))
    assert as_plain(told[-1].values) == "ValueError: no"


@pytest.mark.parametrize("width", [80, 100, 120])
def test_a_mark_stands_behind_its_statement_however_long_that_is(width: int) -> None:
    for length in range(30, 130):
        long = replace(_step(5, "1", "2", change="c2"), text="x" * length, was="y" * 20)
        lines = printed_story(_explained(long), width)
        (marked,) = [line for line in lines if " c2" in line]
        assert "x" in marked
        assert sum("y" * 20 in line for line in lines) == 1


def test_two_long_values_stand_below_each_other() -> None:
    long = replace(_step(5, "a" * 40, "b" * 40, change="c2"), target="")
    lines = printed_story(_explained(long), 80)
    (mine,) = [number for number, line in enumerate(lines) if "a" * 40 in line]
    assert "a" * 40 + "; " in lines[mine]
    assert lines[mine + 1].strip().startswith("without them " + "b" * 40)
    beside_ = printed_story(_explained(long), 140)
    assert any("a" * 40 + "; without them " + "b" * 40 in line for line in beside_)


@pytest.mark.parametrize(
    ("text", "was", "shown"),
    [
        (
            "if (i > 0 && i < whole && (length - i) % 3 == 0)",
            "if (i > 0 && i < whole && (whole - i) % 3 == 0)",
            "… && (whole - i) % 3 == 0)",
        ),
        (
            "if add_months(start, months) >= end:",
            "if add_months(start, months) > end:",
            "… (start, months) > end:",
        ),
        ("total = total + one(of, many, more, words)", "total = total - 1", "total = total - 1"),
        ("call(first, b, third, fourth, fifth)", "call(first, a, third, fourth, fifth)",
         "… a, third, fourth, fifth)"),
    ],
)  # fmt: skip
def test_what_stood_there_is_read_to_its_end(text: str, was: str, shown: str) -> None:
    step = replace(_step(5, "1", "2", change="c2"), text=text, was=was)
    assert story(_explained(step))[0].was == shown


def test_a_failure_does_not_repeat_its_statement() -> None:
    failure = Failure(FailureKind.ASSERTION, f"{TREE.predicate} failed", TREE.file, TREE.line)
    told = story(replace(RUNNING_EXAMPLE, failure=failure))
    assert (told[-1].text, as_plain(told[-1].values)) == (TREE.predicate, "failed")


def test_of_one_statement_in_a_row_the_last_is_told() -> None:
    """``[each.name for each in rows]``: what was bound on the way is not what it gave; ``--all`` has it."""
    bound, given = (replace(_step(3, one, "4"), line=3, target=one) for one in ("1", "2"))
    first = _step(2, "0", "5", change="c2")
    assert [told.place for told in story(_explained(given, bound, first))][:-1] == [
        "a.py:2",
        "a.py:3",
    ]
    assert story(_explained(given, bound, first))[1].carried == ()
    assert len(story(_explained(given, bound, first), most=None)) == 4
    kept = story(_explained(given, replace(bound, tested=True), first))
    assert [told.tested for told in kept] == [False, True, False, False]


def test_nothing_is_carried_to_the_first_that_is_told() -> None:
    """What the story begins with came from nowhere that a reader saw."""
    same, first = replace(_step(1, "3", "3"), text="y = g()"), _step(2, "0", "5", change="c2")
    assert story(_explained(first, same))[0].carried == ()
    assert story(_explained(_step(3, "1", "2"), same, first))[1].carried == (same,)


def test_one_truth_of_two_changes_is_told_once() -> None:
    """Both changed a part of one statement: it did one thing."""
    one, other = (_step(7, "1", "4", change=name) for name in ("c2", "c3"))
    explanation = _explained(other, replace(one, tested=True))
    told, _ = story(explanation)
    assert told.change == "c2, c3"
    assert as_plain(told.values).endswith("; set to that here, the test passes")


def test_a_statement_without_a_word_is_no_failure_to_quote() -> None:
    """C returns at the brace that closes the function."""
    failure = Failure(FailureKind.EXIT, "exit status 1", "main.c", 107, "1", "4")
    tree = replace(TREE, predicate="}", file="main.c", line=107, steps=(), causes=())
    (end,) = story(replace(RUNNING_EXAMPLE, failure=failure, tree=tree))
    assert end.text == "exit status 1"


def test_of_output_that_is_missing_is_said_what_it_would_have_been() -> None:
    """That it was missing at a line where nothing is written told nobody which output was meant."""
    message = "output on standard output is missing"
    failure = Failure(FailureKind.OUTPUT, message, "eval.c", 943, "", "user.d/file")
    at = replace(TREE, predicate="ret = eval();", file="eval.c", line=943, steps=(), causes=())
    (end,) = story(replace(RUNNING_EXAMPLE, failure=failure, tree=at))
    assert as_plain(end.values) == f"{message}; user.d/file was expected"
    (end,) = story(replace(RUNNING_EXAMPLE, failure=failure, tree=replace(at, line=1)))
    assert (end.text, as_plain(end.values)) == (message, "user.d/file was expected")


def _raised_at_the_end(*steps: TreeStep) -> Explanation:
    """A statement of line 9 raised, and says so in the tree."""
    failure = Failure(FailureKind.EXCEPTION, "KeyError: 'A'", "a.py", 9)
    tree = replace(TREE, file="a.py", line=9, predicate="return table[key]", steps=steps, causes=())
    return replace(RUNNING_EXAMPLE, failure=failure, tree=tree)


def test_a_failure_that_raised_stands_beside_what_its_statement_did_without_the_changes() -> None:
    raised = TreeStep("a.py", 9, "return table[key]", "", "raises KeyError('A')", "return = 1")
    told = story(_raised_at_the_end(raised, _step(5, "'A'", "'a'", change="c2")))
    assert [step.line for step in told] == [5, 9]
    assert as_plain(told[-1].values) == "KeyError: 'A'; without them return = 1"
    absent = replace(raised, green="not executed")
    (alone,) = story(_raised_at_the_end(absent))
    assert as_plain(alone.values) == "KeyError: 'A'; not run without them"


def test_a_change_at_the_failed_statement_is_told_with_the_failure() -> None:
    """Not the same statement twice in a row."""
    raised = TreeStep(
        "a.py", 9, "return table[key]", "", "raises KeyError('A')", "return = 1", "c2",
        Evidence.OBSERVED, was="return table[name]",
    )  # fmt: skip
    (told,) = story(_raised_at_the_end(raised))
    assert (told.line, told.change, told.was) == (9, "c2", "return table[name]")
    assert as_plain(told.values) == "KeyError: 'A'; without them return = 1"


def test_the_same_step_is_said_once() -> None:
    """Two levels of a recursion that hand the same value on, of which one was tested."""
    again = replace(_step(7, "1", "2"), tested=True)
    told = story(_explained(_step(7, "1", "2"), again, _step(5, "1", "4", change="c2")))
    assert [(step.line, step.tested) for step in told][:2] == [(5, False), (7, True)]
    assert [step.line for step in told].count(7) == 1
