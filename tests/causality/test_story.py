"""The story between a failing run and its twin: every guilty change, and nothing that is the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from in_process_solver import InProcess
from made_changes import change
from recorded import ABSENT, Recorded, aligned, compare, op

from afterd.causality.story import Story, story
from afterd.causality.told import not_linked, was
from afterd.limits import StoryLimits
from afterd.logic.solver import Solver
from afterd.model.change import ChangeSet
from afterd.model.explanation import CauseNode, Evidence, TreeStep
from afterd.model.location import LineSpan
from afterd.model.term import INT, OPAQUE, Concrete, Op
from afterd.model.trace import Alignment


def _told(run: Recorded, *root: str) -> Story:
    changes = {each: change(int(each[1:]), "f.c") for each in root}
    with Solver(worker=InProcess()) as solver:
        found = story(run, frozenset(root), changes, solver.core, StoryLimits())
    assert found is not None
    return found


def _steps(node: CauseNode) -> Iterator[TreeStep]:
    yield from node.steps
    for cause in node.causes:
        yield from _steps(cause)


def _running_example_s_twin() -> Recorded:
    """AFTER, Figs. 6 to 8, beside the twin without c2 and c3: x = 3, y = 2, z = 1.

    There line 5 asks ``x > y`` and line 10 adds, so lines 6, 10 and 12 give 3, 4 and 4.
    """
    run = Recorded()
    unsorted = run.assign(10, "sorted", 0, green=0, changes=["c1"], line=1)
    x, y, z = (run.input(s, name, v) for s, name, v in ((21, "x", 3), (22, "y", 2), (23, "z", 1)))
    guard = run.branch(40, compare(Op.EQ, unsorted, 0), green=True, line=4)
    less = run.branch(50, compare(Op.LT, x, y), green=True, control=guard, changes=["c2"], line=5)
    summed = run.assign(70, "sum", y, green=ABSENT, control=less, line=7)
    positive = run.branch(90, compare(Op.GT, z, 0), green=True, line=9)
    total = run.assign(
        100, "sum", op(Op.SUB, summed, z), green=4, control=positive, changes=["c3"], line=10
    )
    run.assign(120, "printf", total, green=4, changes=["c4"], line=12)
    run.fail(130, compare(Op.EQ, total, 4))
    return aligned(run)


def test_the_paper_s_tree() -> None:
    """First s7 and s10 (c3), then, upstream of the branch, s5 (c2): AFTER, section II."""
    found = _told(_running_example_s_twin(), "c2", "c3")
    assert [(step.line, step.change) for step in found.tree.steps] == [(10, "c3"), (7, "")]
    (upstream,) = found.tree.causes
    assert [(step.line, step.change) for step in upstream.steps] == [(5, "c2")]
    assert upstream.evidence is Evidence.OBSERVED
    assert {step.evidence for step in found.tree.steps} == {Evidence.PROVED}
    assert not found.unlinked


def test_of_the_rounds_of_a_loop_that_did_not_end_the_first_and_the_last_are_told() -> None:
    """Each round is decided by the one before: a search for an existing folder went round for ever, and its
    story was deeper than Python calls.
    """
    run = Recorded()
    broken = run.assign(1, "errno", 2, green=20, changes=["c1"], line=1)
    round_ = run.branch(2, compare(Op.EQ, broken, 2), green=False, line=2)
    for number in range(900):
        again = compare(Op.GT, run.input(3 + 2 * number, "ret", 9), 0)
        round_ = run.branch(4 + 2 * number, again, green=ABSENT, control=round_, line=3)
    run.fail(3000, compare(Op.EQ, run.input(2999, "cut", 0), 1), control=round_)
    found = _told(aligned(run), "c1")
    lines = [step.line for step in _steps(found.tree)]
    assert {1, 2, 3} <= set(lines)
    assert lines.count(3) < 10
    assert found.followed == {"c1"}


def test_a_harmless_change_on_the_way_is_not_marked() -> None:
    """c1 and c4 are executed, on values that are the same: neither is in the story of c3."""
    found = _told(_running_example_s_twin(), "c3")
    assert {step.change for step in _steps(found.tree)} - {""} == {"c3"}


def test_where_the_trail_ends_the_change_is_inferred() -> None:
    """A call into a library gives another value on what is, as far as was seen, the same."""
    run = Recorded()
    given = run.input(1, "table", 5)
    looked_up = run.assign(2, "lookup()", given, green=7)
    run.fail(3, compare(Op.EQ, looked_up, 7))
    found = _told(aligned(run), "c9")
    assert found.unlinked == ("c9",)
    *seen, last = _steps(found.tree)
    assert [step.target for step in seen] == ["lookup()"]
    assert (last.change, last.evidence) == ("c9", Evidence.INFERRED)


def test_a_change_that_begins_with_a_condition_is_told_from_there() -> None:
    """The answer's first line named the condition, and the story began with what stands in it."""
    run = Recorded()
    flag = run.input(1, "flag", 0)
    outer = run.branch(2, compare(Op.EQ, flag, 0), green=True, changes=["c1"])
    guard = run.branch(3, compare(Op.LT, flag, 5), green=ABSENT, control=outer, changes=["c1"])
    value = run.assign(4, "value", 7, green=ABSENT, control=guard, changes=["c1"])
    run.fail(5, compare(Op.EQ, value, 8))
    found = _told(aligned(run), "c1")
    assert [(step.line, step.change) for step in _steps(found.tree)] == [(4, "c1"), (3, "c1")]
    assert list(_steps(found.tree))[-1].observed == "True"
    assert found.followed == {"c1"}


def test_a_change_acts_where_the_twin_parted_not_where_only_this_run_came() -> None:
    """Of a fence that was not recognised its last line was told, which the twin had read with the fence."""
    run = Recorded()
    line = run.input(1, "line", 4)
    parted = run.branch(2, compare(Op.LT, line, 5), green=False, changes=["c1"], line=7)
    other = run.assign(3, "found", 0, green=ABSENT, control=parted)
    asked = run.branch(4, compare(Op.EQ, other, 0), green=ABSENT, control=parted)
    again = run.branch(5, compare(Op.LT, line, 5), green=ABSENT, control=asked, changes=["c1"])
    info = run.assign(6, "info", 9, green=ABSENT, control=again)
    run.fail(7, compare(Op.NE, op(Op.ADD, info, other), 9))
    told = _told(aligned(run), "c1")
    assert [step.line for step in _steps(told.tree) if step.change] == [7]


def test_a_change_does_not_act_where_its_old_text_gives_the_same() -> None:
    run = Recorded()
    line = run.input(1, "line", 4)
    near = run.assign(2, "near", 4, green=ABSENT, changes=["c1"])
    run.steps[2] = replace(run.steps[2], old=line)
    far = run.assign(3, "far", 5, green=4, changes=["c1"], line=7)
    carried = run.assign(4, "carried", far, green=4)
    run.fail(5, compare(Op.EQ, op(Op.ADD, near, carried), 8))
    told = _told(aligned(run), "c1")
    assert [step.line for step in _steps(told.tree) if step.change == "c1"][-1] == 7


def test_a_change_acts_where_another_text_than_the_old_one_beside_it_gave_the_twins_value() -> None:
    """``return value`` stands in both versions; the branch beside it, which returned, is gone."""
    run = Recorded()
    value = run.input(1, "value", 4)
    returned = run.assign(2, "return", value, green=5, changes=["c1"])
    run.steps[2] = replace(run.steps[2], old=value)
    shown = run.assign(3, "shown", returned, green=5)
    run.callers[2] = 3
    run.fail(4, compare(Op.EQ, shown, 5))
    told = _told(aligned(run), "c1")
    assert [step.change for step in _steps(told.tree)] == ["", "c1"]
    assert told.followed == {"c1"}


def test_what_the_twin_overwrote_leads_to_the_branch_that_did_not() -> None:
    """A guard that is false here lets the old value stand: nothing that was read differs but it."""
    run = Recorded()
    flag = run.assign(1, "flag", 0, green=1, changes=["c1"])
    old = run.assign(2, "total", 5, green=8)
    guard = run.branch(3, compare(Op.NE, flag, 0), green=True)
    run.influences[4, 2] = [guard]
    run.fail(4, compare(Op.EQ, old, 8))
    found = _told(aligned(run), "c1")
    assert "c1" in {step.change for step in _steps(found.tree)}
    assert not found.unlinked


def test_what_is_missing_acts_where_it_was_not_done() -> None:
    run = Recorded()
    total = run.assign(1, "total", 5, green=8)
    run.absent[1] = ("c1",)
    run.fail(2, compare(Op.EQ, total, 8))
    shown = [(step.change, step.observed) for step in _steps(_told(aligned(run), "c1").tree)]
    assert shown == [("", "5"), ("c1", "")], "the step's own text is not what the change altered"


def test_where_code_is_not_followed_the_change_stands_with_what_it_did() -> None:
    """A callback of a library's call: no definition leads to it, both runs show what it gave."""
    run = Recorded()
    run.assign(1, "key", 5, green=7, changes=["c9"])
    run.assign(2, "given", 6, green=8)
    run.callers[1] = 2
    given = run.input(3, "table", 5)
    looked_up = run.assign(4, "lookup()", given, green=7)
    run.fail(5, compare(Op.EQ, looked_up, 7))
    found = _told(aligned(run), "c9")
    assert not found.unlinked
    shown = [(step.target, step.change, step.evidence) for step in _steps(found.tree)]
    assert shown == [
        ("lookup()", "", Evidence.PROVED),
        ("given", "", Evidence.OBSERVED),
        ("key", "c9", Evidence.OBSERVED),
    ]


def test_what_only_the_twin_did_is_seen_as_well() -> None:
    run = Recorded()
    run.assign(1, "reset", 5)
    run.not_run["c9"] = run.steps.pop(1)
    value = run.assign(2, "current", 0, green=2)
    run.fail(3, compare(Op.EQ, value, 2))
    last = list(_steps(_told(aligned(run), "c9").tree))[-1]
    assert (last.change, last.observed, last.evidence) == ("c9", "not executed", Evidence.OBSERVED)


def test_what_a_change_took_away_is_told_by_that_and_not_by_what_reads_it() -> None:
    """``set(source)`` is gone, ``return source`` is as it was: that line was never another one."""
    run = Recorded()
    run.assign(1, "set", 5)
    run.not_run["c9"] = run.steps.pop(1)
    value = run.assign(2, "source", 0, green=2)
    run.absent[2] = ("c9",)
    run.fail(3, compare(Op.EQ, value, 2))
    told = [(step.target, step.change, step.observed) for step in _steps(_told(run, "c9").tree)]
    assert told == [("source", "", "0"), ("set", "c9", "not executed")]


def test_of_branches_that_could_have_overwritten_the_one_that_was_seen_to_comes_first() -> None:
    """Two rounds leave a comma out; that a digit stands at its place is the first one's doing."""
    run = Recorded()
    seen = run.branch(2, compare(Op.EQ, run.input(1, "i", 1), 4), green=True, changes=["c1"])
    digit = run.assign(3, "digit", 5, green=5)
    later = run.branch(4, compare(Op.EQ, run.input(5, "j", 2), 4), green=True, changes=["c1"])
    copied = run.assign(6, "copied", digit, green=44)
    run.influences[6, 3] = [seen, later]
    run.fail(7, compare(Op.EQ, copied, 44))
    found = _told(aligned(run), "c1")
    assert [(step.line, step.change) for step in _steps(found.tree)] == [(6, ""), (2, "c1")]


def test_an_object_that_only_looks_the_same_is_looked_behind() -> None:
    """A pattern is told by its type; what it was compiled from is in both runs."""
    run = Recorded()
    rules = run.assign(1, "rules", 5, green=7, changes=["c1"])
    compiled = Concrete(None, OPAQUE, "an object", (rules,))
    pattern = run.assign(2, "pattern", compiled, green=Alignment.SAME)
    matched = Concrete(3, INT, "a call", (pattern,))
    run.fail(4, compare(Op.EQ, run.assign(3, "end", matched, green=4), 4))
    steps = list(_steps(_told(aligned(run), "c1").tree))
    assert [step.target for step in steps] == ["end", "rules"]


@pytest.mark.parametrize("seen", [Alignment.SAME, Alignment.DIFFERENT])
def test_a_function_of_other_parameters_is_told_by_its_text(seen: Alignment) -> None:
    """``def pipe(val, field)`` where ``def pipe(val)`` was: each is shown as a function, and both runs made one."""
    run = Recorded()
    made = Concrete(None, OPAQUE, "a function", ())
    pipe = run.assign(1, "pipe", made, green=seen, changes=["c1"], line=1)
    look = run.steps[1]
    shown = replace(look.green, rendered="<function pipe>")
    run.steps[1] = replace(
        look, text="def pipe(val, field):", rendered="<function pipe>", green=shown
    )
    called = Concrete(3, INT, "a call", (pipe,))
    run.fail(4, compare(Op.EQ, run.assign(3, "given", called, green=4), 4))
    patch = "@@ -1 +1 @@\n-def pipe(val):\n+def pipe(val, field):\n"
    with Solver(worker=InProcess()) as solver:
        root = {"c1": change(1, "f.c", patch=patch)}
        found = story(aligned(run), frozenset(root), root, solver.core, StoryLimits())
    assert found is not None
    (guilty,) = (step for step in _steps(found.tree) if step.change)
    assert (guilty.evidence, guilty.was) == (Evidence.OBSERVED, "def pipe(val):")
    assert (guilty.observed, guilty.green) == ("", "")


def test_a_step_says_what_it_computed_and_what_it_would_have() -> None:
    run = Recorded()
    length, whole = run.input(1, "length", 9), run.input(2, "whole", 7)
    guard = run.branch(
        3, compare(Op.EQ, op(Op.SUB, length, 1), 6), green=True, changes=["c1"], line=3
    )
    run.counterparts[guard] = compare(Op.EQ, op(Op.SUB, whole, 1), 6)
    run.fail(5, compare(Op.EQ, run.assign(4, "x", 5, green=ABSENT, control=guard), 6))
    guilty = next(step for step in _steps(_told(aligned(run), "c1").tree) if step.change)
    assert (guilty.computed, guilty.undone) == ("9 - 1 == 6", "7 - 1 == 6")


@pytest.mark.parametrize("root", [("c1",), ("c1", "c2")])
def test_no_failure_no_story(root: tuple[str, ...]) -> None:
    none: ChangeSet = frozenset(root)
    with Solver(worker=InProcess()) as solver:
        assert story(Recorded(), none, {}, solver.core, StoryLimits()) is None


@settings(deadline=None)  # a solver is asked
@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=12), st.data())
def test_all_that_is_shown_differs_and_every_guilty_change_stands_in_it(
    shape: list[tuple[int, bool]], data: st.DataObject
) -> None:
    """Over made-up runs of sums: some definitions were changed, the rest carries it or does not."""
    run = Recorded()
    reads = [run.input(1, "x", 3)]
    greens = [3]
    guilty: set[str] = set()
    for number, (back, changed) in enumerate(shape, 2):
        source = max(0, len(reads) - 1 - back)
        value = greens[source] + 1 + (10 if changed else 0)
        names = [f"c{number}"] if changed else []
        guilty.update(names)
        reads.append(
            run.assign(
                number, f"v{number}", op(Op.ADD, reads[source], 1), green=value, changes=names
            )
        )
        greens.append(value)
    last = data.draw(st.integers(1, len(reads) - 1))
    run.fail(100, compare(Op.EQ, reads[last], 1000))
    root = guilty or {"c99"}
    found = _told(aligned(run), *sorted(root))
    steps = list(_steps(found.tree))
    assert root == {step.change for step in steps} - {""} | set(found.unlinked)
    assert root <= {step.change for step in steps}
    assert all(step.observed != step.green for step in steps if step.green)


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("domain: str | None = None,", "domain: Optional[str] = None,"),
        ("path: str | None = None,", ""),
        ("    total += 1", ""),
    ],
)
def test_what_a_statement_was_is_not_what_its_neighbour_was(text: str, before: str) -> None:
    patch = (
        "@@ -1,2 +1,2 @@\n-domain: Optional[str] = None,\n-samesite=None, path='/',\n"
        "+domain: str | None = None,\n+path: str | None = None,\n"
    )
    assert was(replace(change(1, "f.py"), patch=patch), text) == before


def test_a_part_of_a_longer_statement_is_told_with_the_whole_of_it() -> None:
    altered = replace(change(1, "f.py"), patch="-    name.lower(),\n+    name.upper(),")
    assert was(altered, "return found(name.upper(), 3)") == "return found(name.lower(), 3)"


def test_no_bracket_stands_for_a_change() -> None:
    altered = replace(change(1, "f.py"), patch="+    found = {\n+        1: 2,\n+    }")
    assert not_linked(altered).text == "found = {1: 2}"


def test_a_macro_that_no_way_leads_to_is_told_by_its_text() -> None:
    assert not_linked(replace(change(1, "f.h"), patch="+#define SIZE 3")).text == "#define SIZE 3"


def test_a_block_that_no_way_leads_to_is_told_by_its_first_statement_on_that_one_s_line() -> None:
    """A block of 39 lines was told as ``747 raise e``: its first line's number with its last statement."""
    lines = ["# restore what was set", "restore()", "for each in found:", "    raise each"]
    patch = "\n".join(f"+    {line}" for line in lines)
    altered = replace(change(1, "f.py"), new=LineSpan(747, 4), patch=patch)
    told = not_linked(altered)
    assert (told.line, told.text) == (748, "restore()")


def test_instances_that_did_the_same_are_told_once() -> None:
    run = Recorded()
    first = run.assign(1, "x", 5, green=7, changes=["c1"], line=1)
    second = run.assign(2, "y", first, green=7, line=2)
    third = run.assign(3, "y", second, green=7, line=2)
    run.fail(4, compare(Op.EQ, third, 7))
    told = list(_steps(_told(aligned(run), "c1").tree))
    assert [step.target for step in told] == ["y", "x"]
