"""How sentences name several things."""

from __future__ import annotations

import pytest

from afterd.model.wording import first_names


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
