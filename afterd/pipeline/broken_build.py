"""A version that does not build, where the one before it does: the build is the test that broke.

What a compiler refuses is a regression like another, and of a library that is all headers the commonest.
"""

from __future__ import annotations

from afterd.config import Settings
from afterd.execution.executors.protocol import Attempt, Job
from afterd.execution.failures import native
from afterd.model.outcome import Unresolved
from afterd.model.progress import Progress
from afterd.pipeline.broken import Broken
from afterd.workspace import Range, Suite, Workspace

_NOTE = "The bad version does not build, and the good one does: what is explained is the build, and no test was run."


def broken_build(
    workspace: Workspace, settings: Settings, wanted: Range, suite: Suite, progress: Progress
) -> Broken | None:
    """The build as what broke; None where the bad version builds, where the good one does not either, and where what
    is missing, or a newer compiler, is what stands in the way.
    """
    if not suite.recipe.build:
        return None
    bad = _built(workspace, suite, wanted.variants.bad)
    newer = native.newly_refused(bad.outcome.detail) and not settings.older_compilers
    if bad.outcome.reason is not Unresolved.BUILD or bad.missing or newer:
        return None
    progress.stage("building the good version", "the bad one does not build")
    for tree in (wanted.variants.tree(wanted.everything), wanted.variants.good):
        if _built(workspace, suite, tree).outcome.passed:
            return Broken(suite, (suite.build(),), (_NOTE,))
    return None


def _built(workspace: Workspace, suite: Suite, tree: str) -> Attempt:
    return workspace.executor.submit(Job(tree, suite.recipe, build_only=True)).result()
