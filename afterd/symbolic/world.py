"""What a program reads from outside, and the state of library functions that keep one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from afterd.symbolic.refusal import NotFollowedError


@dataclass(frozen=True, slots=True)
class Input:
    """One test's input: the arguments after the program's name, and standard input, if it is known.

    ``folder`` is where the names of files begin that the program opens (None: it finds none).
    """

    arguments: tuple[str, ...] = ()
    stdin: bytes = b""
    stdin_known: bool = True
    folder: Path | None = None


@dataclass(frozen=True, slots=True)
class Stream:
    """An open file. Its position, what was pushed back and whether its end was met are memory of the
    program (``state``), and so are its bytes (``content``, a word each, -1 behind the last one): where the
    sides of a branch read differently, the place where they meet chooses.
    """

    name: str
    data: bytes
    state: int
    content: int
    written: bool = False


@dataclass(slots=True)
class World:
    """The input, the open files by the address of their FILE, and what strtok and rand remember."""

    given: Input = field(default_factory=Input)
    streams: dict[int, Stream] = field(default_factory=dict)
    token: int = 0  # strtok's
    random: int = 1
    written: set[str] = field(default_factory=set)
    sources: dict[int, tuple[str, int]] = field(default_factory=dict)
    """Per input step where it came from: ("argument", its number) or ("stdin", its offset)."""
    environment: Mapping[str, str] = field(default_factory=dict)

    def copy(self) -> World:
        """The same for an execution of its own."""
        return replace(
            self, streams=dict(self.streams), written=set(self.written), sources=dict(self.sources)
        )

    def state(self) -> tuple[int, int]:
        """What a branch comes back to."""
        return self.token, self.random

    def restore(self, state: tuple[int, int]) -> None:
        """Go back."""
        self.token, self.random = state

    def stdin(self) -> bytes:
        """Standard input. Raises NotFollowedError where it is not known."""
        if not self.given.stdin_known:
            raise NotFollowedError("it reads a pipe, and what came through it was not kept")
        return self.given.stdin

    def file(self, name: str) -> bytes | None:
        """The bytes of a file; None where there is none. Raises NotFollowedError for one it wrote."""
        if name in self.written:
            raise NotFollowedError(f"it reads the file {name}, which it wrote itself")
        if self.given.folder is None:
            return None
        path = self.given.folder / name
        return path.read_bytes() if path.is_file() else None
