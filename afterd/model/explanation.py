"""The answer: root, auxiliary changes, causal tree, ranking, and what it cost.

A ranked list of statements, each technique's vote kept.

Revisions and the range between the baseline and the regression.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Any

from afterd.model.change import Change, ChangeId
from afterd.model.outcome import FailureKind


class Status(StrEnum):
    """How an explanation ended (the ``status`` of the JSON contract)."""

    EXPLAINED = "explained"
    INCONCLUSIVE = "inconclusive"
    FLAKY = "flaky"
    ALREADY_RED = "already-red"
    BROKEN = "broken"
    GREEN = "green"  # nothing fails


THE_SUITE = "the test suite"  # the test, where those of a suite have no names
THE_BUILD = "the build"  # the test that a build is, where that is what broke
NO_GREEN = "there is no green to compare with"
"""Part of the reason where a test is new, or its own text is what changed."""
ALWAYS_RED = "as far back as the history goes"
"""Part of the reason where no older commit passes: there is none to name."""


class Evidence(StrEnum):
    """How a claim is known."""

    PROVED = "proved"  # in a minimal unsat core
    OBSERVED = "observed"  # seen by re-execution
    INFERRED = "inferred"  # dependence only


@dataclass(frozen=True, slots=True)
class Failure:
    """The failed assertion as it is shown."""

    kind: FailureKind
    message: str
    file: str = ""
    line: int = 0
    observed: str = ""
    expected: str = ""

    @property
    def place(self) -> str:
        """The file with its line, where that is known; '' without a file."""
        return f"{self.file}:{self.line}" if self.line else self.file


EMPTY, NOT_EMPTY = "the text is empty", "the text is not empty"
"""What stands for what a text's truth was computed from: each says by itself what held."""


@dataclass(frozen=True, slots=True)
class TreeStep:
    """A line of a cause: what the statement had, what it had without the change, and how it is known.

    ``was`` is the statement as it stands with ``change`` undone. ``computed`` is the statement with
    the values that it read put in, ``undone`` the same of the run with the root undone. ``tested``:
    with that run's value put here, and nothing else altered, the test passes. ``whose``: of several guilty
    changes the one that alone alters this step.
    """

    file: str
    line: int
    text: str
    target: str = ""
    observed: str = ""
    green: str = ""
    change: ChangeId = ""
    evidence: Evidence = Evidence.INFERRED
    was: str = ""
    computed: str = ""
    undone: str = ""
    tested: bool = False
    whose: ChangeId = ""


@dataclass(frozen=True, slots=True)
class CauseNode:
    """One cause (AFTER): the steps behind an unsat core for ``predicate``; children explain it."""

    predicate: str
    file: str
    line: int
    steps: tuple[TreeStep, ...]
    causes: tuple[CauseNode, ...] = ()
    evidence: Evidence = Evidence.INFERRED  # of the edge from the parent to this cause

    def nodes(self) -> Iterator[CauseNode]:
        """This cause and all below it, each before those that explain it."""
        pending = [self]
        while pending:
            node = pending.pop()
            yield node
            pending += node.causes


@dataclass(frozen=True, slots=True)
class Seconds:
    """Wall-clock seconds by stage; ``story``: the causal tree, once the root was known."""

    total: float = 0.0
    build: float = 0.0
    test: float = 0.0
    trace: float = 0.0
    solve: float = 0.0
    story: float = 0.0

    def __add__(self, later: Seconds) -> Seconds:
        """Both by stage, where ``later`` is of the same clock: its total has these in it."""
        return replace(Seconds(**_sums(self, later)), total=max(self.total, later.total))


@dataclass(frozen=True, slots=True)
class RunCounts:
    """What the answer cost.

    ``confirmation`` runs (both ends, and an answer that was seen in warm runs alone) are apart from
    ``tests``; ``warm`` counts those of both kinds that were forks of a warm process. ``interventions`` are runs
    in which one value of the story was set to what it had without the root; apart from ``tests`` too.
    """

    tests: int = 0
    builds: int = 0
    cached: int = 0
    smt_calls: int = 0
    confirmation: int = 0
    seconds: Seconds = field(default_factory=Seconds)
    warm: int = 0
    interventions: int = 0

    def __add__(self, later: RunCounts) -> RunCounts:
        """What two searches of one explanation cost together."""
        return RunCounts(**_sums(self, later))


def _sums(one: Seconds | RunCounts, later: Seconds | RunCounts) -> dict[str, Any]:
    """Field by field."""
    names = [each.name for each in fields(one)]
    return {name: getattr(one, name) + getattr(later, name) for name in names}


@dataclass(frozen=True, slots=True)
class ChangeCounts:
    """How many changes the range has, how many were pruned, how many the failing run executed."""

    total: int = 0
    pruned: int = 0
    executed: int = 0


@dataclass(frozen=True, slots=True)
class Explanation:
    """The explanation of one failing test; ``id`` is the store's (0 before it is stored).

    ``also`` names other failing tests that pass with the same changes undone. ``remarks`` are what a reader has to
    know to take the answer for what it is (what was set aside, of which version tests are), ``notes`` what was
    not followed on the way to it. ``out_of_budget``: more time, or more runs, may tell more.
    """

    id: int
    test: str
    status: Status
    range: RevisionRange
    failure: Failure | None = None
    root: tuple[Change, ...] = ()
    auxiliary: tuple[Change, ...] = ()
    minimal: bool | None = None  # None: not checked, the budget ran out
    verified: bool = False
    changes: ChangeCounts = field(default_factory=ChangeCounts)
    tree: CauseNode | None = None
    ranking: tuple[RankedLine, ...] = ()
    runs: RunCounts = field(default_factory=RunCounts)
    strategy: str = "after"
    notes: tuple[str, ...] = ()
    reason: str = ""  # of a status that is not EXPLAINED; of one that is, what is to be read before the changes
    build_command: tuple[str, ...] = ()  # with test_command: how anyone can see it again
    test_command: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    out_of_budget: bool = False


@dataclass(frozen=True, slots=True)
class RankedLine:
    """A line with its fused score and the votes it was fused from."""

    file: str
    line: int
    score: float
    votes: Mapping[str, float] = field(default_factory=dict)
    text: str = ""


@dataclass(frozen=True, slots=True)
class RevisionRange:
    """The baseline (last green, ``good``) and the regression (red, ``bad``), as full commit ids."""

    good: str
    bad: str
