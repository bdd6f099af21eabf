"""Reading what counted processes left behind: a sparse file each, ``struct head`` of runtime.c first."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from afterd.model.entity import Invocation

Integers = NDArray[np.int64]

_HEAD = 4096
_MAGIC = 0x53544E554F434641


@dataclass(frozen=True, slots=True, eq=False)
class Process:
    """One counted process.

    ``counters`` are the numbers of the counters that are not 0 (from 0, in the build's order) and
    ``counts`` their values. ``signal`` is what the process died of, as far as it could tell (0: it did
    not, or SIGKILL). ``output`` is how many bytes the test had written when the process began,
    ``invocation`` how it was started.
    """

    counters: Integers
    counts: Integers
    signal: int
    output: int
    invocation: Invocation | None = None


def processes(directory: Path, bits: int) -> list[Process]:
    """The processes that counted into ``directory``, in the order in which they began."""
    files = sorted(directory.glob("*.counts"), key=lambda path: path.stat().st_ctime_ns)
    return [found for path in files if (found := _read(path, bits)) is not None]


def summed_counts(found: list[Process], size: int) -> Integers:
    """The counts of several processes together, of all ``size`` counters."""
    summed = np.zeros(size, np.int64)
    for process in found:
        summed[process.counters] += process.counts
    return summed


def _read(path: Path, bits: int) -> Process | None:
    """None for a process that was killed before its head was there."""
    kind = np.dtype(f"<u{bits // 8}")
    with path.open("rb") as file:
        head = np.frombuffer(file.read(40), "<u8")
        if head.size < 5 or int(head[0]) != _MAGIC:
            return None
        counters: list[Integers] = [np.zeros(0, np.int64)]
        counts: list[Integers] = [np.zeros(0, np.int64)]
        for start, stop in _written_stretches(file.fileno()):
            values = np.frombuffer(os.pread(file.fileno(), stop - start, start), kind)
            found = np.flatnonzero(values)
            counters.append(found + (start - _HEAD) // kind.itemsize)
            counts.append(values[found].astype(np.int64))
    return Process(
        np.concatenate(counters),
        np.concatenate(counts),
        int(head[1]),
        int(head[3]),
        _started_invocation(path),
    )


def _started_invocation(path: Path) -> Invocation | None:
    """What runtime.c noted of the command."""
    try:
        words = path.with_name(f"{path.name}.command").read_bytes().split(b"\0")
    except OSError:
        return None
    stdin, folder, *argv = (word.decode(errors="surrogateescape") for word in words[:-1])
    return Invocation(tuple(argv), stdin, folder) if argv else None


def _written_stretches(file: int) -> Iterator[tuple[int, int]]:
    """The stretches behind the head that are not holes; their ends are whole pages."""
    at, end = _HEAD, os.fstat(file).st_size
    while at < end:
        try:
            start = max(_HEAD, os.lseek(file, at, os.SEEK_DATA))
        except OSError as error:
            if error.errno == errno.ENXIO:  # nothing but a hole is left
                return
            raise
        at = os.lseek(file, start, os.SEEK_HOLE)
        yield start, at
