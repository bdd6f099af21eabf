"""One traced process ready for questions, and which processes of two runs belong together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from afterd.tracing.llvm.allocations import Allocations
from afterd.tracing.llvm.frames import Frames
from afterd.tracing.llvm.program import Program
from afterd.tracing.llvm.recording import Recording
from afterd.tracing.llvm.statements import Statements
from afterd.tracing.llvm.steps import StepIds
from afterd.tracing.llvm.symbols import Symbols
from afterd.tracing.llvm.values import Values


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
        self.allocations = Allocations(self.frames, self.values)


def recorded(trace: Path) -> list[Path]:
    """The directories of the processes of a run, in the order in which they began."""
    return sorted(
        path for path in trace.iterdir() if path.name.isdigit() and (path / "head").exists()
    )


def pairs(
    bad: Sequence[Recording], green: Sequence[Recording]
) -> Iterator[tuple[Recording, Recording | None]]:
    """Processes with the same command line, the n-th of the one run with the n-th of the other.

    Directories in the command line differ between the two runs (they are slots), so only the base
    names of paths are compared; a process that has no such partner is paired by its rank.
    """
    waiting: dict[tuple[str, ...], list[Recording]] = defaultdict(list)
    for recording in green:
        waiting[_key(recording)].append(recording)
    used: set[int] = set()
    found: list[tuple[Recording, Recording | None]] = []
    for recording in bad:
        same = waiting[_key(recording)]
        partner = same.pop(0) if same else None
        if partner:
            used.add(partner.number)
        found.append((recording, partner))
    spare = {recording.number: recording for recording in green if recording.number not in used}
    for mine, partner in found:
        yield mine, partner or spare.pop(mine.number, None)


def _key(recording: Recording) -> tuple[str, ...]:
    return tuple(argument.rsplit("/", 1)[-1] for argument in recording.arguments)
