"""The byte at which the outputs of two runs depart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import pytest

from afterd.compare.c.outputs import departures
from afterd.trace.c.window.recording import Recording, Written


@dataclass(frozen=True)
class _Log:
    """The part of a recording that tells what a process wrote."""

    written: tuple[bytes, ...]
    end: int = 1000

    def output(self) -> list[Written]:
        return [Written(number, 1, data) for number, data in enumerate(self.written)]

    def repeated(self) -> list[Written]:
        return self.output()


@pytest.mark.parametrize(
    ("bad", "green", "at"),
    [
        ([b"a 1\nb 2\n"], [b"a 1\nb 3\n"], [(6, 6)]),
        (  # md4c: a whole document is one buffer; "<li>" and "foo" stand on one line, and on two
            [b"<ul>\n<li><p>foo</p>\n</li>\n</ul>\n"],
            [b"<ul>\n<li></li>\n</ul>\n<p>foo</p>\n"],
            [(10, 10), (21, 6), (0, 21)],
        ),
        # a line too many that begins as the next one does departs where it is unlike it
        ([b"x one\n", b"x two\n"], [b"x two\n"], [(2, 2)]),
        # and one that another line follows which is like nothing of it, where it begins
        ([b"noise\n", b"x two\n"], [b"x two\n"], [(0, 0)]),
        # a line is there twice: the second one is too many
        ([b"x\n", b"x\n", b"y\n"], [b"x\n", b"y\n"], [(0, 0)]),
        ([b"x\n"], [b"x\n", b"x more\n"], [(0, 0)]),
    ],
)
def test_outputs_depart_at_a_byte_that_differs(
    bad: list[bytes], green: list[bytes], at: list[tuple[int, int]]
) -> None:
    runs = (cast("Recording", _Log(tuple(each))) for each in (bad, green))
    found = departures(*runs)
    assert [(each.offset, each.green_offset) for each in found] == at
