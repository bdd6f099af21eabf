"""Failed Python tests as what formula-based techniques ask: recorded once more, with terms.

The recording is the formula (``formula.recorded``): one path, what could not be made a term is the
value that it had. The good version beside it, where a range is given, says which assertion is new.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from afterd.compare import CautiousExecution, Pair, differences
from afterd.compare.python import PythonExecution
from afterd.errors import TraceError
from afterd.execution.build import Builder
from afterd.localization.formula.recorded import RecordedRun
from afterd.localization.votes.votes import Counted, NoVoteError
from afterd.logic import Branch, ProgramFormula, Statement, formula_suspecting
from afterd.model.change import NOTHING, FileKind
from afterd.trace.python.recorder import recorded_run
from afterd.trace.python.stage import PythonTraceRequest
from afterd.vcs.kinds import kind_of
from afterd.vcs.worktree import Slot
from afterd.workspace import FailingTest, python_request


@dataclass(slots=True)
class RecordedTest:
    """A recorded failed test in which only the program can be wrong."""

    run: RecordedRun
    counted: Counted

    def on_demand(self, explored: Collection[Branch], /) -> ProgramFormula:
        """See ``formula.subject.Subject``."""
        return formula_suspecting(self.run.on_demand(explored), self._suspect)

    def all_paths(self, most: int = 0, /) -> ProgramFormula:
        """See ``formula.subject.Subject``."""
        return self.run.all_paths(most)

    def paths_leaving_once(self) -> ProgramFormula:
        """See ``formula.subject.Subject``."""
        return self.run.paths_leaving_once()

    def trace(self) -> ProgramFormula:
        """See ``formula.subject.Subject``."""
        return formula_suspecting(self.run.trace(), self._suspect)

    def force_less(self) -> bool:
        """No side is forced in a recording."""
        return False

    def doubt_premises(self) -> bool:
        """What Python's library makes of the input is no statement of the program's."""
        return False

    def windows(self) -> Sequence[int]:
        """See ``formula.subject.Subject``."""
        return self.run.windows()

    def extent(self) -> int:
        """See ``formula.subject.Subject``."""
        return self.run.extent()

    def look_back(self, window: int, /) -> None:
        """See ``formula.subject.Subject``."""
        self.run.look_back(window)

    def _suspect(self, statement: Statement) -> bool:
        rules = self.counted.workspace.rules
        return kind_of(statement.location.file, rules) is not FileKind.TEST


def recorded_tests(counted: Counted, most: int) -> list[RecordedTest]:
    """Some failed tests whose assertion was recognised. Raises NoVoteError where there is none."""
    executions = counted.memory.once("recorded tests", lambda: _recorded_failures(counted, most))
    return [
        RecordedTest(RecordedRun(execution, execution.failures()[0]), counted)
        for execution in executions
    ]


def _recorded_failures(counted: Counted, most: int) -> list[CautiousExecution]:
    wanted = counted.wanted
    names = [run.name for run in counted.spectrum.shortest_failed]
    refused = "no assertion of it was recognised"
    found: list[CautiousExecution] = []
    bad = built_version(counted, counted.tree, "bad")
    good = bad if wanted is None else built_version(counted, wanted.variants.good, "good")
    changes = (
        () if wanted is None else differences(wanted.changes.changes, NOTHING, wanted.everything)
    )
    for name in names[: 2 * most]:
        request = request_of(counted, counted.suite.test(name), name)
        try:
            pair = Pair(
                recorded_run(request, bad, "bad"), recorded_run(request, good, "good"), changes
            )
            execution = CautiousExecution(PythonExecution(pair, name))
        except TraceError as error:
            refused = str(error).rstrip(".")
            continue
        if execution.failures():
            found.append(execution)
        if len(found) == most:
            break
    if not found:
        raise NoVoteError(f"There is no formula of a failed test: {refused}.")
    return found


def built_version(counted: Counted, tree: str, name: str) -> Path:
    """A version's tree, built. Raises NoVoteError."""
    workspace = counted.workspace
    slot = Slot(workspace.state / "counted" / f"python-{name}", workspace.objects)
    built = Builder(slot).build(counted.suite.recipe, tree)
    if not built.ok:
        raise NoVoteError(
            f"The {name} version does not build ({built.detail.splitlines()[0]}): there is no formula."
        )
    return slot.path


def request_of(counted: Counted, test: FailingTest, name: str = "") -> PythonTraceRequest:
    """How a test is recorded; ``name`` is the one test of it that matters."""
    return python_request(counted.workspace, test.recipe, "counted/python-traced", test=name)
