"""Reading the trace files that ``runtime/tracefile.py`` writes."""

from __future__ import annotations

import json
from array import array
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

from afterd.errors import TraceError

Recorded = Any  # None, bool, int, float, str, bytes, or a tuple that starts with its tag


@dataclass(frozen=True, slots=True)
class RowSpan:
    """Rows kept without a gap: ``first`` is the number of the first one."""

    first: int
    sites: Sequence[int]
    values: Sequence[int]
    frames: tuple[tuple[int, int, int], ...]  # open before it: site, address, row of ENTER


@dataclass(frozen=True, slots=True)
class Origin:
    """From the row ``first`` on, rows are of the process ``process``, in which the first of them is number ``own``."""

    first: int
    process: int
    own: int


@dataclass(frozen=True, slots=True)
class Raw:
    """A trace: of one process as written, or of several that were put together (``origins``)."""

    path: Path
    header: dict[str, Any]
    spans: tuple[RowSpan, ...]
    values: tuple[Recorded, ...]
    origins: tuple[Origin, ...] = (Origin(0, 0, 0),)

    @property
    def total(self) -> int:
        """All rows that were written, kept or not."""
        return int(self.header["total"])

    def origin(self, row: int) -> tuple[int, int]:
        """The process that wrote a row, and the number that the row has there."""
        found = self.origins[bisect_right(self.origins, row, key=attrgetter("first")) - 1]
        return found.process, found.own + row - found.first

    @property
    def kept(self) -> int:
        """Rows that are here."""
        return sum(len(span.sites) for span in self.spans)


def read(header_path: Path) -> Raw:
    """The trace with this header; raises TraceError for a file that is not one of ours."""
    try:
        header = json.loads(header_path.read_text(encoding="utf-8"))
        rows = array("q")
        with header_path.with_suffix(".rows").open("rb") as file:
            rows.frombytes(file.read())
        spans = tuple(_spans(header["chunks"], rows))
        values = tuple(_decoded_value(value) for value in header["values"])
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise TraceError(f"The trace {header_path} cannot be read: {error}.") from error
    return Raw(header_path, header, spans, values)


def _spans(chunks: list[Any], rows: array[int]) -> list[RowSpan]:
    spans = []
    offset = 0
    for first, count, frames in chunks:
        sites = rows[offset : offset + count]
        values = rows[offset + count : offset + 2 * count]
        offset += 2 * count
        spans.append(RowSpan(first, sites, values, tuple(tuple(frame) for frame in frames)))
    if offset != len(rows):
        raise ValueError(f"{len(rows)} words where {offset} were announced")
    return spans


def _decoded_value(value: Recorded) -> Recorded:
    if not isinstance(value, list):
        return value
    if value[:1] == ["f"]:
        return float(value[1])
    if value[:1] == ["b"]:
        return value[1].encode("latin-1")
    return tuple(_decoded_value(item) for item in value)
