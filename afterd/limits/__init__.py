"""Every budget in one place: how long, how much, how many. Sizes in bytes, times in seconds.

The numbers with a source are measured or quoted in ``references/reliability.md`` (sections 13, 14
and 16); the others are starting points that a configuration may change.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from afterd.limits.changes import GIT, ChangeLimits, GitLimits
from afterd.limits.daemon import JOB, WATCH, JobLimits, WatchLimits
from afterd.limits.pages import (
    PICTURE,
    RECEIVED,
    REPORT,
    REPORT_FILE,
    PictureLimits,
    ReceivedLimits,
    ReportFileLimits,
    ReportLimits,
)
from afterd.limits.processes import (
    GROUP,
    WARM,
    WORK,
    GroupLimits,
    ProcessLimits,
    WarmLimits,
    WorkerLimits,
    WorkLimits,
)
from afterd.limits.projects import PROJECT, RANKING, ProjectLimits, RankingLimits
from afterd.limits.searching import (
    SEARCH,
    STORY,
    VARIANT_TEXT,
    LoopLimits,
    SearchLimits,
    StoryLimits,
    VariantTextLimits,
)
from afterd.limits.sizes import GIB, MIB
from afterd.limits.solving import (
    DEMAND,
    LOGIC,
    MACHINE,
    DemandLimits,
    FormulaLimits,
    LogicLimits,
    MachineLimits,
    SolverLimits,
)
from afterd.limits.traces import (
    C_PAIR,
    C_TRACE,
    PYTHON_PAIR,
    PYTHON_TRACE,
    CPairLimits,
    CTraceLimits,
    PythonPairLimits,
    PythonTraceLimits,
    TraceLimits,
)

__all__ = [
    "C_PAIR",
    "C_TRACE",
    "DEMAND",
    "GIB",
    "GIT",
    "GROUP",
    "JOB",
    "LOGIC",
    "MACHINE",
    "MIB",
    "PICTURE",
    "PROJECT",
    "PYTHON_PAIR",
    "PYTHON_TRACE",
    "RANKING",
    "RECEIVED",
    "REPORT",
    "REPORT_FILE",
    "SEARCH",
    "STORY",
    "VARIANT_TEXT",
    "WARM",
    "WATCH",
    "WORK",
    "CPairLimits",
    "CTraceLimits",
    "ChangeLimits",
    "DemandLimits",
    "FormulaLimits",
    "GitLimits",
    "GroupLimits",
    "JobLimits",
    "Limits",
    "LogicLimits",
    "LoopLimits",
    "MachineLimits",
    "PictureLimits",
    "ProcessLimits",
    "ProjectLimits",
    "PythonPairLimits",
    "PythonTraceLimits",
    "RankingLimits",
    "ReceivedLimits",
    "ReportFileLimits",
    "ReportLimits",
    "SearchLimits",
    "SolverLimits",
    "StoryLimits",
    "TraceLimits",
    "VariantTextLimits",
    "WarmLimits",
    "WatchLimits",
    "WorkLimits",
    "WorkerLimits",
]


@dataclass(frozen=True, slots=True)
class Limits:
    """All of them."""

    test: ProcessLimits = field(default_factory=ProcessLimits)
    build: ProcessLimits = field(
        default_factory=lambda: ProcessLimits(timeout=1800.0, memory=8 * GIB, file_size=8 * GIB)
    )
    suite: ProcessLimits = field(  # a test that says nothing for as long as ``test`` allows ends it
        default_factory=lambda: ProcessLimits(timeout=14400.0, output=512 * MIB, memory=12 * GIB)
    )
    probe: ProcessLimits = field(
        default_factory=lambda: ProcessLimits(timeout=60.0, output=4 * MIB)
    )
    worker: WorkerLimits = field(default_factory=WorkerLimits)
    solver: SolverLimits = field(default_factory=SolverLimits)
    trace: TraceLimits = field(default_factory=TraceLimits)
    change: ChangeLimits = field(default_factory=ChangeLimits)
    search: SearchLimits = field(default_factory=SearchLimits)
    story: StoryLimits = field(default_factory=StoryLimits)
