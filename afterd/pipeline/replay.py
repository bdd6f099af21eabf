"""Stored explanations made to happen again: a variant's outcome, and the patch that repairs."""

from __future__ import annotations

from dataclasses import dataclass, replace

from afterd.config import Settings, command_line
from afterd.errors import UsageError
from afterd.execution.oracle import Oracle
from afterd.execution.recipe import Recipe, Scope
from afterd.limits import REPORT
from afterd.model.change import Change, ChangeList, ChangeSet, in_order
from afterd.model.explanation import THE_SUITE, Explanation
from afterd.model.location import LineSpan
from afterd.model.outcome import Outcome
from afterd.model.progress import Progress, Silent
from afterd.pipeline.same_root import reverted_changes
from afterd.store.explanations import load
from afterd.store.outcomes import StoredOutcomes
from afterd.vcs.file_changes import tree_patch
from afterd.vcs.lacking import lacking_key
from afterd.workspace import (
    Range,
    Workspace,
    detected_tests,
    given_recipe,
    opened_workspace,
    range_between,
    recipe_in_container,
    suite_of,
    typed_command,
    uncut_command,
)


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a replay showed; ``compared``: a failure is the same as the one that was explained."""

    outcome: Outcome
    compared: bool


def replay(
    settings: Settings,
    explanation_id: int,
    reverted: ChangeSet | None = None,
    waiting: Progress | None = None,
) -> Replayed:
    """Build and test the bad version with ``reverted`` undone (None: root and auxiliary).

    No stored outcome is used but the failure that was explained: the run is made. UsageError for an
    unknown id or change, BusyError where another afterd is at work and nobody hears of ``waiting``.
    """
    doing = f"replays explanation {explanation_id}"
    with opened_workspace(settings, doing=doing, waiting=waiting) as workspace:
        explanation = load(workspace.store, explanation_id)
        wanted = range_between(workspace, explanation.range)
        expect_same_changes(explanation, wanted.changes)
        chosen = reverted_changes(explanation) if reverted is None else reverted
        unknown = chosen - wanted.changes.ids
        if unknown:
            named = ", ".join(in_order(unknown))
            message = (
                f"The range of explanation {explanation_id} has no change {named};"
                f" see `afterd show {explanation_id}`."
            )
            raise UsageError(message)
        recipe = _recipe(workspace, settings, wanted, explanation)
        oracle = Oracle(wanted.variants.tree, recipe, workspace.executor)
        stored = StoredOutcomes(workspace.store)
        oracle.reference = stored.failure(wanted.variants.bad, recipe.test_id)
        return Replayed(oracle.outcome(chosen), compared=oracle.reference is not None)


def revert_patch(settings: Settings, explanation_id: int, waiting: Progress | None = None) -> str:
    """The smallest revert that builds and passes, as a git patch against the bad version.

    UsageError when the explanation names no root.
    """
    with opened_workspace(settings, doing="writes a patch", waiting=waiting) as workspace:
        explanation = load(workspace.store, explanation_id)
        chosen = reverted_changes(explanation)
        if not chosen:
            message = f"Explanation {explanation_id} found no root, so there is nothing to revert."
            raise UsageError(message)
        wanted = range_between(workspace, explanation.range)
        expect_same_changes(explanation, wanted.changes)
        patch = tree_patch(workspace.objects, wanted.variants.bad, wanted.variants.tree(chosen))
        return patch.decode(errors="surrogateescape")


def expect_same_changes(explanation: Explanation, changes: ChangeList) -> None:
    """That an answer's changes are still what its range is divided into.

    UsageError where they are not: another version of afterd, or other limits, numbered the changes, and c7 is
    another one now.
    """
    known = changes.by_id()
    for change in (*explanation.root, *explanation.auxiliary):
        now = known.get(change.id)
        if now is None or _place(now) != _place(change):
            ends = explanation.range
            message = (
                f"Explanation {explanation.id} was made when this range was divided otherwise: its {change.id} is"
                f" {change.file}:{change.new.start}, which is no such change now. Explain it once more:"
                f" afterd explain {ends.good[: REPORT.commit]}..{ends.bad[: REPORT.commit]}"
            )
            raise UsageError(message)


def _place(change: Change) -> tuple[str, str, LineSpan, LineSpan]:
    return change.file, change.old_file, change.old, change.new


def _recipe(
    workspace: Workspace, settings: Settings, wanted: Range, explanation: Explanation
) -> Recipe:
    """The recipe of the explained test: as configured now, with the test that was explained."""
    command, whole = explanation.test_command, {command_line(explanation.test_command), THE_SUITE}
    if command:
        if settings.test or explanation.test == command_line(command):
            build = explanation.build_command
            as_before = replace(settings, test=command, build=build, prepare="")
            recipe, suite = given_recipe(workspace, as_before), typed_command(settings.test)
        else:
            # a test that was found, not given, needs what its runner sets, such as PYTHONPATH
            recipe, suite = _found_recipe(workspace, settings, wanted, explanation)
        recipe = replace(recipe, test_id=explanation.test)
        if explanation.test in whole:
            return replace(recipe, told_by="")
        of_all = (suite, uncut_command(suite, recipe.told_by))
        return replace(recipe, scope=Scope.AMONG if command in of_all else Scope.ALONE)
    return (
        suite_of(workspace, settings, wanted.variants.bad, Silent()).test(explanation.test).recipe
    )


def _found_recipe(
    workspace: Workspace, settings: Settings, wanted: Range, explanation: Explanation
) -> tuple[Recipe, tuple[str, ...]]:
    """The recipe of a test of a suite that was found, and the command of the whole suite."""
    found = detected_tests(workspace, settings, wanted.variants.bad)
    recipe = Recipe(
        explanation.test_command,
        explanation.build_command,
        extra={**workspace.surroundings, **found.extra},
        tools=found.tools + lacking_key(workspace.objects),
        told_by=found.runner,
        limits=workspace.limits,
    )
    return recipe_in_container(recipe, settings), found.test
