"""How much of a user's project is read, and how much of its suite is counted."""

from __future__ import annotations

from dataclasses import dataclass

from afterd.limits.sizes import MIB


@dataclass(frozen=True, slots=True)
class ProjectLimits:
    """What is read to learn how tests are run. All chosen; beyond, it is taken for not said."""

    imported: int = 2_000  # files that a test imports, directly or not
    files: int = 5_000  # that may be tests
    importing: int = 400  # files whose imports tell what an interpreter must have
    scripts: int = 5  # scripts of npm that call one another
    text: int = MIB  # of a file of the project
    source: int = 16 * MIB  # of a source whose includes are read


PROJECT = ProjectLimits()


@dataclass(frozen=True, slots=True)
class RankingLimits:
    """What counting a suite for a ranking of lines may cost. All chosen."""

    least_seconds: float = 30.0  # that a suite may be counted; or as long as the answer took
    spare: float = 0.5  # of the budget: with less left the suite is not counted
    output: int = 64 * MIB  # of one test
    shares: int = 8  # of a suite: each has a copy of the tree, and collects all of it


RANKING = RankingLimits()
