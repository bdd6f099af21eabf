"""What a window says of tables that were read: where it is looked through a part at a time."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from afterd.compare.c.entries_read import _addresses_read
from afterd.trace.c.window import records
from afterd.trace.c.window.buckets import PART


@pytest.mark.parametrize("at", [0, PART - 2, PART - 1, PART])
def test_a_copy_is_read_whose_length_stands_in_the_next_part(at: int) -> None:
    """Its length is the record behind it, of which the last one of a part knew nothing."""
    table = SimpleNamespace(address=0x1000, size=64)
    a, b = np.zeros(PART + 2, np.uint64), np.zeros(PART + 2, np.uint64)
    a[at], b[at] = records.COPY << records.TAG_SHIFT, table.address + 8
    a[at + 1] = records.LENGTH << records.TAG_SHIFT | 4
    process: Any = SimpleNamespace(recording=SimpleNamespace(window=SimpleNamespace(a=a, b=b)))
    tables: Any = [table]
    assert _addresses_read(process, tables) == [0x1008, 0x1009, 0x100A, 0x100B]
