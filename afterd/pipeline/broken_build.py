"""A version that does not build, where the one before it does: the build is the test that broke.

What a compiler refuses is a regression like another, and of a library that is all headers the commonest.
"""

from __future__ import annotations

from afterd.config import Settings
from afterd.errors import BuildError
from afterd.execution.executors.protocol import Attempt, Job
from afterd.execution.failures import native
from afterd.execution.failures.lacks import MODULE, lack_of
from afterd.execution.recipe import Recipe
from afterd.execution.runners.interpreters import own_modules
from afterd.model.outcome import Unresolved
from afterd.model.progress import Progress
from afterd.pipeline.empty_submodules import unbuildable_for_want
from afterd.pipeline.older_tests import taking_part
from afterd.vcs.file_changes import KEPT_TEST
from afterd.workspace import FailingTest, Range, Workspace, build_of, unbuilt_checkout

BUILD_BROKE = (
    "The bad version does not build, and the good one does: what is explained is the build, and no"
    " test was run."
)


def broken_build(
    workspace: Workspace, settings: Settings, wanted: Range, recipe: Recipe, progress: Progress
) -> tuple[Range, FailingTest] | None:
    """The range in which what broke is looked for, and a recipe's build as the test; None where the bad version builds,
    where the good one does not either, and where what is missing, or a newer compiler, is what stands in the way.

    Raises BuildError where it fails for want of a module of Python that is not the project's own (tomli's new setup.py,
    in an environment without setuptools), or of the files of a submodule: that is no regression.

    Where the good version does not build with the bad one's test files, what these need is among what broke it.
    """
    if not recipe.build:
        return None
    bad = _built(workspace, recipe, wanted.variants.bad)
    newer = native.newly_refused(bad.outcome.detail) and not settings.older_compilers
    if bad.outcome.reason is not Unresolved.BUILD or bad.missing or newer:
        return None
    own = own_modules(unbuilt_checkout(workspace, wanted.variants.bad))
    lack = lack_of(bad.outcome.detail, own)
    if lack and lack.what == MODULE:
        why = lack.sentence(recipe.test[0])
        raise BuildError(f"The bad version does not build. {why}", "bad")
    good = wanted.variants.good
    if why := unbuildable_for_want(workspace, good, wanted.variants.bad, bad.outcome.detail):
        said = bad.outcome.detail
        raise BuildError(f"The bad version does not build. {why} Its build says:\n{said}", "bad")
    progress.stage("building the good version", "the bad one does not build")
    tests = frozenset(each.id for each in wanted.changes.changes if each.pruned == KEPT_TEST)
    for within in (wanted, taking_part(wanted, tests)):
        if _built(workspace, recipe, within.variants.tree(within.everything)).outcome.passed:
            return within, build_of(recipe)
    return None


def _built(workspace: Workspace, recipe: Recipe, tree: str) -> Attempt:
    return workspace.executor.submit(Job(tree, recipe, build_only=True)).result()
