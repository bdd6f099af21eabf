"""The index of stores answers as a look at every record would."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from hypothesis import given
from hypothesis import strategies as st

from afterd.trace.c.window import records
from afterd.trace.c.window.segment_search import REACH, StoreIndex, overlaps

_WIDTHS = (1, 2, 4, 8, 10, 16, 32, REACH)
_NEAR_EACH_OTHER = st.integers(0, 200) | st.integers(0, 200).map(lambda at: at + (1 << 24))
_STORES = st.tuples(st.just(records.STORE), _NEAR_EACH_OTHER, st.sampled_from(_WIDTHS))
_OTHERS = st.tuples(st.sampled_from((records.LOAD, records.COPY)), _NEAR_EACH_OTHER, st.just(8))


def words(found: list[tuple[int, int, int]]) -> npt.NDArray[np.uint64]:
    """The first words of records, from their tag, address and width."""
    return np.array(
        [records.addressed_tag_word(tag, size) | at for tag, at, size in found], np.uint64
    )


def looked_for(found: list[tuple[int, int, int]], before: int, address: int, size: int) -> int:
    """The same by a look at every record."""
    for number in reversed(range(min(before, len(found)))):
        tag, at, width = found[number]
        if tag == records.STORE and at < address + size and address < at + width:
            return number
    return -1


@given(
    st.lists(_STORES | _OTHERS, min_size=1, max_size=300),
    st.lists(st.tuples(st.integers(0, 300), _NEAR_EACH_OTHER, st.integers(1, 100)), min_size=1),
)
def test_the_last_store_is_found(
    found: list[tuple[int, int, int]], questions: list[tuple[int, int, int]]
) -> None:
    index = StoreIndex(words(found))
    for before, address, size in questions:
        assert index.last(before, address, size) == looked_for(found, before, address, size)


def test_a_bucket_full_of_neighbours_is_walked_to_the_one_that_overlaps() -> None:
    found = [(records.STORE, 96, 4)] + [(records.STORE, 100, 4)] * 5000
    assert StoreIndex(words(found)).last(len(found), 98, 2) == 0


@given(st.integers(0, 100), st.integers(1, REACH), st.integers(0, 100), st.integers(1, 100))
def test_overlapping_is_sharing_a_byte(at: int, width: int, address: int, size: int) -> None:
    shared = set(range(at, at + width)) & set(range(address, address + size))
    assert overlaps(words([(records.STORE, at, width)]), address, size).tolist() == [bool(shared)]
