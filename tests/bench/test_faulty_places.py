"""Which statements a faulty version is looked for at."""

from __future__ import annotations

import pytest

from afterd.bench.faulty_places import differing_lines, expanded_lines, places

GOLDEN = """\
# 1 "p.c"
enum kind { SMALL, LARGE = 40 };
static const int limits[] = {
    10,
    20,
};
int clamp(int value) {
    int most = 7;
    if (value > limits[1])
        value = LARGE;
    log_it(value);
    return value + most;
}
"""
EXECUTABLE = {("p.c", line) for line in (7, 8, 9, 10, 11)}


@pytest.mark.parametrize(
    ("old", "new", "wrong", "stands"),
    [
        ("value > limits", "value >= limits", {8}, {8}),
        ("    20,\n", "    30,\n", {4}, {2, 3, 4, 5, 8}),  # a table's entry: who reads the table
        ("LARGE = 40", "LARGE = 41", {1}, {1, 9}),  # an enumerator: who names it
        ("    log_it(value);\n", "\n", {9, 11}, {9, 11}),  # a deletion: what is around it
        ("int clamp(int value)", "int clamp(short value)", {6}, {6, 8, 9, 10, 11}),
    ],
)
def test_every_version_has_a_place(old: str, new: str, wrong: set[int], stands: set[int]) -> None:
    assert GOLDEN.count(old) == 1
    golden, faulty = expanded_lines(GOLDEN), expanded_lines(GOLDEN.replace(old, new))
    found = differing_lines(golden, faulty)
    assert {line for _, line in found} == wrong
    executable = EXECUTABLE & set(faulty)
    assert {line for _, line in places(found, faulty, executable)} == stands


def test_lines_that_only_moved_are_as_they_were() -> None:
    golden = expanded_lines(GOLDEN)
    assert not differing_lines(golden, expanded_lines(GOLDEN.replace("enum", "\n\nenum")))


SEARCH = """\
# 1 "p.c"
while (at < count) {
    if (wanted < found[at])
        break;
    if (seen[at])
        at += 2;
    {
        at++;
    }
}
"""


@pytest.mark.parametrize(
    ("gone", "around"),
    [
        ("    if (seen[at])\n        at += 2;\n", {2, 3, 6, 7}),  # behind a jump: its condition
        ("    if (wanted < found[at])\n        break;\n", {1, 4}),
        ("        at++;\n", {5, 6, 8, 9}),
    ],
)
def test_around_a_deletion_is_what_decides_something(gone: str, around: set[int]) -> None:
    faulty = expanded_lines(SEARCH.replace(gone, "\n" * gone.count("\n")))
    assert {line for _, line in differing_lines(expanded_lines(SEARCH), faulty)} == around
