"""Where the changes between two variants stand in each, against the variants' own text."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from python_pairs import changes_of

from afterd.compare.pair import Pair, Runs, differences
from afterd.model.change import NOTHING, Change, ChangeForm, ChangeSet
from afterd.model.location import LineSpan
from afterd.model.trace import TwinExecution

_LINES = st.lists(st.sampled_from("abcdef"), max_size=12)
_FILE = "f.c"


def _variant(
    good: list[str], bad: list[str], changes: tuple[Change, ...], undone: ChangeSet
) -> list[str]:
    """The bad version's lines without some changes, put together from the end."""
    lines = list(bad)
    for change in sorted(changes, key=lambda each: each.new.start, reverse=True):
        if change.id in undone:
            first = change.new.start - 1 if change.new.count else change.new.start
            old = change.old.start - 1 if change.old.count else change.old.start
            lines[first : first + change.new.count] = good[old : old + change.old.count]
    return lines


def _at(lines: list[str], span: LineSpan) -> list[str]:
    first = span.start - 1 if span.count else span.start
    return lines[first : first + span.count]


@given(_LINES, _LINES, st.data())
def test_two_variants_are_alike_but_for_their_differences(
    good: list[str], bad: list[str], data: st.DataObject
) -> None:
    """Outside of what is said to differ, line by line; so the spans are where the differences are."""
    text = ["\n".join(lines) + "\n" if lines else "" for lines in (good, bad)]
    changes = changes_of({_FILE: text[0]}, {_FILE: text[1]})
    ids = (
        st.frozensets(st.sampled_from([each.id for each in changes]))
        if changes
        else st.just(NOTHING)
    )
    mine, other = data.draw(ids), data.draw(ids)
    here, there = (_variant(good, bad, changes, undone) for undone in (mine, other))
    found = differences(changes, mine, other)
    assert {each.id for each in found} == mine ^ other
    original = {each.id: each for each in changes}
    for each in found:
        old, new = _at(good, original[each.id].old), _at(bad, original[each.id].new)
        assert _at(here, each.new) == (old if each.id in mine else new)
        assert _at(there, each.old) == (old if each.id in other else new)
    for lines, spans in ((here, [e.new for e in found]), (there, [e.old for e in found])):
        for span in sorted(spans, key=lambda span: span.start, reverse=True):
            first = span.start - 1 if span.count else span.start
            del lines[first : first + span.count]
    assert here == there


def test_a_renamed_file_has_each_variant_s_own_path() -> None:
    moved = Change("c1", "new.c", "old.c", LineSpan(0, 0), LineSpan(0, 0), ChangeForm.RENAMED)
    hunk = Change("c2", "new.c", "old.c", LineSpan(3, 1), LineSpan(3, 1))
    (twin,) = differences((moved, hunk), NOTHING, frozenset({"c2"}))
    assert (twin.file, twin.old_file) == ("new.c", "new.c")
    both = differences((moved, hunk), NOTHING, frozenset({"c1", "c2"}))
    assert [(each.file, each.old_file) for each in both] == [("new.c", "old.c")] * 2


@pytest.mark.parametrize(
    ("form", "turned"),
    [(ChangeForm.ADDED, ChangeForm.DELETED), (ChangeForm.DELETED, ChangeForm.ADDED)],
)
def test_what_mine_is_without_stands_the_other_way_round(
    form: ChangeForm, turned: ChangeForm
) -> None:
    whole = Change("c1", "f.c", "f.c", LineSpan(0, 0), LineSpan(0, 0), form)
    (back,) = differences([whole], frozenset({"c1"}), NOTHING)
    assert back == replace(whole, form=turned)


class _Meeting:
    """A tracer whose runs wait for one another."""

    def __init__(self) -> None:
        self.barrier = threading.Barrier(2, timeout=10)

    def record(self, variant: ChangeSet) -> ChangeSet:
        self.barrier.wait()
        return variant

    def execution(self, pair: Pair[ChangeSet]) -> TwinExecution:
        raise NotImplementedError


def test_both_runs_of_a_pair_are_recorded_side_by_side_where_there_are_two_workers() -> None:
    everything = frozenset({"c1"})
    runs = Runs(_Meeting(), (), width=2)
    pair = runs.pair(NOTHING, everything)
    assert (pair.mine, pair.other) == (NOTHING, everything)
    assert runs.run(everything) == everything  # it was recorded: nobody would come to meet it
