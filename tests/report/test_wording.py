"""How sentences name several things."""

from __future__ import annotations

from dataclasses import replace

import pytest

from afterd.model.explanation import ALWAYS_RED, NO_GREEN, Explanation, RevisionRange, Status
from afterd.model.wording import first_names
from afterd.report.summary import headline, next_steps


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ([], ""),
        (["a"], "a"),
        (["a", "b", "c"], "a, b, c"),
        (["a", "b", "c", "d"], "a, b, c and 1 more"),
        (["a"] * 2_003, "a, a, a and 2,000 more"),
    ],
)
def test_the_first_few_and_how_many_more(names: list[str], said: str) -> None:
    assert first_names(names, 3) == said


def test_a_new_test_was_not_already_red() -> None:
    """Its headline said so, above "This test is new", and advised an older version to compare with."""
    new = Explanation(
        id=7,
        test="t",
        status=Status.ALREADY_RED,
        range=RevisionRange("a" * 40, "b" * 40),
        reason=f"This test is new: {NO_GREEN}.",
    )
    assert "".join(str(getattr(part, "text", part)) for part in headline(new)) == (
        "t has no green to be compared with at aaaaaaaaaa"
    )
    assert not any("--good" in command for command, _ in next_steps(new))
    old = replace(new, reason=f"It fails {ALWAYS_RED}.")
    assert not any("--good" in command for command, _ in next_steps(old)), "there is none to name"
