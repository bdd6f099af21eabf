"""What a program draws at random is drawn alike in every recorded run: two of them differ by their versions.

A program that seeds its generators itself, as pytest-randomly and Hypothesis do, sees nothing of it.
"""

from __future__ import annotations

import sys
from functools import partial


def _seed(name: str) -> None:
    sys.modules[name].seed(0)


SEEDED = {name: partial(_seed, name) for name in ("random", "numpy.random")}
"""Modules with a generator that the whole program shares, and what is to be done once they were imported."""
