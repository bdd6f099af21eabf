"""How the Python tracer runs a test of a workspace."""

from __future__ import annotations

from pathlib import Path

from afterd.execution.environment import scrubbed
from afterd.execution.recipe import Recipe, import_path
from afterd.pipeline.workspace import Workspace
from afterd.trace.python.stage.runner import PythonTraceRequest


def python_request(
    workspace: Workspace,
    recipe: Recipe,
    place: str,
    *,
    test: str = "",
    piece: str = "",
) -> PythonTraceRequest:
    """To run ``recipe`` in a version's tree, its folders first on the import path.

    ``place`` is the folder of the workspace's state that takes the recordings, ``test`` the one test
    that matters, ``piece`` names what is recorded, for a job that goes on after a kill (empty: it is
    recorded anew).
    """
    extra, inside = import_path(recipe)
    checkout = workspace.repository.workdir
    return PythonTraceRequest(
        command=recipe.test,
        environment=scrubbed(extra=extra),
        directory=workspace.state / place,
        test=test,
        folder=recipe.folder,
        pythonpath=inside,
        original=Path(checkout) if checkout else None,
        limits=workspace.limits.test,
        work=f"{workspace.work} {piece}" if workspace.work and piece else "",
    )
