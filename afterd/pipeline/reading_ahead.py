"""Importing the modules of the next stage while the tests of this one run."""

from __future__ import annotations

import contextlib
import importlib
import threading
from collections.abc import Iterator


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
