"""What is done beside what has to be waited for: the first run of the bad version while the range is read, imports of
the next stage while the tests of this one run.
"""

from __future__ import annotations

import contextlib
import importlib
import threading
from collections.abc import Iterator

from afterd.config import Settings
from afterd.execution.executors import Job
from afterd.vcs.lacking import note_lacking
from afterd.vcs.repository import parse_range
from afterd.vcs.trees import TreeReader
from afterd.workspace import Suite, Workspace, given_recipe, name_of_a_runner, typed_names


def begin_bad_run(workspace: Workspace, settings: Settings) -> Suite | None:
    """Start the first run of the bad version, where a command was given: whoever confirms that end asks for it.

    The suite is that command's; None where nothing was begun. Raises RepositoryError for what is no range.
    """
    given = settings.test and settings.diff is None and not settings.tests
    if not given or workspace.asked is not None:  # another may have answered meanwhile
        return None
    if typed_names(settings.test) or name_of_a_runner(settings, workspace.repository.workdir or ""):
        return None
    revisions = parse_range(workspace.repository, settings.range, settings.good or None)
    note_lacking(workspace.objects, revisions.good, revisions.bad)
    suite = Suite(given_recipe(workspace, settings))
    recipe = suite.test(suite.recipe.test_id).recipe
    tree = TreeReader(workspace.objects).tree_of(revisions.bad)
    workspace.begin(Job(tree, recipe))
    return suite


@contextlib.contextmanager
def reading_ahead(*modules: str) -> Iterator[None]:
    """Import ``modules`` in a thread beside what is done here, which waits for other processes.

    Those of the search take as long as a short test. It is over when they are imported: two threads
    never import at once what depends on each other. What cannot be imported says so where it is used.
    """

    def read() -> None:
        with contextlib.suppress(ImportError):
            for name in modules:
                importlib.import_module(name)

    thread = threading.Thread(target=read, name="reading ahead", daemon=True)
    thread.start()
    try:
        yield
    finally:
        thread.join()
