"""Every second of an explanation belongs to one phase."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterd.workspace.phases import Phase, PhaseClock, Spent

STEPS = st.lists(st.tuples(st.sampled_from(Phase), st.integers(0, 9)), max_size=8)


def clock_of(times: Iterator[int]) -> PhaseClock:
    return PhaseClock(lambda: float(next(times)), lambda: 0.0)


def test_what_is_within_a_phase_is_not_counted_for_the_outer_one() -> None:
    clock = clock_of(iter([0, 1, 3, 7, 8, 10]))
    with clock.during(Phase.COMPARE), clock.during(Phase.RUN):
        pass
    assert clock.spent() == {
        Phase.RANGE: Spent(1.0 + 2.0),
        Phase.COMPARE: Spent(2.0 + 1.0),
        Phase.RUN: Spent(4.0),
    }
    assert clock.total() == Spent(10.0)


def test_a_phase_ends_where_it_is_left_by_an_error() -> None:
    clock = clock_of(iter([0, 1, 5, 6]))
    with pytest.raises(ValueError, match="no"), clock.during(Phase.SOLVE):
        raise ValueError("no")
    assert clock.spent()[Phase.SOLVE] == Spent(4.0)


@given(STEPS)
def test_the_phases_add_up_to_the_total(steps: list[tuple[Phase, int]]) -> None:
    times = [0, *accumulate(x for _, seconds in steps for x in (seconds, 1))]
    clock = clock_of(iter([*times, times[-1]]))
    for phase, _ in steps:
        clock.over(phase, lambda: None)()
    assert sum(spent.seconds for spent in clock.spent().values()) == clock.total().seconds
