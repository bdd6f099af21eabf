"""Lines of one version as lines of the other, against a walk over all hunks."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from afterd.model.change import Change
from afterd.model.location import LineSpan
from afterd.trace.linemap import LineMap

HUNKS = st.lists(st.tuples(st.integers(1, 4), st.integers(0, 3), st.integers(0, 3)), max_size=8)


def _changes(parts: list[tuple[int, int, int]]) -> list[Change]:
    """Hunks after some kept lines each: so many old lines, so many new ones."""
    changes: list[Change] = []
    old = new = 0
    for number, (kept, before, after) in enumerate(parts):
        old, new = old + kept, new + kept
        if before or after:
            spans = (
                LineSpan(old + 1 if before else old, before),
                LineSpan(new + 1 if after else new, after),
            )
            changes.append(Change(f"c{number}", "a.c", "a.c", *spans))
        old, new = old + before, new + after
    return changes


@given(HUNKS, st.integers(1, 40), st.integers(0, 5))
@settings(max_examples=300)
def test_a_line_is_where_the_hunks_before_it_put_it(
    parts: list[tuple[int, int, int]], line: int, more: int
) -> None:
    changes = _changes(parts)
    lines = LineMap(changes)
    within = [change for change in changes if change.new.covers(line)]
    before = [change for change in changes if change.new.end <= line and change not in within]
    if within:
        (change,) = within
        rank = min(line - change.new.start, max(change.old.count - 1, 0))
        expected = change.old.start + rank
    else:
        past = [c for c in before if c.new.count or c.new.start < line]
        expected = line + sum(c.old.count - c.new.count for c in past)
    assert lines.to_good("a.c", line) == ("a.c", expected)
    touched = tuple(
        c.id for c in changes if c.new.count and c.new.start <= line + more and line < c.new.end
    )
    assert lines.changes_in_bad("a.c", line, line + more) == touched
