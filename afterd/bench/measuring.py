"""One explanation, made and measured in a process of its own.

``python -m afterd.bench.measuring REQUEST ANSWER``: both are JSON files; the explanation itself
stays in the repository's database. A process of its own has a peak of memory of its own, and what
goes wrong in it is one row of the table.
"""

from __future__ import annotations

import json
import sys
import time
import traceback
from dataclasses import asdict, dataclass
from pathlib import Path

from afterd import pipeline
from afterd.bench.memory import PeakMemory
from afterd.bench.progress_log import ProgressLog
from afterd.config import Budget, Settings, Strategy
from afterd.errors import AfterdError
from afterd.trace.c.read import recorded
from afterd.trace.c.window.recording import Recording
from afterd.vcs.repository import open_repository, state_directory


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
    """The explanation's id in the repository's database, or the sentence that says why none."""

    identifier: int = 0
    problem: str = ""
    seconds: float = 0.0
    memory: int = 0
    events: int = 0


def main() -> None:
    """Explain and leave the answer; never raises."""
    request = Request(**json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    with Path(request.log).open("w", encoding="utf-8", errors="backslashreplace") as log:
        answered = _measured(request, ProgressLog(log))
    Path(sys.argv[2]).write_text(json.dumps(asdict(answered)), encoding="utf-8")


def _measured(request: Request, progress: ProgressLog) -> Answered:
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
    return Answered(identifier, problem, seconds, memory.peak, _events(Path(request.repository)))


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
    return sum(Recording(path).end for path in recorded(runs)) if runs.is_dir() else 0


if __name__ == "__main__":
    main()
