"""Choosing a tracer for a failing test, and what to say when there is none."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePath

from afterd.causality.analysis import TracedVariant, not_traced
from afterd.causality.deltas.clash import clashing
from afterd.causality.deltas.closure import Closure
from afterd.causality.standing import NOTHING_TOLD, Standing
from afterd.compare import CautiousExecution, Pair, Runs, RunT
from afterd.compare.c import CTracer
from afterd.compare.coverage.scopes import is_known
from afterd.compare.coverage.variant_text import MissedNames
from afterd.compare.python import PythonTracer, executed_lines, loaded_files
from afterd.errors import ToolchainError, TraceError
from afterd.execution.build import Builder
from afterd.execution.toolchain import find
from afterd.model.change import NOTHING, ChangeForm, ChangeSet
from afterd.model.progress import Progress
from afterd.model.trace import Execution, TwinExecution
from afterd.pipeline.covered import counted_languages, covered
from afterd.pipeline.runs_as_builds import (
    Clashing,
    Missing,
    nothing_clashes,
    nothing_missing,
)
from afterd.trace.c.build.compilations import compilations
from afterd.trace.c.build.syntax_check import SyntaxCheck, is_read
from afterd.trace.c.recorder import TraceRequest
from afterd.trace.python.failure import raised_at
from afterd.trace.python.recorder import RecordedRun
from afterd.trace.python.source import MissingPieces, VariantCheck
from afterd.vcs.c_names import ReadFile, change_names
from afterd.vcs.paths import path_bytes
from afterd.vcs.trees import TreeReader
from afterd.workspace import FailingTest, Range, Workspace, python_request

_C = frozenset(
    [".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh", ".hxx", ".inc", ".def", ".y", ".l"]
)
_PYTHON = frozenset((".py",))
TracedTwin = Callable[[ChangeSet], TwinExecution | None]


def no_twin(_root: ChangeSet) -> None:
    """Nothing is traced."""


@dataclass(frozen=True, slots=True)
class Tracing:
    """The execution, or the sentence that says why there is none; seconds of build and run.

    ``standing`` tells what speaks against a variant without building it, ``closure`` what hangs together
    by its names.
    ``missing`` tells from a run whether what was undone was missed, ``clashing`` what it met that was
    not; ``variant`` traces a variant; ``twin`` is the failing run beside the bad version without a set
    of changes.
    """

    execution: Execution | None
    reason: str = ""
    seconds: float = 0.0
    standing: Standing = NOTHING_TOLD
    missing: Missing = nothing_missing
    clashing: Clashing = nothing_clashes
    closure: Closure = field(default_factory=Closure)
    variant: TracedVariant = not_traced
    twin: TracedTwin = no_twin


def traced(
    workspace: Workspace,
    wanted: Range,
    test: FailingTest,
    progress: Progress,
    *,
    hangs: bool = False,
) -> Tracing:
    """The failing run with the green run beside it, where a language can be traced.

    ``hangs``: the failing run does not end by itself.
    """
    languages = _languages(wanted)
    reasons: list[str] = []
    if "c" in languages:
        progress.stage("tracing the failing and the green run", "C and C++, through LLVM IR")
        try:
            request = replace(_request(workspace, wanted, test), hangs=hangs)
            c = CTracer(request)
            c_runs = Runs(c, wanted.changes.changes)
            execution = c_runs.execution(NOTHING, wanted.everything)
        except (TraceError, ToolchainError) as error:
            reasons.append(str(error))
        else:
            return Tracing(
                CautiousExecution(execution),
                "",
                c.seconds,
                Standing(_syntax_check(workspace, wanted, request).against, is_read),
                closure=_closure(workspace, wanted),
                twin=partial(_compared, c_runs, NOTHING),
            )
    if "python" in languages:
        progress.stage("tracing the failing and the green run", "Python, through its syntax tree")
        try:
            python, runs = _python_runs(workspace, wanted, test, hangs=hangs)
            pair = runs.pair(NOTHING, wanted.everything)
        except TraceError as error:
            reasons.append(str(error))
        else:
            check = _variant_check(workspace, wanted, pair)
            return Tracing(
                CautiousExecution(python.execution(pair)),
                "",
                python.seconds,
                Standing(check.against, proves=False, certain=check.certain),
                missing=MissingPieces(wanted.changes.by_id()),
                clashing=_python_clashes(wanted),
                variant=lambda reverted: _compared(runs, reverted, wanted.everything),
                twin=partial(_compared, runs, NOTHING),
            )
    if counted_languages(wanted):
        by_counts = _by_coverage(workspace, wanted, test, progress)
        if by_counts.execution is not None:
            return by_counts
        reasons.append(by_counts.reason)
    if not reasons:
        reasons.append(
            "No changed file is in a language that afterd traces; only reversion was used."
        )
    return Tracing(None, " ".join(reasons))


def _python_runs(
    workspace: Workspace, wanted: Range, test: FailingTest, *, hangs: bool
) -> tuple[PythonTracer, Runs[RecordedRun]]:
    """What records Python; how long the good run is says when one that hangs is ended."""
    tracer = _python_tracer(workspace, wanted, test)
    runs = Runs(tracer, wanted.changes.changes)
    if hangs:
        tracer.end_after(runs.run(wanted.everything), test.recipe.limits.trace.beyond)
    return tracer, runs


def _by_coverage(
    workspace: Workspace, wanted: Range, test: FailingTest, progress: Progress
) -> Tracing:
    """Of a compiled language a build tells what must go along, of others the text and the run do."""
    counted = counted_languages(wanted)
    told = ", ".join(sorted(counted))
    progress.stage("running the failing and the green test with coverage", told)
    try:
        found = covered(workspace, wanted, test)
    except TraceError as error:
        return Tracing(None, str(error))
    execution, against, why = (
        CautiousExecution(found.execution),
        found.text.against,
        found.uncounted,
    )
    if "js" not in counted:
        standing = Standing(against, lambda change: is_known(change.file))
        return Tracing(execution, why, found.seconds, standing)
    missing = MissedNames(wanted.changes.by_id())
    return Tracing(execution, why, found.seconds, Standing(against, proves=False), missing=missing)


def _python_clashes(wanted: Range) -> Clashing:
    live = {change.id: change for change in wanted.changes.live}
    files = {change.file for change in live.values()}
    return lambda reverted, outcome: clashing(live, reverted, raised_at(outcome, files))


def _languages(wanted: Range) -> set[str]:
    found: set[str] = set()
    for change in wanted.changes.live:
        suffix = PurePath(change.file).suffix.lower()
        if suffix in _C:
            found.add("c")
        elif suffix in _PYTHON or change.form is ChangeForm.SYMLINK:
            found.add("python")
    return found


def _request(workspace: Workspace, wanted: Range, test: FailingTest) -> TraceRequest:
    return TraceRequest(
        tree=wanted.variants.tree,
        everything=wanted.everything,
        slots=workspace.trace_slots(),
        recipe=test.recipe,
        toolchain=find(),
        directory=workspace.state / "traced",
        work=workspace.work,
    )


def _syntax_check(workspace: Workspace, wanted: Range, request: TraceRequest) -> SyntaxCheck:
    """Compiles the changed files of variants as the traced build of the bad version did."""
    reader = TreeReader(workspace.objects)

    def texts(reverted: ChangeSet) -> dict[str, bytes]:
        tree = wanted.variants.tree(reverted)
        return {
            os.fsdecode(path): reader.read(entry.id)
            for path, _, entry in reader.differences(wanted.variants.bad, tree)
            if entry is not None and entry.is_file
        }

    return SyntaxCheck(
        request.slots[1].path,
        compilations(request.directory / "bad" / "build"),
        wanted.changes.by_id(),
        texts,
        workspace.limits.build,
    )


def _closure(workspace: Workspace, wanted: Range) -> Closure:
    """Which changes of C and C++ files need each other, by the names in both versions."""
    reader = TreeReader(workspace.objects)

    def reading(tree: str) -> ReadFile:
        def read(path: str) -> bytes | None:
            entry = reader.lookup(tree, path_bytes(path))
            return reader.read(entry.id) if entry is not None and entry.is_file else None

        return read

    variants = wanted.variants
    return Closure(
        *change_names(wanted.changes.live, reading(variants.good), reading(variants.bad))
    )


def _variant_check(workspace: Workspace, wanted: Range, pair: Pair[RecordedRun]) -> VariantCheck:
    reader = TreeReader(workspace.objects)

    def files_of(reverted: ChangeSet) -> dict[str, str]:
        files = reader.files(wanted.variants.tree(reverted))
        return {os.fsdecode(path): entry.id for path, entry in files if entry.is_file}

    return VariantCheck(
        files_of, reader.read, wanted.everything, executed_lines(pair), loaded_files(pair)
    )


def _compared(runs: Runs[RunT], mine: ChangeSet, other: ChangeSet) -> TwinExecution | None:
    """One variant's run beside another's; None where either leaves no trace that can be read."""
    try:
        return CautiousExecution(runs.execution(mine, other))
    except Exception:  # noqa: BLE001 - a variant's trace may cost the story, never the answer
        return None


def _python_tracer(workspace: Workspace, wanted: Range, test: FailingTest) -> PythonTracer:
    """Variants built where they must be; the slot's own folders first on the import path."""
    good, bad = workspace.trace_slots()

    def built(variant: ChangeSet) -> Path:
        slot = good if variant == wanted.everything else bad
        found = Builder(slot).build(test.recipe, wanted.variants.tree(variant))
        if not found.ok:
            message = f"The version to be traced does not build ({found.detail.splitlines()[0]})."
            raise TraceError(message)
        return slot.path

    request = python_request(
        workspace,
        test.recipe,
        "traced/python",
        test=test.recipe.test_id if test.runner != "command" else "",
        piece="variants",
    )
    return PythonTracer(request, built, wanted.variants.tree)
