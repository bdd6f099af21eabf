"""A small disk of its own for a bench, which can be filled to the last byte: a tmpfs, where mounting one is allowed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from afterd.execution.environment import scrubbed_environment
from afterd.execution.process import Command
from afterd.execution.sandbox import run
from afterd.limits import MIB, ProcessLimits

_LIMITS = ProcessLimits(timeout=20.0)
_BLOCK = b"\0" * MIB


@contextmanager
def small_disk(place: Path, size: int) -> Iterator[bool]:
    """Mount one of ``size`` bytes at ``place`` while the block runs; False where that is not allowed here."""
    mounted = _succeeds(
        "mount", "-t", "tmpfs", "-o", f"size={size},mode=0700", "afterd", str(place)
    )
    try:
        yield mounted
    finally:
        if mounted:
            _succeeds("umount", "--lazy", str(place))


def _succeeds(*argv: str) -> bool:
    result = run(Command(argv, Path("/"), scrubbed_environment()), _LIMITS)
    try:
        return result.succeeded
    finally:
        result.remove()


@contextmanager
def filled_disk(place: Path) -> Iterator[None]:
    """No byte is free on the disk of ``place`` while the block runs, whatever others remove meanwhile.

    Only for a disk that nobody else needs. What is freed during the block stays free until ``top_up``.
    """
    try:
        top_up(place)
        yield
    finally:
        _ballast(place).unlink(missing_ok=True)


def top_up(place: Path) -> None:
    """Take what is free now."""
    with suppress(OSError), _ballast(place).open("ab", buffering=0) as file:
        for block in (_BLOCK, _BLOCK[:4096]):
            with suppress(OSError):
                while file.write(block):
                    pass


def _ballast(place: Path) -> Path:
    return place / "ballast"
