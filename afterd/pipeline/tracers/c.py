"""C and C++: both ends built with the tracer and run, and what is known of a variant before it is built."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from afterd.causality.deltas.closure import Closure
from afterd.causality.standing import Standing
from afterd.compare import CautiousExecution, Runs
from afterd.compare.c import CTracer, built_for
from afterd.execution.signature import same_failure
from afterd.execution.toolchain import find
from afterd.model.change import NOTHING, ChangeSet
from afterd.model.outcome import FailureSignature, Outcome, Verdict
from afterd.model.progress import Progress
from afterd.pipeline.tracing import Tracing, compared_with, twin_of
from afterd.trace.c.build.compilations import compilations, moved
from afterd.trace.c.build.generators import Generators, generations
from afterd.trace.c.build.syntax_check import SyntaxCheck
from afterd.trace.c.recorder import RecordedRun, TraceRequest
from afterd.vcs.c_names import change_names
from afterd.vcs.trees import TreeReader
from afterd.workspace import FailingTest, Range, Workspace

_TRACED = "When it is traced, the {} version's test {}."


def traced_c(
    workspace: Workspace,
    wanted: Range,
    test: FailingTest,
    progress: Progress,
    reference: FailureSignature | None,
    *,
    hangs: bool,
) -> Tracing:
    """Both ends, traced, and what they did otherwise than they do plainly. Raises TraceError, ToolchainError."""
    request = replace(_request(workspace, wanted, test), hangs=hangs, progress=progress)
    tracer = CTracer(request)
    runs = Runs(tracer, wanted.changes.changes)
    ends = NOTHING, wanted.everything
    execution = runs.execution(*ends)
    check = _syntax_check(workspace, wanted, request)
    return Tracing(
        CautiousExecution(execution),
        ""
        if hangs
        else _otherwise(runs.run(ends[0]).outcome, runs.run(ends[1]).outcome, reference),
        tracer.seconds,
        Standing(check.against, check.is_read, work=check.work),
        closure=_closure(workspace, wanted, [runs.run(end) for end in ends]),
        variant=lambda reverted: compared_with(runs, reverted, wanted.everything),
        twin=partial(twin_of, runs, NOTHING),
    )


def _otherwise(bad: Outcome, good: Outcome, reference: FailureSignature | None) -> str:
    """What the traced ends did otherwise than the plain ones; empty where nothing."""
    if bad.passed:
        return _TRACED.format("failing", "passes: what was recorded is not its failure")
    if reference and bad.signature and not same_failure(reference, bad.signature):
        return _TRACED.format("failing", f"fails otherwise ({bad.signature.message})")
    if good.verdict is Verdict.FAIL:
        return _TRACED.format("good", f"fails ({good.detail})")
    return ""


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

    def texts(reverted: ChangeSet) -> dict[str, bytes | None]:
        tree = wanted.variants.tree(reverted)
        return {
            os.fsdecode(path): None if entry is None else reader.read(entry.id)
            for path, _, entry in reader.differences(wanted.variants.bad, tree)
            if entry is None or entry.is_file
        }

    green, wrong = (slot.path.resolve() for slot in request.slots)
    good = compilations(request.directory / "good" / "build")
    calls = generations(request.directory / "bad" / "build")
    return SyntaxCheck(
        wrong,
        compilations(request.directory / "bad" / "build"),
        wanted.changes.by_id(),
        texts,
        workspace.limits.build,
        [moved(each, green, wrong) for each in good],
        Generators(wrong, calls, workspace.limits.build),
    )


def _closure(workspace: Workspace, wanted: Range, ends: Sequence[RecordedRun]) -> Closure:
    """Which changes of C and C++ files need each other, by the names in both versions. A repository's examples and
    benchmarks, of megabytes, took seventy seconds to be read where no build did.
    """
    built = built_for(ends)
    reader, variants = TreeReader(workspace.objects), wanted.variants
    good = reader.contents(variants.good)

    def in_new_names(path: str) -> bytes | None:
        text = good(path)
        return None if text is None else variants.renamed.in_new_names(text)

    return Closure(
        *change_names(
            wanted.changes.live, in_new_names, reader.contents(variants.bad), built.lack_both_of
        )
    )
