"""What is different where clang is zig's: a module of its own, as afterd-cc reads it for every file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def is_zigs(argv: Sequence[str]) -> bool:
    """Whether a command line starts zig, be it through ``env``."""
    return any(Path(word).stem == "zig" for word in argv[:3])
