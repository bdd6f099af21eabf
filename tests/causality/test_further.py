"""Which variants are recorded for what failed later in their test."""

from __future__ import annotations

import pytest

from afterd.causality.further import Further
from afterd.limits import SEARCH
from afterd.model.change import NOTHING, ChangeSet

CAME = frozenset({"c1"}), frozenset({"c2"}), frozenset({"c3"})
MANY = frozenset(f"c{number}" for number in range(1, SEARCH.put_back + 2))


@pytest.mark.parametrize(
    ("reverted", "told", "clash"),
    [
        ("c1", NOTHING, {"c9"}),
        ("c1", frozenset({"c5"}), {"c5"}),  # the failure says it
        ("c7", NOTHING, NOTHING),  # it failed no later
    ],
)
def test_what_a_later_failure_leads_to_is_undone_as_well(
    reverted: str, told: ChangeSet, clash: ChangeSet
) -> None:
    further = Further(lambda _: told, CAME.__contains__, lambda _: frozenset({"c9"}))
    assert further.clashing(frozenset({reverted})) == clash


def test_few_are_recorded_and_each_once() -> None:
    recorded: list[ChangeSet] = []

    def led_to(reverted: ChangeSet) -> ChangeSet:
        recorded.append(reverted)
        return frozenset({"c9"})

    further = Further(lambda _: NOTHING, lambda _: True, led_to)
    found = [further.clashing(each) for each in (MANY, *CAME[:2], *CAME)]
    assert recorded == [*CAME[: SEARCH.otherwise]]
    assert found == [NOTHING, *[{"c9"}] * 4, NOTHING]
    assert further.notes(CAME[0] | {"c9", "c8"}) == [
        "Without c1 the test comes further and fails otherwise, for c9."
    ]
    assert not further.notes(CAME[0]), "what it led to is not in the answer"
