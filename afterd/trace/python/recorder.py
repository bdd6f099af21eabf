"""Recording a variant of a Python program: its test run once under the recorder, its rows read."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from afterd.errors import TraceError
from afterd.limits import TraceLimits
from afterd.model.change import NOTHING, ChangeSet
from afterd.model.outcome import Outcome
from afterd.trace.python.read.processes import joined_processes
from afterd.trace.python.read.trace import Trace
from afterd.trace.python.read.tracefile import Raw
from afterd.trace.python.record.recorder import CHUNK
from afterd.trace.python.record.replacing import Replacement
from afterd.trace.python.stage.runner import PythonTraceRequest, Recorded, record

ROWS = CHUNK // 2  # in a chunk


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """The traces of a run's processes, the one that tells most first, and the tree that ran.

    ``variant`` is what it was without, ``passed`` whether the command succeeded, ``outcome`` what it showed, where that
    was asked for.
    """

    tree: Path
    traces: tuple[Trace, ...]
    seconds: float
    variant: ChangeSet = NOTHING
    passed: bool = False
    outcome: Outcome | None = None


class PythonRecorder:
    """Records variants; ``built`` puts a variant's tree in its place, ready to run, and raises
    TraceError where it does not build. ``seconds`` is what the runs took so far.
    """

    def __init__(
        self,
        request: PythonTraceRequest,
        built: Callable[[ChangeSet], Path],
        name: Callable[[ChangeSet], str],
    ) -> None:
        self._request = request
        self._built = built
        self._name = name
        self.test = request.test
        self.seconds = 0.0
        self._ends: list[int] = []  # rows of the longest process, of either end

    def end_after(self, good: RecordedRun, rows: int) -> None:
        """From now on runs are of variants that hang: each is ended ``rows`` after a good one's length."""
        longest = max(trace.raw.total for trace in good.traces)
        limits = self._request.limits
        longer = replace(limits, timeout=limits.timeout * TraceLimits().waiting)
        self._request = replace(self._request, stop=longest + rows, limits=longer)

    def record(self, variant: ChangeSet) -> RecordedRun:
        """The test's run without some changes. Raises TraceError when nothing of it was recorded, or it went on for
        longer than any variant that tells something.
        """
        name, bound = self._name(variant), self._bound()
        work = f"{self._request.work} {name}" if self._request.work else ""
        request = replace(self._request, work=work, bound=bound)
        run = recorded_run(request, self._built(variant), name)
        self.seconds += run.seconds
        longest = max(trace.raw.total for trace in run.traces)
        if 0 < bound <= longest:
            message = f"The run of a variant was ended after {longest:,} rows, as the ends have {max(self._ends):,}."
            raise TraceError(message)
        self._ends = [*self._ends, longest][:2]
        self._request = _wide_enough(self._request, run.traces)
        return replace(run, variant=variant)

    def _bound(self) -> int:
        """So many rows a variant's run may have; 0: as many as there are, of the two ends or where one hangs."""
        told = len(self._ends) > 1 and not self._request.stop
        return TraceLimits().of_a_variant(max(self._ends)) if told else 0

    def record_replaced(self, run: RecordedRun, replaced: Replacement) -> RecordedRun:
        """A recorded run once more, with one value set to another. Raises TraceError."""
        request = replace(self._request, work="", replaced=replaced, judged=None)
        name = f"{self._name(run.variant)}-set"
        again = recorded_run(request, self._built(run.variant), name)
        self.seconds += again.seconds
        return replace(again, variant=run.variant)


def recorded_run(request: PythonTraceRequest, tree: Path, name: str) -> RecordedRun:
    """The run of the version in ``tree``, kept as ``name``; repeated with a larger window where the
    first one was too small: the analysis goes back to imports and through loops, and a hole in the
    trace hides definitions. Raises TraceError.
    """
    found = record(request, tree, name)
    wider = _wide_enough(request, found.traces)
    if wider is not request:
        again = record(wider, tree, f"{name}-wide")
        found = replace(again, seconds=found.seconds + again.seconds)
    return _read(found, tree, request.directory / "cache")


def _wide_enough(
    request: PythonTraceRequest, traces: Sequence[Raw] | Sequence[Trace]
) -> PythonTraceRequest:
    """The request with a window for what a run recorded; as it is where that fits, or is too much for any. Other
    versions' runs are about as long: they are recorded with that window at once.
    """
    most = max((trace if isinstance(trace, Raw) else trace.raw).total for trace in traces)
    room = (request.head + request.tail) * ROWS
    if not room < most <= request.most:
        return request
    return replace(request, tail=math.ceil(most / ROWS) + 1)


def _read(found: Recorded, tree: Path, cache: Path) -> RecordedRun:
    traces = tuple(Trace(raw, cache) for raw in joined_processes(found.traces))
    passed = found.status == 0
    return RecordedRun(tree, traces, found.seconds, passed=passed, outcome=found.outcome)


def partner(mine: RecordedRun, other: RecordedRun) -> Trace:
    """The process of the other run that corresponds to the one that tells most: it was started by
    the same arguments.
    """
    wanted = _arguments(mine.traces[0].raw, mine.tree)
    largest = sorted(other.traces, key=lambda trace: -trace.raw.total)
    same = (trace for trace in largest if _arguments(trace.raw, other.tree) == wanted)
    return next(same, other.traces[0])


def _arguments(raw: Raw, tree: Path) -> list[str]:
    return [str(item).replace(str(tree), "") for item in raw.header["argv"]]
