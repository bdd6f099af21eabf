"""Running a Python suite so that it counts."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from afterd.errors import TraceError
from afterd.execution.build import Builder
from afterd.execution.recipe import Recipe
from afterd.pipeline.failing import Suite
from afterd.pipeline.python_request import python_request
from afterd.pipeline.ranking.counting import Counting
from afterd.pipeline.workspace import Workspace
from afterd.spectra.python import PythonSpectra, shared_spectra
from afterd.trace.python.stage.command import python_command
from afterd.vcs.worktree import Slot

_RUNNERS = frozenset(["pytest", "unittest"])
_MOST_SHARES = 8  # each has a copy of the tree, and collects the whole suite


def is_python(suite: Suite) -> bool:
    """Whether the suite is run by pytest or unittest, or its command starts Python directly."""
    if suite.found is not None:
        return suite.found.runner in _RUNNERS
    recipe = suite.recipe
    return python_command(recipe.test, recipe.environment(Path()), Path()) is not None


def python_counts(
    workspace: Workspace, suite: Suite, tree: str, counting: Counting
) -> PythonSpectra:
    """Build ``tree``, run its suite once and count. TraceError where it does not build or run.

    Every process has a copy of the tree of its own, because tests write into it.
    """
    recipe = suite.recipe
    shares = min(counting.jobs, _MOST_SHARES)
    with ThreadPoolExecutor(shares) as pool:
        trees = list(pool.map(lambda share: _built(recipe, tree, share, counting), range(shares)))
    request = python_request(workspace, recipe, "counted/python-runs", piece=tree)
    counting.progress.stage("running the tests with counters")
    return shared_spectra(request, trees, counting.ran)


def _built(recipe: Recipe, tree: str, share: int, counting: Counting) -> Path:
    slot = Slot(counting.state / "counted" / f"python-{share}", counting.objects)
    built = Builder(slot).build(recipe, tree)
    if not built.ok:
        raise TraceError(
            f"The version to be ranked does not build ({built.detail.splitlines()[0]})."
        )
    return slot.path
