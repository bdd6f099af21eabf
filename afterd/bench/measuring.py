"""One explanation, made and measured in a process of its own.

``python -m afterd.bench.measuring REQUEST ANSWER``: both are JSON files; the explanation itself
stays in the repository's database. A process of its own has a peak of memory of its own, and what
goes wrong in it is one row of the table.

The peak memory of afterd itself: this process and its workers, not what they build and test.

Progress as lines of a file: what was tried, in which order, and what it showed.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import threading
import time
import traceback
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Self, TextIO

from afterd import pipeline
from afterd.config import Budget, Settings, Strategy
from afterd.errors import AfterdError
from afterd.execution.process_tree import resident_bytes, walk
from afterd.execution.sandbox import RUN_VARIABLE
from afterd.model.change import ChangeId, ChangeSet, in_order
from afterd.model.outcome import Outcome
from afterd.model.progress import Signs
from afterd.report.sanitize import clipped_text, one_line
from afterd.trace.c.read import recorded_processes
from afterd.trace.c.window.recording import Recording
from afterd.vcs.repository import open_repository, state_directory

Suspicion = dict[ChangeId, dict[str, float]]
"""For each suspect its signs, by the names of their odds."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to explain, and where the progress is written."""

    repository: str
    good: str
    bad: str
    build: list[str]
    test: list[str]
    strategy: str
    jobs: int
    seconds: float | None
    runs: int | None
    log: str


@dataclass(frozen=True, slots=True)
class Answered:
    """The explanation's id in the repository's database, or the sentence that says why none; ``suspicions``
    is what was known of each change, each time that the next runs were chosen; ``cpu`` seconds of this
    process and of all that it started, by the stage they were spent in.
    """

    identifier: int = 0
    problem: str = ""
    seconds: float = 0.0
    memory: int = 0
    events: int = 0
    suspicions: list[Suspicion] = field(default_factory=list)
    cpu: dict[str, float] = field(default_factory=dict)


def main() -> None:
    """Explain and leave the answer; never raises."""
    request = Request(**json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    with Path(request.log).open("w", encoding="utf-8", errors="backslashreplace") as log:
        answered = _measured_answer(request, ProgressLog(log))
    Path(sys.argv[2]).write_text(json.dumps(asdict(answered)), encoding="utf-8")


def _measured_answer(request: Request, progress: ProgressLog) -> Answered:
    began = time.monotonic()
    identifier, problem = 0, ""
    with PeakMemory() as memory:
        try:
            identifier = pipeline.explain(_settings(request), progress)[0].id
        except AfterdError as error:
            problem = str(error)
        except Exception as error:  # noqa: BLE001 - a bug is a row of the table, not its end
            problem = f"a bug of afterd's: {traceback.format_exception_only(error)[-1].strip()}"
            progress.stage("traceback", " | ".join(traceback.format_exc().splitlines()[-6:]))
    seconds = time.monotonic() - began
    events = _events(Path(request.repository))
    return Answered(
        identifier, problem, seconds, memory.peak, events, progress.suspicions, progress.spent()
    )


def _settings(request: Request) -> Settings:
    return Settings(
        repository=Path(request.repository),
        range=f"{request.good}..{request.bad}",
        build=tuple(request.build),
        test=tuple(request.test),
        strategy=Strategy(request.strategy),
        jobs=request.jobs,
        budget=Budget(seconds=request.seconds, runs=request.runs),
    )


def _events(repository: Path) -> int:
    """How many events the traced programs of the failing run had; 0 where none was traced."""
    runs = state_directory(open_repository(repository)) / "traced" / "bad" / "run"
    return sum(Recording(path).end for path in recorded_processes(runs)) if runs.is_dir() else 0


_INTERVAL = 0.2
_TAG = f"{RUN_VARIABLE}=".encode()


class PeakMemory:
    """A context in which memory is looked at five times a second; ``peak`` in bytes.

    Where there is no /proc only this process counts.
    """

    def __init__(self) -> None:
        self.peak = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="peak-memory", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_raised: object) -> None:
        self._ended.set()
        self._thread.join()
        self.peak = max(self.peak, _own_peak())

    def _watch(self) -> None:
        while not self._ended.wait(_INTERVAL):
            self.peak = max(self.peak, resident_bytes([os.getpid(), *_workers()]))


def _workers() -> list[int]:
    """Descendants that are afterd's own: what is built and tested carries its run's mark."""
    return [pid for pid in walk(os.getpid()) if not _is_marked(pid)]


def _is_marked(pid: int) -> bool:
    try:
        return _TAG in Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:  # it ended in the meantime
        return True


def _own_peak() -> int:
    """The kernel's own record, which no sampling misses."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak << 10


_MOST_NAMED = 12
_MOST_CHARACTERS = 160


class ProgressLog:
    """A listener that writes one line an event, with the seconds since it was made, and keeps what was known
    of each change whenever the next runs were chosen, and what each stage took.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._began = time.monotonic()
        self.suspicions: list[Suspicion] = []
        self._stage, self._since = "", _cpu_seconds()
        self._spent: dict[str, float] = defaultdict(float)

    def spent(self) -> dict[str, float]:
        """Seconds of CPU by stage up to now."""
        self._turn(self._stage)
        return dict(self._spent)

    def stage(self, name: str, detail: str = "") -> None:
        """A stage began."""
        self._turn(name)
        self._write(f"{name}{': ' + detail if detail else ''}")

    def tried(self, reverted: ChangeSet, outcome: Outcome, runs: int) -> None:
        """A variant was tried."""
        cost = "cached" if outcome.cached else _cost(outcome)
        why = f" ({outcome.reason.value})" if outcome.reason else ""
        self._write(
            f"run {runs}: {_named_changes(in_order(reverted))} -> {outcome.verdict.value}{why}, {cost}"
        )

    def built(self, reverted: ChangeSet, *, ok: bool) -> None:
        """A variant was built."""
        self._write(
            f"build: {_named_changes(in_order(reverted))} {'builds' if ok else 'does not build'}"
        )

    def counted(self, done: int, found: int, red: int) -> None:
        """How far a suite is: not kept."""

    def advanced(self, done: int, what: str) -> None:
        """How far a stage is: not kept."""

    def suspects(self, signs: Mapping[ChangeId, Signs]) -> None:
        """The suspects changed."""
        self._write(f"suspects: {_named_changes(list(signs))}")
        self.suspicions.append({change: dict(each) for change, each in signs.items()})

    def _turn(self, stage: str) -> None:
        now = _cpu_seconds()
        self._spent[self._stage] += now - self._since
        self._stage, self._since = stage, now

    def _write(self, line: str) -> None:
        seconds = time.monotonic() - self._began
        shown = one_line(clipped_text(line, _MOST_CHARACTERS))
        self._stream.write(f"{seconds:7.1f}s  {shown}\n")
        self._stream.flush()


_CPU = slice(11, 15)
"""Behind the name in /proc/PID/stat: user and system time, its own and that of its ended children."""


def _cpu_seconds() -> float:
    """Of this process and of all that it started; where there is no /proc, of those that have ended.

    The solver lives as long as the search does: its time would be that of the stage in which it ends.
    """
    return sum(os.times()[:4]) + sum(map(_used_seconds, walk(os.getpid())))


def _used_seconds(pid: int) -> float:
    try:
        told = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:  # it ended in the meantime
        return 0.0
    ticks = told.rpartition(")")[2].split()[_CPU]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def _cost(outcome: Outcome) -> str:
    return f"build {outcome.build_seconds:.1f}s, test {outcome.test_seconds:.1f}s"


def _named_changes(changes: Sequence[ChangeId]) -> str:
    """The first few, and how many there are."""
    first = " ".join(changes[:_MOST_NAMED])
    return first if len(changes) <= _MOST_NAMED else f"{first} … ({len(changes)} in all)"


if __name__ == "__main__":
    main()
