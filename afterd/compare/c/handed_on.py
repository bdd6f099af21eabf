"""What a program of a test wrote otherwise and another one read: a file that the one made, a pipe between them.

Nobody follows bytes through the kernel. But what a program read, and green's did not, is what one that began before it,
or it itself, wrote where green's wrote what green's read: the bytes themselves say which.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from afterd.compare.c.outputs import Departure, departures
from afterd.limits import C_PAIR
from afterd.model.term import Concrete, Read, SortKind, Term, Value
from afterd.model.trace import GreenValue, StepKind
from afterd.trace.c.ir.recorded import callee
from afterd.trace.c.read import Process, Statement, StepIds, plain_name

_READS = frozenset(
    [
        *("read", "pread", "readv", "preadv", "recv", "fread", "fread_unlocked"),
        *("fgets", "getline", "getdelim"),
    ]
)
_READ_ONE = frozenset(["getc", "fgetc", "getchar", "_IO_getc", "getc_unlocked", "fgetc_unlocked"])
_ERROR = 2  # the descriptor of standard error, the last of those that a program begins with
Printed = Callable[[Process, Process, Departure], Sequence[Read]]
"""What the bytes of a departure were made of, in the run that is explained."""


@dataclass(frozen=True, slots=True)
class _Written:
    """Where a program wrote otherwise: the bytes of both runs' events, how many differ, and what it made them of."""

    process: int
    departure: Departure
    length: int
    reads: tuple[Read, ...]

    @property
    def moment(self) -> tuple[int, int]:
        """The process and its record, in the order in which both came: a program may read back what it wrote."""
        return self.process, self.departure.bad.position if self.departure.bad else -1

    def has(self, mine: bytes, other: bytes) -> bool:
        """Whether a program that read ``mine``, and ``other`` in green, may have read some of what differs."""
        here, there = self.departure.bad, self.departure.green
        if here is None or there is None:
            return False
        first, apart = self.departure.offset, self.departure.green_offset - self.departure.offset
        starts = range(max(0, first - len(mine) + 1, -apart), first + self.length)
        return any(
            here.data[at : at + len(mine)] == mine
            and there.data[at + apart : at + apart + len(other)] == other
            for at in starts
        )


class HandedOn:
    """Of the pairs of processes of a test what each may have had from what was written before."""

    def __init__(self, pairs: Sequence[tuple[Process, Process | None]], printed: Printed) -> None:
        self._pairs = pairs
        self._printed = printed
        self._known: tuple[_Written, ...] | None = None

    def term(self, statement: Statement, green: GreenValue) -> Term:
        """A statement's term; of a call that read what another program wrote otherwise, with what it was made of."""
        read = statement.term
        if statement.kind is not StepKind.OPAQUE or not isinstance(read, Concrete):
            return read
        size = _size_read(statement)
        mine, other = (_as_bytes(value, size) for value in (statement.value, green.value))
        if mine is None or other in {None, mine}:
            return read
        before = self._moment(statement)
        found = [
            written
            for written in self._written()
            if written.moment < before and written.has(mine, other)
        ]
        files = [written for written in found if written.departure.fd > _ERROR]
        made_of = (each for written in files or found for each in written.reads)
        return replace(read, reads=tuple(dict.fromkeys((*read.reads, *made_of))))

    def _moment(self, statement: Statement) -> tuple[int, int]:
        number = StepIds.process(statement.step)
        own = next(bad for bad, _ in self._pairs if bad.recording.number == number)
        return number, own.ids.position(statement.step)

    def _written(self) -> tuple[_Written, ...]:
        if self._known is None:
            self._known = tuple(self._departed())
        return self._known

    def _departed(self) -> Iterator[_Written]:
        for bad, green in self._pairs:
            if green is None:
                continue
            for departure in departures(bad.recording, green.recording)[: C_PAIR.departures]:
                made = tuple(self._printed(bad, green, departure))
                yield _Written(bad.recording.number, departure, _differing(departure), made)


def _size_read(statement: Statement) -> int:
    """How many bytes of a file or a pipe a call put where the statement is about, or gave; 0: it does not read one."""
    if statement.instance is None or statement.term.sort.kind is not SortKind.BITVEC:
        return 0
    name = plain_name(callee(statement.instance.instructions[statement.instruction]))
    if name in _READ_ONE:
        return 1
    return statement.term.sort.width // 8 if name in _READS else 0


def _as_bytes(value: Value, size: int) -> bytes | None:
    """A number that was read, as it stood in the file; None for one that did not."""
    if size and isinstance(value, int) and 0 <= value < 1 << 8 * size:
        return value.to_bytes(size, "little")
    return None


def _differing(departure: Departure) -> int:
    """How many bytes in a row differ, one at least."""
    if departure.bad is None or departure.green is None:
        return 1
    here = departure.bad.data[departure.offset :]
    there = departure.green.data[departure.green_offset :]
    alike = (n for n, (one, other) in enumerate(zip(here, there, strict=False)) if one == other)
    return max(1, next(alike, min(len(here), len(there))))
