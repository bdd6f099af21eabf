"""Telling a listener how far something is that says nothing itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread

from afterd.limits import REPORT
from afterd.model.progress import Progress


@contextmanager
def told_meanwhile(
    progress: Progress, done: Callable[[], int], what: str, every: float = REPORT.every
) -> Iterator[None]:
    """Ask how much is done of ``what`` while the block runs, and pass it on whenever it is more.

    ``done`` is asked in another thread, beside the work; where it cannot say it is asked again later.
    """
    over = Event()

    def telling() -> None:
        told = 0
        while not over.wait(every):
            with suppress(Exception):  # progress never costs an answer
                now = done()
                if now > told:
                    told = now
                    progress.advanced(now, what)

    beside = Thread(target=telling, daemon=True)
    beside.start()
    try:
        yield
    finally:
        over.set()
        beside.join()
