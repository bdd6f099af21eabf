"""Matched, partial, missed: the rule, case by case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterd.bench.judgement import Answer, MarkedTarget, SpanTarget, Verdict, judge
from afterd.model.change import Change, ChangeForm
from afterd.model.location import LineSpan
from afterd.vcs.sample import Marker

Lines = tuple[int, int]


def change(old: Lines, new: Lines, file: str = "f.c", patch: str = "") -> Change:
    return Change("c1", file, file, LineSpan(*old), LineSpan(*new), patch=patch)


def span(old: Lines, new: Lines, file: str = "f.c") -> SpanTarget:
    return SpanTarget(file, LineSpan(*old), LineSpan(*new))


REPLACED = span((10, 2), (12, 3))
ADDED = span((20, 0), (23, 4))
REMOVED = span((30, 2), (36, 0))


@pytest.mark.parametrize(
    ("target", "old", "new", "meant"),
    [
        (REPLACED, (10, 2), (12, 3), True),
        (REPLACED, (11, 1), (13, 0), True),  # a part that was split off
        (REPLACED, (11, 0), (14, 1), True),
        (REPLACED, (12, 1), (15, 1), False),  # the hunk right after it
        (REPLACED, (9, 1), (11, 1), False),
        (ADDED, (20, 0), (23, 4), True),
        (ADDED, (20, 0), (24, 1), True),
        (ADDED, (20, 1), (22, 1), False),  # shares the gap, not a line
        (REMOVED, (31, 1), (36, 0), True),
        (REMOVED, (29, 1), (36, 1), False),
    ],
)
def test_a_hunk_means_its_parts(target: SpanTarget, old: Lines, new: Lines, *, meant: bool) -> None:
    assert target.means(change(old, new)) is meant
    assert not target.means(change(old, new, file="g.c"))


@given(
    st.integers(1, 50),
    st.integers(0, 5),
    st.integers(1, 50),
    st.integers(0, 5),
    st.data(),
)
def test_every_part_of_a_hunk_is_meant(
    old: int, old_count: int, new: int, new_count: int, data: st.DataObject
) -> None:
    whole = span((old, old_count), (new, new_count))
    lines = [("old", old + i) for i in range(old_count)]
    lines += [("new", new + i) for i in range(new_count)]
    if not lines:
        return
    side, line = data.draw(st.sampled_from(lines))
    part = change((line, 1), (new, 0)) if side == "old" else change((old, 0), (line, 1))
    assert whole.means(part)


def test_a_renamed_file_is_known_by_either_name() -> None:
    renamed = Change("c1", "new.c", "f.c", LineSpan(10, 1), LineSpan(12, 1))
    assert REPLACED.means(renamed)


def test_a_mark_is_the_text_of_the_change() -> None:
    target = MarkedTarget(Marker("f.c", "x < y"))
    assert target.means(change((5, 1), (5, 1), patch="@@ -5 +5 @@\n-if (x > y)\n+if (x < y)\n"))
    assert not target.means(change((5, 1), (5, 1), patch="@@ -5 +5 @@\n-if (x < y)\n+if (x)\n"))


ROOT = change((10, 2), (12, 3))
OTHER = change((20, 0), (23, 4))
FOREIGN = change((99, 1), (99, 1))
BOTH: Answer = (REPLACED, ADDED)


def test_a_file_taken_whole_is_too_much() -> None:
    """The guilty lines are in it, and everything else that changed in the file."""
    whole = replace(ROOT, form=ChangeForm.WHOLE, old=LineSpan(0, 0), new=LineSpan(0, 0))
    assert judge([whole], [(REPLACED,)], repairs=True) is Verdict.PARTIAL
    assert (
        judge([replace(whole, form=ChangeForm.ADDED)], [(ADDED,)], repairs=True) is Verdict.MATCHED
    )
    mode = replace(whole, form=ChangeForm.MODE)
    assert judge([mode], [(REPLACED,)], repairs=True) is Verdict.MISSED


@pytest.mark.parametrize(
    ("reported", "answers", "repairs", "verdict"),
    [
        ([ROOT, OTHER], [BOTH], True, Verdict.MATCHED),
        (
            [change((10, 1), (12, 1)), change((11, 1), (13, 2)), OTHER],
            [BOTH],
            True,
            Verdict.MATCHED,
        ),
        ([OTHER], [(REPLACED,), (ADDED,)], True, Verdict.MATCHED),  # an alternative
        ([ROOT], [BOTH], True, Verdict.PARTIAL),
        ([ROOT, OTHER, FOREIGN], [BOTH], True, Verdict.PARTIAL),
        ([ROOT, OTHER], [(REPLACED,), (ADDED,)], True, Verdict.PARTIAL),  # one was enough
        ([FOREIGN], [BOTH], True, Verdict.MISSED),  # dodges the failure
        ([ROOT, OTHER], [BOTH], False, Verdict.MISSED),  # was not seen to repair it
        ([], [BOTH], True, Verdict.MISSED),
    ],
)
def test_the_three_categories(
    reported: Sequence[Change], answers: Sequence[Answer], verdict: Verdict, *, repairs: bool
) -> None:
    assert judge(reported, answers, repairs=repairs) is verdict
