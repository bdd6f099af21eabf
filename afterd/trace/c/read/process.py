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
    """Processes with the same command line, the n-th of the one run with the n-th of the other.

    Directories in the command line differ between the two runs (they are slots), so only the base
    names of paths are compared; a process that has no such partner is paired by its rank.
    """
    waiting: dict[tuple[str, ...], list[Process]] = defaultdict(list)
    for process in others:
        waiting[_command(process)].append(process)
    used: set[int] = set()
    found: list[tuple[Process, Process | None]] = []
    for process in mine:
        same = waiting[_command(process)]
        partner = same.pop(0) if same else None
        if partner:
            used.add(partner.recording.number)
        found.append((process, partner))
    spare = {each.recording.number: each for each in others if each.recording.number not in used}
    for process, partner in found:
        yield process, partner or spare.pop(process.recording.number, None)


def _command(process: Process) -> tuple[str, ...]:
    return tuple(argument.rsplit("/", 1)[-1] for argument in process.recording.arguments)
