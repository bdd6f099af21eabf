"""What is asked of the Python tracer for two built trees of a workspace."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from afterd.execution.environment import scrubbed
from afterd.execution.recipe import Recipe, import_path
from afterd.model.change import Change
from afterd.pipeline.workspace import Workspace
from afterd.tracing.python.request import PythonTraceRequest


def python_request(
    workspace: Workspace,
    recipe: Recipe,
    trees: tuple[Path, Path],
    place: str,
    *,
    changes: Sequence[Change] = (),
    test: str = "",
    piece: str = "",
) -> PythonTraceRequest:
    """To run ``recipe`` in the good and the bad tree, the folders of theirs first on the import path.

    ``place`` is the folder of the workspace's state that takes the recordings, ``test`` the one test
    that matters, ``piece`` names what is recorded, for a job that goes on after a kill (empty: it is
    recorded anew).
    """
    good, bad = trees
    extra, inside = import_path(recipe)
    checkout = workspace.repository.workdir
    return PythonTraceRequest(
        good=good,
        bad=bad,
        command=recipe.test,
        environment=scrubbed(extra=extra),
        changes=tuple(changes),
        directory=workspace.state / place,
        test=test,
        folder=recipe.folder,
        pythonpath=inside,
        original=Path(checkout) if checkout else None,
        limits=workspace.limits.test,
        work=f"{workspace.work} {piece}" if workspace.work and piece else "",
    )
