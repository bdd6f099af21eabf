"""How far something is, told beside it."""

from __future__ import annotations

import threading

from afterd.execution.meanwhile import told_meanwhile
from afterd.model.progress import Silent


class Heard(Silent):
    """Remembers what it was told, and says when that is enough."""

    def __init__(self, enough: int) -> None:
        self.told: list[tuple[int, str]] = []
        self.enough = threading.Event()
        self._most = enough

    def advanced(self, done: int, what: str) -> None:
        self.told.append((done, what))
        if len(self.told) == self._most:
            self.enough.set()


def test_what_grew_is_told_once_and_a_fault_costs_nothing() -> None:
    heard, looks = Heard(2), iter([0, 3, 3, -1, 7])

    def done() -> int:
        look = next(looks, 7)
        if look < 0:
            raise OSError("a file that is being made")
        return look

    with told_meanwhile(heard, done, "events", every=0.01):
        assert heard.enough.wait(30)
    assert heard.told == [(3, "events"), (7, "events")]
