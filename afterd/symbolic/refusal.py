"""Why a program, or one side of a branch, cannot be followed."""

from __future__ import annotations

from afterd.model.term import Term


class NotFollowedError(Exception):
    """Something that the executor has no meaning for; the message is a phrase for a reader."""


class SideEndedError(Exception):
    """The execution of one side is over before the sides meet again.

    ``address`` and ``at``: the term and the value of an address that could not be accessed.
    """

    def __init__(self, reason: str, address: Term | None = None, at: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.address = address
        self.at = at


class TooLongError(NotFollowedError):
    """The run has more instructions than are executed."""
