"""Choosing a tracer for a failing test, and what to say when there is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from afterd.causality.analysis import TracedVariant, not_traced
from afterd.causality.deltas.closure import Closure
from afterd.causality.standing import NOTHING_TOLD, Standing
from afterd.compare import CautiousExecution, Runs, RunT
from afterd.errors import AfterdError, ToolchainError, TraceError
from afterd.execution.recipe import Recipe
from afterd.model.change import NOTHING, ChangeId, ChangeSet
from afterd.model.outcome import FailureSignature, Outcome
from afterd.model.progress import Progress
from afterd.model.trace import Execution, TwinExecution
from afterd.pipeline.languages import COUNTED, changed_languages
from afterd.pipeline.runs_as_builds import (
    Clashing,
    Further,
    Missing,
    never_further,
    nothing_clashes,
    nothing_missing,
)
from afterd.workspace import FailingTest, Range, Workspace, started_python

_CONTAINED = "Builds and tests run in a container, where no run is recorded: changes were found by undoing them alone."
_A_BUILD = "What broke is the build, of which no run is recorded: changes were found by undoing them alone."
_ALONE = "Without a trace only reversion is possible."
_RUNNERS = frozenset({"pytest", "py.test", "unittest"})


@dataclass(frozen=True, slots=True)
class Unread:
    """A variant that was to be recorded and left no trace that can be read; ``reason`` is a sentence."""

    reason: str


TracedTwin = Callable[[ChangeSet], TwinExecution | Unread | None]
"""A variant's twin; None where nothing is traced."""


def no_twin(_root: ChangeSet) -> None:
    """Nothing is traced."""


ExecutedLines = Callable[[], Mapping[str, frozenset[int]]]
"""By file, the lines of the failing run on which something that was executed begins."""


def no_lines() -> Mapping[str, frozenset[int]]:
    """No run was recorded, or it is not told by lines."""
    return {}


def nothing_taken(_message: str) -> Sequence[ChangeId]:
    """Messages of this language are not read."""
    return ()


@dataclass(frozen=True, slots=True)
class Tracing:
    """The execution, or the sentence that says why there is none; seconds of build and run.

    ``standing`` tells what speaks against a variant without building it, ``closure`` what hangs together
    by its names.
    ``missing`` tells from a run whether what was undone was missed, ``clashing`` what it met that was
    not; ``further`` whether an outcome shows a failure that is later in the test than that of another; ``took`` are the
    changes that took away what a failure's message says is missing; ``variant`` traces a variant; ``twin`` is the
    failing run beside the bad version without a set of changes. ``beside`` gives what was put off: the failing run
    alone was recorded, and to read it beside the version without a set of changes costs more than to bisect the
    commits, or to try few changes; ``executed`` are then the changes whose lines it executed. ``outcomes`` are those of
    the runs that were recorded so far, by their trees, ``lines`` those that the failing one executed. ``counted``:
    whether it is known at all which changes were executed.
    """

    execution: Execution | None
    reason: str = ""
    seconds: float = 0.0
    standing: Standing = NOTHING_TOLD
    missing: Missing = nothing_missing
    clashing: Clashing = nothing_clashes
    further: Further = never_further
    took: Callable[[str], Sequence[ChangeId]] = nothing_taken
    closure: Closure = field(default_factory=Closure)
    variant: TracedVariant = not_traced
    twin: TracedTwin = no_twin
    beside: Callable[[ChangeSet], Tracing] | None = None
    executed: ChangeSet = NOTHING
    lines: ExecutedLines = no_lines
    outcomes: Callable[[], Mapping[str, Outcome]] = dict
    counted: bool = True


def traced_failure(
    workspace: Workspace,
    wanted: Range,
    test: FailingTest,
    progress: Progress,
    *,
    hangs: bool = False,
    unread: int = 0,
    reference: FailureSignature | None = None,
) -> Tracing:
    """The failing run with the green run beside it, where a language can be traced.

    ``hangs``: the failing run does not end by itself. ``unread`` is the work of a search that reads no run, which
    bisects the commits or tries few changes (0: there is none): where two runs are dearer to read, the green one is put
    off. ``reference`` is the failure as it is when nothing is recorded.
    A tracer is imported when its language is met: that of C alone takes as long as a short test.
    """
    if test.recipe.is_a_build or test.recipe.container:
        return Tracing(None, _A_BUILD if test.recipe.is_a_build else _CONTAINED)
    languages = changed_languages(wanted)
    reasons: list[str] = []

    def c() -> Tracing:
        progress.stage("tracing the failing and the green run", "C and C++, through LLVM IR")
        from afterd.pipeline.tracers.c import traced_c  # noqa: PLC0415 - see the docstring

        return traced_c(workspace, wanted, test, progress, reference, hangs=hangs)

    def python() -> Tracing:
        progress.stage("tracing the failing and the green run", "Python, through its syntax tree")
        from afterd.pipeline.tracers.python import traced_python  # noqa: PLC0415 - see the docstring

        return traced_python(workspace, wanted, test, hangs=hangs, unread=unread)

    tracers = {"c": c, "python": python}
    for language in ("python", "c") if _is_python_alone(test.recipe) else ("c", "python"):
        if language in languages:
            try:
                return tracers[language]()
            except (TraceError, ToolchainError) as error:
                reasons.append(str(error))
    if counted := languages & COUNTED:
        from afterd.pipeline.tracers.counts import traced_by_counts  # noqa: PLC0415 - see the docstring

        by_counts = traced_by_counts(workspace, wanted, test, counted, progress)
        if by_counts.execution is not None:
            return by_counts
        reasons.append(by_counts.reason)
    if not reasons:
        reasons.append(
            "No changed file is in a language that afterd traces; only reversion was used."
        )
    else:
        reasons.append(_ALONE)
    return Tracing(None, " ".join(reasons))


def _is_python_alone(recipe: Recipe) -> bool:
    """Whether nothing is built before a test that a runner of Python's runs: what C was changed is seldom in it."""
    command = started_python(recipe)
    runs = command is not None and PurePath(command.name).name in _RUNNERS
    return runs and not recipe.build


def compared_with(runs: Runs[RunT], mine: ChangeSet, other: ChangeSet) -> TwinExecution | None:
    """One variant's run beside another's; None where either leaves no trace that can be read."""
    read = twin_of(runs, mine, other)
    return None if isinstance(read, Unread) else read


def twin_of(runs: Runs[RunT], mine: ChangeSet, other: ChangeSet) -> TwinExecution | Unread:
    """One variant's run beside another's, or why either leaves no trace that can be read."""
    try:
        return CautiousExecution(runs.execution(mine, other))
    except AfterdError as error:
        return Unread(str(error))
    except Exception as error:  # noqa: BLE001 - a variant's trace may cost the story, never the answer
        return Unread(f"What was recorded could not be read ({type(error).__name__}).")
