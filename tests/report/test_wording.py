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


RED = Explanation(
    id=7, test="t", status=Status.ALREADY_RED, range=RevisionRange("a" * 40, "b" * 40)
)


def test_a_new_test_was_not_already_red() -> None:
    """Its headline said so, above "This test is new", and advised an older version to compare with."""
    new = replace(RED, reason=f"This test is new: {NO_GREEN}.")
    assert "".join(str(getattr(part, "text", part)) for part in headline(new)) == (
        "t has no green to be compared with at aaaaaaaaaa"
    )
    assert not any("--good" in command for command, _ in next_steps(new))
    old = replace(new, reason=f"It fails {ALWAYS_RED}.")
    assert not any("--good" in command for command, _ in next_steps(old)), "there is none to name"


def test_what_afterd_wrote_itself_to_build_with_is_not_to_be_typed() -> None:
    """Of a package the advice was a script of 1,500 characters (jsdiff)."""
    found = replace(
        RED,
        test="the test suite",
        build_command=("sh", "-c", "set -e\nnpm ci"),
        test_command=("npm", "test"),
    )
    again = "afterd explain aaaaaaaaaa..bbbbbbbbbb --good REV"
    assert next_steps(found)[0][0] == again
    one = replace(found, test="tests.test_a.T.test_b")
    assert next_steps(one)[0][0] == f"{again} --test tests.test_a.T.test_b"
    for name in ("a.js > it's", r"Some\Where\SumTest::testSum[#1]", "pkg TestSum"):
        assert next_steps(replace(found, test=name))[0][0] == again, "no name that --test takes"
    typed = replace(found, build_command=("sh", "-c", "make all"))
    assert next_steps(typed)[0][0] == f"{again} --build 'make all' --test 'npm test'"
