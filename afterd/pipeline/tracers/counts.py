"""Languages that no tracer reads: what a run executed, by the language's own coverage."""

from __future__ import annotations

from afterd.causality.standing import Standing
from afterd.causality.worth import counted_questions
from afterd.compare import CautiousExecution
from afterd.compare.coverage.scopes import is_known
from afterd.compare.coverage.variant_text import MissedNames
from afterd.errors import TraceError
from afterd.limits import WORK
from afterd.model.progress import Progress
from afterd.pipeline.tracers.covered import covered_runs
from afterd.pipeline.tracing import Tracing
from afterd.workspace import FailingTest, Range, Workspace


def traced_by_counts(
    workspace: Workspace,
    wanted: Range,
    test: FailingTest,
    counted: frozenset[str],
    progress: Progress,
) -> Tracing:
    """Of a compiled language a build tells what must go along, of others the text and the run do."""
    told = ", ".join(sorted(counted))
    progress.stage("running the failing and the green test with coverage", told)
    try:
        found = covered_runs(workspace, wanted, test, counted)
    except TraceError as error:
        return Tracing(None, str(error))
    execution, against, why = (
        CautiousExecution(found.execution),
        found.text.against,
        found.uncounted,
    )
    if "js" not in counted:
        standing = Standing(against, lambda change: is_known(change.file))
        questions = counted_questions(standing, WORK.text)
        return Tracing(execution, why, found.seconds, questions, counted=found.counted)
    missing = MissedNames(wanted.changes.by_id())
    standing = counted_questions(Standing(against, proves=False), WORK.text)
    return Tracing(execution, why, found.seconds, standing, missing=missing, counted=found.counted)
