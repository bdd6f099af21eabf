"""Tests that are red behind one that hangs, where a runner names each only when it has ended."""

from __future__ import annotations

from afterd.execution.recipe import Recipe, Scope
from afterd.model.explanation import Explanation
from afterd.model.outcome import FailureKind


def may_be_red_behind(found: Explanation, recipe: Recipe) -> bool:
    """Whether a command that hangs was only seen to pass with several changes undone.

    Some of these may be the causes of other tests, which would be red with the hang's own undone.
    """
    hangs = found.failure is not None and found.failure.kind is FailureKind.HANG
    return hangs and recipe.scope is Scope.WHOLE and len(found.root) > 1
