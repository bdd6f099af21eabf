"""Files that are no text, place by place, and piece by piece."""

from __future__ import annotations

import pytest

from afterd.compare.c.binary import differing_places, event_pairs
from afterd.limits import C_PAIR
from afterd.trace.c.window.recording import Written


@pytest.mark.parametrize(
    ("other", "again", "places"),
    [
        (b"ABcdefgh", b"", [(0, 2)]),
        (b"abCdeFgh", b"", [(2, 3), (5, 6)]),
        (b"ABcdefgH", b"XYcdefgh", [(7, 8)]),
        (b"ABCdefgh", b"XbZdefgh", []),  # what was drawn anew is by chance as it was
        (b"abcdefgH", b"abcdefghi", [(7, 8)]),  # as long as neither
        (b"abcdefgh", b"", []),
    ],
)
def test_where_other_bytes_stand(other: bytes, again: bytes, places: list[tuple[int, int]]) -> None:
    found = differing_places(b"abcdefgh", other, again)
    assert [(place.start, place.stop) for place in found] == places


def test_of_a_file_that_is_another_one_throughout_no_more_places_are_told_than_are_looked_at() -> (
    None
):
    assert len(differing_places(bytes(4_000), b"\0\1" * 2_000, b"")) == C_PAIR.departures


@pytest.mark.parametrize(
    ("mine", "others", "pairs"),
    [
        ([4, 8, 2], [4, 8, 2], [4, 8, 2]),
        ([4, 2, 2, 8], [4, 4, 8], [4, 4, None, 8]),
        ([4, 8], [8], [None, 8]),
        ([9, 8], [7, 8, 5], [7, 8]),
    ],
)
def test_a_piece_stands_beside_the_piece_that_is_as_long(
    mine: list[int], others: list[int], pairs: list[int | None]
) -> None:
    here, there = ([Written(0, 3, bytes(size)) for size in sizes] for sizes in (mine, others))
    found = list(event_pairs(here, there))
    assert [event for event, _ in found] == here
    assert [None if other is None else len(other.data) for _, other in found] == pairs
