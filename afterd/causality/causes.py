"""The causes found so far (the paper's Σ) and the predicates still to be explained (its P)."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Container
from dataclasses import dataclass, field, replace

from afterd.causality.cause import Link
from afterd.causality.critical_predicates import Critical, extract_critical_predicates
from afterd.causality.infection import (
    Green,
    carriers_into,
    detours,
    enters_unread,
    is_clean,
    is_harmless,
    is_infected,
)
from afterd.causality.origins import origins
from afterd.causality.semantic import CoreOf, SliceLimits, semantic_analysis
from afterd.causality.signs import Sign
from afterd.causality.worth import Worth
from afterd.limits import SEARCH
from afterd.logic.terms import distinct_reads
from afterd.model.change import ChangeId
from afterd.model.explanation import Evidence
from afterd.model.progress import Progress
from afterd.model.term import StepId
from afterd.model.trace import Alignment, Execution, Predicate, Step
from afterd.trace.slicing import BackwardSlice

_URGENCY = {Alignment.DIFFERENT: 0, Alignment.ABSENT: 1, Alignment.UNKNOWN: 2, Alignment.SAME: 3}


@dataclass(frozen=True, slots=True, order=True)
class _Waiting:
    """A predicate in P; ordered as they are taken out."""

    idle: bool  # as in green: it can only matter if the alignment is wrong
    aside: bool  # what it decided is infected by other things as well, or not at all
    absent: bool  # green never came to it: where the runs parted comes first
    level: int
    urgency: int
    farness: int
    predicate: Predicate = field(compare=False)
    parent: int | None = field(compare=False, default=None)
    evidence: Evidence = field(compare=False, default=Evidence.PROVED)
    doubt: tuple[Sign, ...] = field(compare=False, default=())


class Causes:
    """Semantic analysis, level by level but for what alone leads on; ``links`` are the causes in the
    order of discovery.
    """

    def __init__(
        self,
        execution: Execution,
        core_of: CoreOf,
        progress: Progress,
        green: Green,
        most: int = 50,
        limits: SliceLimits | None = None,
        worth: Worth | None = None,
    ) -> None:
        self.links: list[Link] = []
        self._execution = execution
        self._core_of = core_of
        self._green = green
        self._progress = progress
        self._left = most
        self._limits = limits
        self._worth = worth or Worth()
        self._elsewhere = 0  # work that was done between levels, for other evidence
        self._left_off: int | None = None
        self._waiting: list[_Waiting] = []
        self._seen: set[StepId] = set()
        self._instances: Counter[object] = Counter()
        self._failures = list(execution.failures())
        self.failure = self._failures[0] if self._failures else None

    def open_level(self) -> bool:
        """Explain the predicates of the next level; False when there is nothing to explain, or causes have cost what
        they are worth: runs decide, not causes. The failure itself is always explained.

        What is asked between levels is not counted: how all executed changes behaved cost the causes of GNU
        indent their whole share after the first of them.
        """
        if self._left_off is not None:
            self._elsewhere += self._worth.spent() - self._left_off
        try:
            return self._next_level()
        finally:
            self._left_off = self._worth.spent()

    def _next_level(self) -> bool:
        if self.links and not self._worth.allows(self._elsewhere):
            return False
        if not self._waiting and self._failures:
            level = 1 + max((link.level for link in self.links), default=-1)
            failed = self._failures.pop(0)
            known = Evidence.INFERRED if failed.is_inferred else Evidence.PROVED
            self._put(_Waiting(idle=False, aside=False, absent=False, level=level, urgency=0, farness=0,
                               predicate=failed, evidence=known))  # fmt: skip
        if not self._waiting or self._left <= 0:
            return False
        first = self._waiting[0]
        for _ in range(SEARCH.level):
            if not self._waiting or self._left <= 0:
                break
            if (self._waiting[0].idle, self._waiting[0].level) != (first.idle, first.level):
                break
            if self.links and not self._worth.allows(self._elsewhere):
                break
            self._explain(heapq.heappop(self._waiting))
        return True

    @property
    def promising(self) -> bool:
        """Whether a predicate waits that is not as in green."""
        return bool(self._waiting) and not self._waiting[0].idle and self._left > 0

    def explained(self) -> bool:
        """Whether every infected step of the causes was changed or has it from another of them."""
        causes = [link.cause for link in self.links]
        steps = {step.id: step for cause in causes for step in (*cause.steps, *cause.origins)}
        return all(
            self._accounted(step, steps.keys()) for step in steps.values() if is_infected(step)
        )

    def acting(self) -> dict[StepId, tuple[ChangeId, ...]]:
        """The changes that act at each step of the causes: its statement's own, and by absence."""
        return {
            step.id: (*step.changes, *(() if is_clean(step) else self._execution.omitted(step.id)))
            for link in self.links
            for step in (*link.cause.origins, *link.cause.steps)
        }

    def slice_changes(self, most: int = 4000) -> list[str]:
        """The changes of the dynamic slice of the failure, nearest first: of ``most`` steps, and no more
        than their changes' order is worth.
        """
        if self.failure is None:
            return []
        own = self._execution.step(self.failure.step)
        controls = () if own.control is None else (own.control,)
        walk = BackwardSlice(
            self._execution,
            [self.failure.condition],
            controls,
            expand=lambda _step: True,
            through_branches=True,
        )
        before = self._worth.spent()
        steps = walk.take(most, lambda: not self._worth.beats_running(self._worth.spent() - before))
        return list(dict.fromkeys(change for step in steps for change in step.changes))

    def _accounted(self, step: Step, known: Container[StepId]) -> bool:
        displaced = self._green.displaced(step.id) or self._not_written(step)
        if displaced:
            return any(branch in known for branch in displaced)
        if not step.green.elsewhere and self._changed(step):
            return True
        around = detours(self._execution, self._green, step)
        if around:
            return any(branch in known for branch in around)
        return any(source.id in known for source in carriers_into(self._execution, step))

    def _not_written(self, step: Step) -> set[StepId]:
        """Of a step that all it reads says nothing of, the branches at which green went to write some of that: an
        attribute is missing as nobody came to where it is set, whoever changed that place.
        """
        if not enters_unread(self._execution, step):
            return set()
        reads = distinct_reads(step.term)
        return set[StepId]().union(*(self._green.displaced(read.step) for read in reads))

    def _changed(self, step: Step) -> bool:
        """Whether a change may have infected the step itself: by a statement that does otherwise than its
        old text, or by one that is missing where green did not merely go another way.
        """
        if step.changes:
            return not is_harmless(self._execution, step)
        elsewhere = step.control is not None and is_infected(self._execution.step(step.control))
        return not elsewhere and bool(self._execution.omitted(step.id))

    def _explain(self, waiting: _Waiting) -> None:
        self._left -= 1
        self._progress.stage("solving", waiting.predicate.text)
        cause = semantic_analysis(self._execution, waiting.predicate, self._core_of, self._limits)
        cause = replace(cause, origins=origins(self._execution, cause.steps))
        own = len(self.links)
        self.links.append(
            Link(cause, waiting.parent, waiting.evidence, waiting.level, waiting.doubt)
        )
        for critical in extract_critical_predicates(self._execution, cause):
            self._add(critical, own, waiting.level + 1)

    def _add(self, critical: Critical, parent: int, level: int) -> None:
        branch = critical.branch
        if branch.green.alignment is Alignment.DIFFERENT:
            for definition in critical.definitions:
                self._green.displace(definition, branch.id)
        idle, doubt = is_clean(branch), _doubt(critical)
        # rounds that green passed alike take no room from the one in which it went on (curl's hash table)
        where = branch.location, idle
        if branch.id in self._seen or self._instances[where] >= SEARCH.instances:
            return
        self._seen.add(branch.id)
        self._instances[where] += 1
        self._put(
            _Waiting(
                idle=idle,
                aside=not critical.only_way,
                absent=branch.green.alignment is Alignment.ABSENT,
                level=level,
                urgency=2 * _URGENCY[branch.green.alignment] + bool(doubt) + (not branch.changes),
                farness=-branch.id,
                predicate=critical.predicate,
                parent=parent,
                evidence=_evidence(critical),
                doubt=doubt,
            )
        )

    def _put(self, waiting: _Waiting) -> None:
        heapq.heappush(self._waiting, waiting)


def _evidence(critical: Critical) -> Evidence:
    return Evidence.PROVED if critical.direct and critical.needed else Evidence.INFERRED


def _doubt(critical: Critical) -> tuple[Sign, ...]:
    """A branch that green passed alike, or that could only overwrite what green never came to."""
    if is_clean(critical.branch):
        return (Sign.IDLE,)
    absent = critical.branch.green.alignment is Alignment.ABSENT
    return (Sign.ASIDE,) if absent and not critical.direct else ()
