"""What a run is asked to do otherwise: one value, at one record, is another one from there on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Replacement:
    """At record ``record`` of process ``process``, ``size`` bytes that are ``was`` become ``now``: those of
    the value that the record tells, or those at ``address``. A run in which they are not ``was``
    there is another run, and nothing is replaced.
    """

    process: int
    record: int
    size: int
    was: int
    now: int
    address: int = 0

    @property
    def settings(self) -> dict[str, str]:
        """For runtime.c."""
        words = (self.process, self.record, self.size, self.was, self.now, self.address)
        return {"AFTERD_REPLACE": ":".join(map(str, words))}
