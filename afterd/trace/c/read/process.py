"""One traced process ready for questions, and which processes of two runs belong together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from afterd.trace.c.read.frames import Frames
from afterd.trace.c.read.program import Program
from afterd.trace.c.read.statements import Statements
from afterd.trace.c.read.steps import StepIds
from afterd.trace.c.read.symbols import Symbols
from afterd.trace.c.read.values import Values
from afterd.trace.c.window.recording import Recording


class Process:
    """A recording with everything that reads it."""

    def __init__(self, recording: Recording, program: Program) -> None:
        self.recording = recording
        self.program = program
        self.symbols = Symbols(recording, program)
        self.frames = Frames(recording, program, self.symbols)
        self.ids = StepIds(recording.number)
        self.values = Values(self.frames, self.symbols, self.ids)
        self.statements = Statements(self.values)
        self.allocations = self.values.allocations


def recorded_processes(trace: Path) -> list[Path]:
    """The directories of the processes of a run, in the order in which they began."""
    return sorted(
        path for path in trace.iterdir() if path.name.isdigit() and (path / "head").exists()
    )


def partners(
    mine: Sequence[Process], others: Sequence[Process]
) -> Iterator[tuple[Process, Process | None]]:
    """The processes of one run with those of another, as their recordings are paired."""
    by_number = {process.recording.number: process for process in others}
    paired = paired_recordings(
        [each.recording for each in mine], [each.recording for each in others]
    )
    for process, other in zip(mine, paired, strict=True):
        yield process, None if other is None else by_number[other.number]


def paired_recordings(
    mine: Sequence[Recording], others: Sequence[Recording]
) -> list[Recording | None]:
    """Of each process of one run the one of the other run that has its command line, the n-th with the n-th.

    Directories in the command line differ between any two runs (slots, folders of temporary files), so only the base
    names of paths are compared; a process that has no such partner is paired by its rank.
    """
    waiting: dict[tuple[str, ...], list[Recording]] = defaultdict(list)
    for recording in others:
        waiting[_command(recording)].append(recording)
    used: set[int] = set()
    found: list[Recording | None] = []
    for recording in mine:
        same = waiting[_command(recording)]
        partner = same.pop(0) if same else None
        if partner:
            used.add(partner.number)
        found.append(partner)
    spare = {each.number: each for each in others if each.number not in used}
    return [
        partner or spare.pop(recording.number, None)
        for recording, partner in zip(mine, found, strict=True)
    ]


def _command(recording: Recording) -> tuple[str, ...]:
    return tuple(argument.rsplit("/", 1)[-1] for argument in recording.arguments)
