"""What a program draws at random is drawn alike in every recorded run: two of them differ by their versions.

A program that seeds its generators itself, as pytest-randomly and Hypothesis do, sees nothing of it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial

GENERATORS = ("random", "numpy.random")
"""Modules with a generator that the whole program shares, and ``seed`` for it."""


def seeded_generators() -> dict[str, Callable[[], None]]:
    """What is to be done once each of these modules was imported; for those that are, it is done."""
    for name in GENERATORS:
        if name in sys.modules:
            _seed(name)
    return {name: partial(_seed, name) for name in GENERATORS}


def _seed(name: str) -> None:
    sys.modules[name].seed(0)
