"""Which variants are recorded for why they fail otherwise."""

from __future__ import annotations

import pytest

from afterd.causality.further import Further
from afterd.limits import SEARCH
from afterd.model.change import NOTHING, ChangeSet

WORTH = frozenset({"c1"}), frozenset({"c2"}), frozenset({"c3"})
MANY = frozenset(f"c{number}" for number in range(1, SEARCH.put_back + 2))


@pytest.mark.parametrize(
    ("reverted", "told", "clash"),
    [
        ("c1", NOTHING, {"c9"}),
        ("c1", frozenset({"c5"}), {"c5"}),  # the failure says it
        ("c7", NOTHING, NOTHING),  # it is not worth a recording
    ],
)
def test_what_another_failure_leads_to_is_undone_as_well(
    reverted: str, told: ChangeSet, clash: ChangeSet
) -> None:
    further = Further(lambda _: told, WORTH.__contains__, lambda _: frozenset({"c9"}))
    assert further.clashing(frozenset({reverted})) == clash


def test_few_are_recorded_and_each_once() -> None:
    recorded: list[ChangeSet] = []

    def led_to(reverted: ChangeSet) -> ChangeSet:
        recorded.append(reverted)
        return frozenset({"c9"})

    further = Further(lambda _: NOTHING, lambda _: True, led_to)
    found = [further.clashing(each) for each in (MANY, *WORTH[:2], *WORTH)]
    assert recorded == [*WORTH[: SEARCH.otherwise]]
    assert found == [NOTHING, *[{"c9"}] * 4, NOTHING]
    assert further.notes(WORTH[0] | {"c9", "c8"}) == [
        "Without c1 the test fails otherwise, for c9."
    ]
    assert not further.notes(WORTH[0]), "what it led to is not in the answer"
