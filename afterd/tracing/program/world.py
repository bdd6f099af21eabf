"""What a program reads from outside, and where it is in it."""

from __future__ import annotations

from dataclasses import dataclass, field

from afterd.tracing.program.refusal import NotFollowedError


@dataclass(frozen=True, slots=True)
class Input:
    """One test's input: the arguments after the program's name, and standard input, if it is known."""

    arguments: tuple[str, ...] = ()
    stdin: bytes = b""
    stdin_known: bool = True


@dataclass(slots=True)
class World:
    """The position in the input, and the state of functions that keep one.

    What reads raises NotFollowedError where standard input is not ``known``.
    """

    stdin: bytes = b""
    known: bool = True
    at: int = 0
    token: int = 0  # strtok's
    random: int = 1
    sources: dict[int, tuple[str, int]] = field(default_factory=dict)
    """Per input step where it came from: ("argument", its number) or ("stdin", its offset)."""

    def state(self) -> tuple[int, int, int]:
        """What a branch comes back to."""
        return self.at, self.token, self.random

    def restore(self, state: tuple[int, int, int]) -> None:
        """Go back."""
        self.at, self.token, self.random = state

    def line(self, most: int) -> bytes:
        """The next line, with its end, of at most so many bytes."""
        self._read()
        end = self.stdin.find(b"\n", self.at)
        end = len(self.stdin) if end < 0 else end + 1
        taken = self.stdin[self.at : min(end, self.at + most)]
        self.at += len(taken)
        return taken

    def byte(self) -> int:
        """The next byte, or -1."""
        self._read()
        if self.at >= len(self.stdin):
            return -1
        self.at += 1
        return self.stdin[self.at - 1]

    def word(self) -> bytes:
        """The next word after white space."""
        self._read()
        while self.at < len(self.stdin) and self.stdin[self.at : self.at + 1].isspace():
            self.at += 1
        start = self.at
        while self.at < len(self.stdin) and not self.stdin[self.at : self.at + 1].isspace():
            self.at += 1
        return self.stdin[start : self.at]

    def _read(self) -> None:
        if not self.known:
            raise NotFollowedError("it reads a pipe, and what came through it was not kept")
