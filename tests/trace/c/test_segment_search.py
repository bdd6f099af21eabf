"""A search of a segment answers as a look at every record would, near and far."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterd.trace.c.window import records, segment_search
from afterd.trace.c.window import segment as llvm_segment
from afterd.trace.c.window.segment import segment
from afterd.trace.c.window.segment_search import SegmentSearch

_IDENTITY = records.TAG | records.ID_MASK << records.ID_SHIFT
_MASKS = {
    "whole": (1 << 64) - 1,
    "id": _IDENTITY,
    "block": records.ANY_BLOCK | records.ID_MASK << records.ID_SHIFT,
    "depth": records.TAG | records.DEPTH_MASK,
    "block at a depth": records.ANY_BLOCK | records.DEPTH_MASK,
    "tag": records.TAG,
}
_IDENTIFIED = st.builds(
    lambda tag, number, depth: records.identified_tag_word(tag, number) | depth,
    st.sampled_from([records.LSTORE, records.CALL, records.BLOCK, records.ENTER]),
    st.integers(0, 3) | st.integers(0, 3).map(lambda number: number << 16),
    st.integers(1, 3),
)
_ADDRESSED = st.builds(
    lambda tag, at: records.addressed_tag_word(tag, 8) | at,
    st.sampled_from([records.LOAD, records.STORE]),
    st.integers(0, 64),
)
_WORDS = st.lists(_IDENTIFIED | _ADDRESSED, min_size=1, max_size=200)


@pytest.fixture(autouse=True, scope="module")
def _everything_is_far() -> Iterator[None]:
    """Five records are looked through; all others are looked up."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(segment_search, "_NEARBY", 5)
        patched.setattr(segment_search, "_FIRST_CHUNK", 5)
        yield


@pytest.mark.parametrize("name", _MASKS)
@given(words=_WORDS, first=st.integers(0, 9), data=st.data())
def test_records_are_found_by_id_and_by_depth(
    name: str, words: list[int], first: int, data: st.DataObject
) -> None:
    mask = _MASKS[name]
    wanted = data.draw(_IDENTIFIED) & mask
    low, high = sorted(data.draw(st.tuples(*[st.integers(first, first + len(words))] * 2)))
    interleaved = np.array([word for each in words for word in (each, 0)], np.uint64)
    search = SegmentSearch(segment(first, interleaved))
    expected = [at + first for at, word in enumerate(words) if word & mask == wanted]
    inside = [at for at in expected if low <= at < high]
    assert search.last(high, low, mask, wanted) == max(inside, default=-1)
    assert search.next(low, high, mask, wanted) == min(inside, default=-1)
    assert search.all(low, high, mask, wanted).tolist() == inside


@given(words=st.lists(_IDENTIFIED | _ADDRESSED, max_size=60), part=st.integers(1, 9))
def test_a_record_is_at_its_own_depth_or_at_that_before_it(words: list[int], part: int) -> None:
    def depth(word: int) -> int | None:
        addressed = records.LOAD <= word >> records.TAG_SHIFT <= records.LENGTH
        return None if addressed else word & records.DEPTH_MASK

    own = [depth(word) for word in words]
    first = next((at for at in own if at is not None), 0)
    expected, latest = [], first
    for at in own:
        latest = latest if at is None else at
        expected.append(latest)
    interleaved = np.array([word for each in words for word in (each, 0)], np.uint64)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(llvm_segment, "PART", part)
        assert segment(0, interleaved).depth.tolist() == expected


def test_what_an_index_is_made_of_already_is_hardly_looked_through(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """131,072 records were looked through before each of re2c's look-ups, and took longer than it."""
    monkeypatch.setattr(segment_search, "_NEARBY", 10_000)
    block, store = (
        records.identified_tag_word(records.BLOCK, 3) | 1,
        records.addressed_tag_word(records.STORE, 8) | 64,
    )
    other = records.identified_tag_word(records.LSTORE, 1) | 1
    words = np.full(2 * 100_000, other, np.uint64)
    words[0], words[2] = block, store
    search = SegmentSearch(segment(0, words))

    def asked() -> int:
        before = search.looked_through
        assert search.last(100_000, 0, _MASKS["id"], block & _MASKS["id"]) == 0
        assert search.last_write(100_000, 64, 8) == 1
        assert search.next(10, 100_000, _MASKS["id"], block & _MASKS["id"]) == -1
        return search.looked_through - before

    assert asked() > 3 * 10_000
    assert asked() == 3 * 5
