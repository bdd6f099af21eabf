"""An alarm on this process's CPU time: what ends a solver's call in flight, on a busy machine as on an idle one."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread
from time import process_time
from types import TracebackType
from typing import Self

from afterd.limits import LOGIC


class CpuAlarm:
    """Calls ``ring`` once, from a thread of its own, when so many seconds of CPU time are over.

    The call that is to be interrupted has to let other threads run (python-sat's with ``expect_interrupt``).
    """

    def __init__(self, seconds: float, ring: Callable[[], object]) -> None:
        self.rang = False
        self._until = process_time() + seconds
        self._ring = ring
        self._over = Event()
        self._thread = Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        """One thread at work uses at most a second of CPU time a second: no need to look before that."""
        while not self._over.wait(max(LOGIC.alarm, self._until - process_time())):
            if process_time() >= self._until:
                self.rang = True
                self._ring()
                return
