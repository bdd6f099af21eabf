"""Python: both ends recorded, and what is known of a variant before it is run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

from afterd.causality.deltas.clash import clashing, written
from afterd.causality.deltas.dependencies import Changes
from afterd.causality.standing import Standing
from afterd.causality.worth import counted_questions
from afterd.compare import CautiousExecution, Pair, Runs
from afterd.compare.python import PythonTracer, executed_lines, executed_spans, loaded_files
from afterd.errors import TraceError
from afterd.execution.build import Builder
from afterd.execution.process import ProcessResult
from afterd.execution.rerunning import Recording
from afterd.execution.told import test_outcome
from afterd.limits import SEARCH, WORK
from afterd.model.change import NOTHING, Change, ChangeSet
from afterd.model.outcome import Outcome, Unresolved
from afterd.pipeline.runs_as_builds import Clashing
from afterd.pipeline.tracers.variant_files import variant_files
from afterd.pipeline.tracing import Tracing, compared_with, twin_of
from afterd.trace.python.failure import came_further, raised_at, raised_elsewhere
from afterd.trace.python.recorder import RecordedRun
from afterd.trace.python.source import (
    MissingPieces,
    Texts,
    VariantCheck,
    altered_arities,
    altered_meanings,
    brought,
    nameless_changes,
    no_texts,
    took_away,
)
from afterd.vcs.trees import TreeReader
from afterd.workspace import FailingTest, Range, Workspace, python_request

_POSTPONING = [3, 14]
"""The version from which on annotations are evaluated when somebody asks for them (PEP 649)."""


def traced_python(
    workspace: Workspace, wanted: Range, test: FailingTest, *, hangs: bool, unread: int = 0
) -> Tracing:
    """Both ends, recorded; the failing one alone, where a search that leaves them ``unread`` is less work than reading
    two runs. Raises TraceError.
    """
    tracer, runs = _python_runs(workspace, wanted, test, hangs=hangs)
    alone = Tracing(
        None,
        missing=MissingPieces(wanted.changes.by_id()),
        clashing=python_clashes(
            {change.id: change for change in wanted.changes.live}, _texts_of_ends(workspace, wanted)
        ),
        further=came_further,
        took=partial(took_away, changes=wanted.changes.live),
        twin=partial(twin_of, runs, NOTHING),
        lines=partial(_executed_lines, runs),
        outcomes=partial(_outcomes, wanted, runs),
    )
    beside = partial(_traced_beside, workspace, wanted, tracer, runs, alone)
    runs.record_beside(
        NOTHING, wanted.everything
    )  # the green one takes no longer then, if it is in vain
    if unread and not hangs and 2 * _reading_work(runs.run(NOTHING)) > unread:
        executed = executed_spans(runs.run(NOTHING), wanted.changes.live)
        return replace(alone, seconds=tracer.seconds, beside=beside, executed=executed)
    return beside(wanted.everything)


def _executed_lines(runs: Runs[RecordedRun]) -> Mapping[str, frozenset[int]]:
    return runs.run(NOTHING).traces[0].lines()


def _reading_work(run: RecordedRun) -> int:
    """What it costs to look through what a run left."""
    return max(trace.raw.kept for trace in run.traces) * WORK.row


def _traced_beside(
    workspace: Workspace,
    wanted: Range,
    tracer: PythonTracer,
    runs: Runs[RecordedRun],
    alone: Tracing,
    green: ChangeSet,
) -> Tracing:
    """The failing run with the version without ``green`` beside it. Raises TraceError."""
    pair = runs.pair(NOTHING, green)
    check = _variant_check(workspace, wanted, green, pair)
    standing = Standing(
        check.against,
        proves=False,
        certain=check.certain,
        unparsed=check.unparsed,
        speaks=check.speaks,
    )
    return replace(
        alone,
        execution=CautiousExecution(tracer.execution(pair)),
        seconds=tracer.seconds,
        standing=counted_questions(standing, WORK.text),
        variant=lambda reverted: compared_with(runs, reverted, green),
    )


def _python_runs(
    workspace: Workspace,
    wanted: Range,
    test: FailingTest,
    *,
    hangs: bool,
) -> tuple[PythonTracer, Runs[RecordedRun]]:
    """What records Python; how long the good run is says when one that hangs is ended."""
    tracer = _python_tracer(workspace, wanted, test)
    runs = Runs(tracer, wanted.changes.changes, workspace.executor.width)
    if hangs:
        tracer.end_after(runs.run(wanted.everything), test.recipe.limits.trace.beyond)
    return tracer, runs


def _outcomes(wanted: Range, runs: Runs[RecordedRun]) -> Mapping[str, Outcome]:
    """What each run that was recorded showed, by the version's tree."""
    return {
        wanted.variants.tree(variant): run.outcome
        for variant, run in runs.recorded.items()
        if run.outcome is not None
    }


def _texts_of_ends(workspace: Workspace, wanted: Range) -> Texts:
    """A file's text in the good and in the bad version, read when it is asked for."""
    reader = TreeReader(workspace.objects)
    files_of, content = cache(variant_files(reader, wanted)), cache(reader.read)

    def texts(change: Change) -> tuple[bytes, bytes]:
        old, new = files_of(wanted.everything), files_of(NOTHING)
        own = old.get(change.old_file), new.get(change.file)
        good, bad = (content(each) if each else b"" for each in own)
        return good, bad

    return texts


def python_clashes(live: Changes, texts: Texts = no_texts) -> Clashing:
    """What took away that which a variant's failure says is missing, else what altered how a function is called that it
    says is not called as it must be, else what its lines speak of: a keyword that the function called does not take is
    raised in the calling one, around which nothing else needs to be undone; in old text, what gave a name that it reads
    another meaning. What was only introduced by what is undone nobody took away: who asks for it wrote the line. Of the
    bad version's own failure, who wrote the line that it is raised by now.
    """
    files = {change.file for change in live.values()}
    meanings = partial(altered_meanings, texts=texts)

    def clashes(reverted: ChangeSet, outcome: Outcome, bad: Outcome) -> ChangeSet:
        if places := raised_elsewhere(outcome, bad, files):
            return written(live, reverted, places)
        otherwise = outcome.reason is Unresolved.DIFFERENT_FAILURE
        said = outcome.signature.message if otherwise and outcome.signature else ""
        undone = [live[each] for each in live.keys() & reverted]
        left = [live[each] for each in live.keys() - reverted]
        took = () if brought(said, undone) else took_away(said, left)
        took = took or altered_arities(
            f"{said}\n{outcome.detail}" if otherwise else "", left, texts
        )
        if 0 < len(took) <= SEARCH.clashing:
            return frozenset(took)
        return clashing(live, reverted, raised_at(outcome, files), meanings)

    return clashes


def _variant_check(
    workspace: Workspace, wanted: Range, green: ChangeSet, pair: Pair[RecordedRun]
) -> VariantCheck:
    reader = TreeReader(workspace.objects)
    files_of = variant_files(reader, wanted)
    return VariantCheck(
        files_of,
        reader.read,
        green,
        executed_lines(pair),
        loaded_files(pair),
        nameless_changes(wanted.changes.changes),
        postponed=pair.mine.traces[0].raw.header["python"] >= _POSTPONING,
    )


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

    def judged(recording: Recording, result: ProcessResult) -> Outcome:
        return test_outcome(result, test.recipe, recording.tree)[0]

    warm = partial(workspace.recorded_warm, test.recipe)
    request = replace(request, warm=warm, judged=judged)
    return PythonTracer(request, built, wanted.variants.tree)
