"""Ctrl-C as the user's word that it is enough: what was found until then is the answer."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def stopped_by_interrupt() -> Iterator[Callable[[], bool]]:
    """Whether to go on; a second Ctrl-C interrupts as ever. Elsewhere than in the main thread: always."""
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield lambda: True
        return
    before = signal.getsignal(signal.SIGINT)

    def stop(number: int, frame: FrameType | None) -> None:
        del number, frame
        asked.set()
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, stop)
    try:
        yield lambda: not asked.is_set()
    finally:
        signal.signal(signal.SIGINT, before)
