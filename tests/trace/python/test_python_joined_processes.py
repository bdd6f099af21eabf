"""Processes put together: each row is still that of its process, and no object of one is taken for another's."""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from afterd.trace.python.read.processes import UNFOLLOWED, joined_processes
from afterd.trace.python.read.tracefile import Raw, RowSpan
from afterd.trace.python.read.values import identity
from afterd.trace.python.record.rows import Kind, site

HEADER: dict[str, Any] = {
    "forked": False,
    "modules": [],
    "refused": {},
    "failures": [],
    "tests": [],
    "texts": {},
}


def process(
    pid: int, above: list[int], rows: int, started: list[tuple[int, int]], **more: object
) -> Raw:
    """A trace of a process whose rows are numbers, but for an object at one address in each."""
    values = (("o", 4096, 0, pid), *range(rows))
    sites = array("q", (site(1, pid, Kind.VALUE) for _ in range(rows)))
    numbers = array("q", (0 if row == 0 else row + 1 for row in range(rows)))
    header = HEADER | {
        "pid": pid, "ancestors": above, "started": started, "total": rows, "clock": [pid, pid, 0],
        "types": [["tool", "Thing", 8192, [8192, 16]]], "threads": 0, "notes": [], "replaced": False, **more,
    }  # fmt: skip
    return Raw(Path(f"trace-{pid}.json"), header, (RowSpan(0, sites, numbers, ()),), values)


def written_by(raw: Raw) -> list[tuple[int, int]]:
    """By row, the process whose it is (which the sites tell here), and its number there."""
    (span,) = raw.spans
    nodes = [each >> 4 & 0xFFFFF for each in span.sites]
    values = [raw.values[number] for number in span.values]
    return [
        (node, 0 if isinstance(value, tuple) else value)
        for node, value in zip(nodes, values, strict=True)
    ]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 6)), max_size=5))
def test_each_row_is_its_process_s(starts: list[tuple[int, int]]) -> None:
    """In whatever order processes are begun, and at whatever rows: none is lost, and all can be told apart."""
    begun = [(place + 11, row, size) for place, (row, size) in enumerate(starts)]
    outer = process(10, [1], 9, [(pid, row) for pid, row, _ in begun])
    children = [process(pid, [10, 1], size, []) for pid, _, size in begun]
    traces = [outer, *children]
    (whole,) = joined_processes(traces)
    rows = written_by(whole)
    assert whole.total == len(rows) == 9 + sum(size for _, size in starts)
    for row, (pid, own) in enumerate(rows):
        place, number = whole.origin(row)
        assert (traces[place].header["pid"], number) == (pid, own)
    for pid, row, size in begun:
        before = [each for each in rows[: rows.index((pid, 0))] if each[0] == 10] if size else []
        assert not size or len(before) == row
    objects = {identity(value) for value in whole.values} - {None}
    assert len(objects) == len(traces)
    assert not whole.header["notes"]


def test_below_a_shell_and_below_another_child() -> None:
    """The nearest ancestor that was recorded counts; what it started, and was not recorded, is said."""
    outer = process(10, [1], 5, [(11, 2), (20, 4)])
    inner = process(12, [11, 10, 1], 3, [(13, 1)], failures=[{"row": 2, "test": ""}])
    innermost = process(13, [12, 11, 10, 1], 2, [], failures=[{"row": 1, "test": ""}])
    (whole,) = joined_processes([outer, innermost, inner])
    assert [pid for pid, _ in written_by(whole)] == [10, 10, 12, 13, 13, 12, 12, 10, 10, 10]
    assert [failure["row"] for failure in whole.header["failures"]] == [2 + 2 + 2]
    assert whole.header["notes"] == [UNFOLLOWED]


def test_a_fork_has_the_objects_that_it_was_left_with() -> None:
    """They are the same objects, of the same types; of a fork whose start is not known nothing is told."""
    outer = process(10, [1], 3, [(11, 1)])
    fork = process(11, [10, 1], 2, [], forked=True)
    (whole,) = joined_processes([outer, fork])
    assert len({identity(value) for value in whole.values} - {None}) == 1
    assert len(whole.header["types"]) == 1
    assert joined_processes([process(10, [1], 3, []), fork]) == (
        joined_processes([process(10, [1], 3, [])])
    )


def test_a_class_that_was_made_twice_at_one_address_keeps_both_numbers() -> None:
    """The table of a process is as it was: two rows of it may be the same, and values name them by number."""
    twice = [["tool", "Thing", 8192, [8192, 16]]] * 2
    outer = process(10, [1], 3, [(11, 1)], types=twice)
    (whole,) = joined_processes([outer, process(11, [10, 1], 2, [], types=twice)])
    assert [row[2] % (1 << 64) for row in whole.header["types"]] == [8192, 8192, 8192]


def test_what_the_window_cut_stays_by_itself() -> None:
    """Its rows have gaps, and numbers that would be others' here."""
    cut = process(11, [10, 1], 2, [], total=90)
    assert len(joined_processes([process(10, [1], 3, [(11, 1)]), cut])) == 2
