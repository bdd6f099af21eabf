"""How sentences name several things."""

from __future__ import annotations

from collections.abc import Sequence


def first_names(names: Sequence[str], most: int) -> str:
    """The first few with commas, and how many more there are: ``a, b, c and 4 more``."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
