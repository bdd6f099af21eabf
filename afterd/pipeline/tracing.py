"""Choosing a tracer for a failing test, and what to say when there is none."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path, PurePath

from afterd.causality.analysis import TracedVariant, not_traced
from afterd.causality.auxiliary import IsRead, Unbuildable, all_are_read, nothing_against
from afterd.deltas.clash import clashing
from afterd.deltas.dependencies import remaining
from afterd.errors import ToolchainError, TraceError
from afterd.execution.build import Builder
from afterd.execution.toolchain import find
from afterd.model.change import NOTHING, ChangeForm, ChangeSet
from afterd.model.progress import Progress
from afterd.model.trace import Execution
from afterd.pipeline.failing import FailingTest
from afterd.pipeline.python_request import python_request
from afterd.pipeline.runs_as_builds import (
    Clashing,
    Missing,
    nothing_clashes,
    nothing_missing,
)
from afterd.pipeline.workspace import Range, Workspace
from afterd.tracing.cautious import CautiousExecution
from afterd.tracing.llvm.compilations import compilations
from afterd.tracing.llvm.session import TraceRequest, trace
from afterd.tracing.llvm.syntax_check import SyntaxCheck, is_read
from afterd.tracing.python.places import raised_at
from afterd.tracing.python.request import PythonTraceRequest
from afterd.tracing.python.session import traced as python_traced
from afterd.tracing.python.unbuildable import MissingPieces
from afterd.tracing.python.variant_check import Lines, VariantCheck
from afterd.vcs.trees import TreeReader
from afterd.vcs.worktree import Slot

_C = frozenset(
    [".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh", ".hxx", ".inc", ".def", ".y", ".l"]
)
_PYTHON = frozenset((".py",))


@dataclass(frozen=True, slots=True)
class Tracing:
    """The execution, or the sentence that says why there is none; seconds of build and run.

    ``unbuildable`` tells what a compiler says against a variant without building it, for changes
    that it reads (``is_read``); ``suspected``: that is no proof, the variant may work all the same, but for
    what is ``certain``.
    ``missing`` tells from a run whether what was undone was missed, ``clashing`` what it met that was
    not; ``variant`` traces a variant.
    """

    execution: Execution | None
    reason: str = ""
    seconds: float = 0.0
    unbuildable: Unbuildable = nothing_against
    is_read: IsRead = all_are_read
    suspected: bool = False
    certain: Unbuildable = nothing_against
    missing: Missing = nothing_missing
    clashing: Clashing = nothing_clashes
    variant: TracedVariant = not_traced


def traced(workspace: Workspace, wanted: Range, test: FailingTest, progress: Progress) -> Tracing:
    """The failing run with the green run beside it, where a language can be traced."""
    languages = _languages(wanted)
    reasons: list[str] = []
    if "c" in languages:
        progress.stage("tracing the failing and the green run", "C and C++, through LLVM IR")
        try:
            request = _request(workspace, wanted, test)
            found = trace(request)
        except (TraceError, ToolchainError) as error:
            reasons.append(str(error))
        else:
            return Tracing(
                CautiousExecution(found.execution),
                "",
                found.build_seconds + found.test_seconds,
                _syntax_check(workspace, wanted, request).against,
                is_read,
            )
    if "python" in languages:
        progress.stage("tracing the failing and the green run", "Python, through its syntax tree")
        try:
            python = python_traced(_python_request(workspace, wanted, test))
        except TraceError as error:
            reasons.append(str(error))
        else:
            check = _variant_check(workspace, wanted, python.execution.executed_lines())
            return Tracing(
                CautiousExecution(python.execution),
                "",
                python.test_seconds,
                check.against,
                suspected=True,
                certain=check.certain,
                missing=MissingPieces(wanted.changes.by_id()),
                clashing=_python_clashes(wanted),
                variant=lambda reverted: _python_variant(workspace, wanted, test, reverted),
            )
    if not reasons:
        reasons.append(
            "No changed file is in a language that afterd traces; only reversion was used."
        )
    return Tracing(None, " ".join(reasons))


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
        good_tree=wanted.variants.tree(wanted.everything),
        bad_tree=wanted.variants.bad,
        slots=workspace.trace_slots(),
        recipe=test.recipe,
        changes=wanted.changes.live,
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


def _variant_check(workspace: Workspace, wanted: Range, ran: tuple[Lines, Lines]) -> VariantCheck:
    reader = TreeReader(workspace.objects)

    def files_of(reverted: ChangeSet) -> dict[str, str]:
        files = reader.files(wanted.variants.tree(reverted))
        return {os.fsdecode(path): entry.id for path, entry in files if entry.is_file}

    return VariantCheck(files_of, reader.read, wanted.everything, ran)


def _python_variant(
    workspace: Workspace, wanted: Range, test: FailingTest, reverted: ChangeSet
) -> Execution | None:
    """How the test fails without some changes; None where that leaves no trace."""
    try:
        return CautiousExecution(
            python_traced(_python_request(workspace, wanted, test, reverted)).execution
        )
    except TraceError:
        return None


def _python_request(
    workspace: Workspace, wanted: Range, test: FailingTest, reverted: ChangeSet = NOTHING
) -> PythonTraceRequest:
    """Both versions built where they must be; the slot's own folders first on the import path.

    ``reverted``: a variant takes the bad version's place.
    """
    trees = wanted.variants.tree(wanted.everything), wanted.variants.tree(reverted)
    good, bad = (
        _prepared(slot, tree, test)
        for slot, tree in zip(workspace.trace_slots(), trees, strict=True)
    )
    return python_request(
        workspace,
        test.recipe,
        (good, bad),
        "traced/python-variant" if reverted else "traced/python",
        changes=remaining(wanted.changes.live, reverted),
        test=test.recipe.test_id if test.runner != "command" else "",
        piece=str(trees),
    )


def _prepared(slot: Slot, tree: str, test: FailingTest) -> Path:
    """A slot with a tree in it, built. TraceError where the build fails."""
    built = Builder(slot).build(test.recipe, tree)
    if not built.ok:
        message = f"The version to be traced does not build ({built.detail.splitlines()[0]})."
        raise TraceError(message)
    return slot.path
