"""Trying again, and for how long. The clients' own retries are off: they repeat a POST that may
have been carried out, and a comment would stand there twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from afterd.forge.refusal import PASSING, Refusal

Result = TypeVar("Result")

_FIRST_WAIT = 1.0


@dataclass(frozen=True, slots=True)
class Patience:
    """``seconds`` is how long it may take in all; what the forge asks for beyond is not waited."""

    seconds: float = 120.0
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic

    def __call__(self, action: Callable[[], Result]) -> Result:
        """``action`` until it succeeds, from its beginning each time, so it has to look for what a
        lost answer may have left. Raises Refusal: the last one, or one that will not pass.
        """
        deadline = self.clock() + self.seconds
        pause = _FIRST_WAIT
        while True:
            try:
                return action()
            except Refusal as refused:
                wait = pause if refused.wait is None else refused.wait
                if refused.kind not in PASSING or self.clock() + wait > deadline:
                    raise
                self.sleep(wait)
                pause *= 2
