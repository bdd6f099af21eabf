"""Revisions and the range between the baseline and the regression."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RevisionRange:
    """The baseline (last green, ``good``) and the regression (red, ``bad``), as full commit ids."""

    good: str
    bad: str
