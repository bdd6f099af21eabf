"""The story: the way from the failed assertion back to each guilty change, between the failing run and
its *twin*, the bad version with only the root undone.

The twin passes, and differs from the failing run by the guilty changes alone: whatever has another
value there, or does not run there, is a consequence of them and of nothing else. So the story walks
back over what differs, by data and by the branches that decided (AFTER's causes and critical
predicates; Weeratunge and others, ISSTA 2010, on two runs), and takes the shortest way to each change.
What is the same in both runs is no part of it.

Where nothing that differs leads on, code in between was not followed (a library, a callback, C code
called from Python). There the step is the call (Shapiro's question, asked of both runs): what the change
did, and what each call around it gave, here and in the twin. What the change kept from running is
read off the twin. Only where neither is known the change stands behind the end of the trail, as
*inferred*: that it matters was seen, by which way was not.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum

from afterd.causality.carrying import Carrying
from afterd.causality.infection import is_clean, is_harmless, is_infected, is_settled
from afterd.causality.semantic import CoreOf, SliceLimits, semantic_analysis
from afterd.causality.told import Telling, not_linked, not_run
from afterd.causality.whose import Alone, branches, no_twin_alone
from afterd.limits import StoryLimits
from afterd.logic.terms import distinct_reads
from afterd.model.change import NOTHING, Change, ChangeId, ChangeSet, in_order
from afterd.model.explanation import CauseNode, Evidence, TreeStep
from afterd.model.term import BOOL, Apply, Concrete, Op, SortKind, StepId
from afterd.model.trace import Alignment, Predicate, Step, TwinExecution

Changes = Mapping[ChangeId, Change]


class Way(IntEnum):
    """How a step came to matter to the one nearer the failure; the value is what a detour costs."""

    DATA = 2  # it defined what was read
    BRANCH = 3  # it decided that the other was executed
    OVERWRITE = 4  # its other side, taken by the twin, overwrote what was read
    PERHAPS = 5  # it could have, but another branch is where the twin was seen to part
    OBJECT = 6  # an object that looks the same as the twin's, and may not be
    ABSENCE = 7  # a change acts by what did not happen: only where no step near by is its own
    CALL = (
        9  # it was in a call that this step made, or that came before: what is between was not seen
    )
    LATER = 18  # a change acts on a way that only this run went: where it parted may be far behind


_DATA = frozenset({Way.DATA, Way.OBJECT, Way.CALL})
"""The ways that a value came, not a decision."""
_SEEN = frozenset({Way.DATA, Way.BRANCH, Way.OVERWRITE})
"""The ways that are dependences of the failing run, and no assumption on what was not followed."""


@dataclass(frozen=True, slots=True, order=True)
class _Reached:
    """A step that differs, the step nearer the failure that it was reached from, and how."""

    step: StepId
    cost: int
    nearer: StepId | None = field(default=None, compare=False)
    way: Way = field(default=Way.DATA, compare=False)


class _Walk:
    """Dijkstra's walk back over what differs, until every guilty change is met or ``most`` steps were.

    ``reached`` is a tree by ``nearer``; ``entered`` says at which step a change acts; ``ends`` are steps
    that nothing leads on from.
    """

    def __init__(
        self, execution: TwinExecution, predicate: Predicate, root: ChangeSet, most: int
    ) -> None:
        self.reached: dict[StepId, _Reached] = {}
        self.entered: dict[ChangeId, StepId] = {}
        self.ends: list[StepId] = []
        self._execution = execution
        self._root = root
        self._altered: dict[ChangeId, Sequence[StepId]] = {}
        self._harmless: dict[
            ChangeId, StepId
        ] = {}  # where a change did what its old text would have
        self._waiting: list[tuple[int, StepId, _Reached, ChangeId]] = []
        self._push(_Reached(predicate.step, 0))
        while self._waiting and len(self.reached) < most and self.entered.keys() != root:
            _, _, found, change = heapq.heappop(self._waiting)
            if change:
                self.entered.setdefault(change, found.step)
            if found.step not in self.reached:
                self._visit(found, predicate)
        for change in in_order(root - self.entered.keys()):
            self._bridge(change, predicate.step)
        self.entered = {**{c: at for c, at in self._harmless.items() if c in root}, **self.entered}
        for change in in_order(frozenset(self.entered)):
            self._begin_at_guard(change)

    def _visit(self, found: _Reached, predicate: Predicate) -> None:
        self.reached[found.step] = found
        step = self._execution.step(found.step)
        acting = [change for change in step.changes if change in self._root]
        harmless = is_harmless(self._execution, step)
        later = [c for c in acting if not harmless and self._is_led_to(step, c)]
        entered = self._harmless if harmless else self.entered
        for change in acting:
            if change not in later:
                entered.setdefault(change, step.id)
        ways = [*((c, Way.LATER) for c in later), *((c, Way.ABSENCE) for c in self._omitted(step))]
        for change, way in ways:
            self._push(replace(found, cost=found.cost + way), change)
        further = list(_steps_behind(self._execution, step, predicate))
        if not further and found.nearer is not None and found.way is Way.DATA:
            further = list(_overwriting(self._execution, found.nearer, step.id))
        if not further and not acting:
            self.ends.append(step.id)
        for source, way in further:
            self._push(_Reached(source, found.cost + way, step.id, way))

    def _is_led_to(self, step: Step, change: ChangeId) -> bool:
        """Whether the twin had left the way before a changed step, by another branch than the change's own:
        where that began tells more than what the change did on a way that only this run went.
        """
        if step.green.alignment is not Alignment.ABSENT or step.control is None:
            return False
        guard = self._execution.step(step.control)
        return guard.green.alignment is Alignment.ABSENT and change not in guard.changes

    def _omitted(self, step: Step) -> list[ChangeId]:
        """The guilty changes that may act at a step by what did not happen: none that did something else
        than in the twin, which is shown where it did.
        """
        missing = () if is_clean(step) else self._execution.omitted(step.id)
        return [c for c in missing if c in self._root and not self._acted(c)]

    def _acted(self, change: ChangeId) -> Sequence[StepId]:
        if change not in self._altered:
            self._altered[change] = self._execution.altered(change)
        return self._altered[change]

    def _bridge(self, change: ChangeId, failed: StepId) -> None:
        """Where code in between was not followed: what the change did, and the calls that it was in,
        as far as they gave something else than in the twin.
        """
        first = min(self.ends, default=failed)
        acted = [step for step in self._acted(change) if step < failed]
        acted = [step for step in acted if step < first] or acted
        if not acted:
            return
        chain = [acted[0], *self._calls_around(acted[0], failed)]
        met = chain[-1] if chain[-1] in self.reached else None
        beyond = met or min(step for step in self.reached if step > chain[-1])
        nearer = beyond
        for step in reversed(chain if met is None else chain[:-1]):
            self.reached[step] = _Reached(step, Way.CALL, nearer, Way.CALL)
            nearer = step
        self.entered[change] = chain[0]

    def _begin_at_guard(self, change: ChangeId) -> None:
        """Where a change begins with the condition of what it did: that is told first, with how it went."""
        at = self.entered[change]
        while (guard := self._execution.step(at).control) is not None and guard < at:
            asked = self._execution.step(guard)
            if change not in asked.changes or not is_infected(asked):
                return
            cost = self.reached[at].cost + Way.BRANCH
            self.reached.setdefault(guard, _Reached(guard, cost, at, Way.BRANCH))
            self.entered[change] = at = guard

    def _calls_around(self, step: StepId, failed: StepId) -> Iterator[StepId]:
        """What the calls that a step was in gave, up to one that is on the way already."""
        caller = self._execution.calling(step)
        while caller is not None and step < caller < failed:
            if caller in self.reached or is_infected(self._execution.step(caller)):
                yield caller
            if caller in self.reached:
                return
            step, caller = caller, self._execution.calling(caller)

    def way_from(self, step: StepId) -> Iterator[StepId]:
        """The steps from one to the failed assertion, both among them."""
        at: StepId | None = step
        while at is not None:
            yield at
            at = self.reached[at].nearer

    def followed(self) -> ChangeSet:
        """The changes from which a chain of dependences, all of steps that differ, leads to the failed assertion."""
        return frozenset(change for change, at in self.entered.items() if self._is_seen(at))

    def _is_seen(self, step: StepId) -> bool:
        at: StepId | None = step if is_infected(self._execution.step(step)) else None
        while at is not None:
            found = self.reached[at]
            if found.nearer is None:
                return found.way in _SEEN
            differs = found.way in _SEEN and is_infected(self._execution.step(at))
            if not (differs or self._is_between(at)):
                return False
            at = found.nearer
        return False

    def _is_between(self, step: StepId) -> bool:
        """Whether a step is an object of which nothing could be compared (a method of a list, a view of a dict, what a
        library keeps): what differs was handed to it, or to one such before it, and is read of it.
        """
        here = self._execution.step(step)
        unseen = here.term.sort.kind is SortKind.OPAQUE or here.value is None
        return unseen and self.reached[step].way is Way.OBJECT

    def _push(self, found: _Reached, change: ChangeId = "") -> None:
        """The cheapest first, of equals the nearest to the failure; ``change`` is said to act there."""
        heapq.heappush(self._waiting, (found.cost, -found.step, found, change))


@dataclass(frozen=True, slots=True)
class Story:
    """The causal tree, the changes no way was found to, and the runs in which a step was tested.

    ``followed``: the changes that a chain of dependences leads to, where nothing between was assumed.
    """

    tree: CauseNode
    unlinked: tuple[ChangeId, ...]
    interventions: int = 0
    followed: ChangeSet = NOTHING


def story(
    execution: TwinExecution,
    root: ChangeSet,
    changes: Changes,
    core_of: CoreOf,
    limits: StoryLimits,
    alone: Alone = no_twin_alone,
) -> Story | None:
    """The story of the first failed assertion from which a guilty change can be reached; of the
    first of all where none can. None where no failed assertion was recognised. ``alone`` records
    the twin of one cause, which is asked for where there are several.
    """
    best: tuple[_Walk, Predicate] | None = None
    for predicate in execution.failures()[: limits.failures]:
        walk = _Walk(execution, predicate, root, limits.steps)
        if best is None or len(walk.entered) > len(best[0].entered):
            best = walk, predicate
        if walk.entered.keys() == root:
            break
    if best is None:
        return None
    return _Told(execution, *best, root, changes, core_of, limits, alone).story()


def _steps_behind(
    execution: TwinExecution, step: Step, predicate: Predicate
) -> Iterator[tuple[StepId, Way]]:
    """What differs of that which a step depends on."""
    own = step.id == predicate.step
    reads = distinct_reads(predicate.condition if own else step.term)
    led = False
    for read in reads:
        if read.step != step.id and is_infected(execution.step(read.step)):
            led = True
            yield read.step, Way.DATA
    for way, sources in ((Way.DATA, step.extent), (Way.BRANCH, step.choices)):
        for source in sources:
            if is_infected(execution.step(source)):
                led = True
                yield source, way
    if step.control is not None and is_infected(execution.step(step.control)):
        led = led or step.green.alignment is Alignment.ABSENT
        yield step.control, Way.BRANCH
    if not led:
        for read in reads:
            yield from _overwriting(execution, step.id, read.step)
            if not is_settled(execution.step(read.step)):
                yield read.step, Way.OBJECT


def _overwriting(
    execution: TwinExecution, use: StepId, definition: StepId
) -> Iterator[tuple[StepId, Way]]:
    """The branches by which the twin went to overwrite what the failing run read: the first is the one that
    led to what the twin has, where that was seen; a digit stands where a comma would be for the round that
    left the comma out, not for a later one.
    """
    way = Way.OVERWRITE
    for branch in execution.indirect_influences(use, definition):
        if is_infected(execution.step(branch)):
            yield branch, way
            way = Way.PERHAPS


class _Told:
    """A walk as a causal tree: data within a cause, a branch as the predicate of the next."""

    def __init__(
        self,
        execution: TwinExecution,
        walk: _Walk,
        predicate: Predicate,
        root: ChangeSet,
        changes: Changes,
        core_of: CoreOf,
        limits: StoryLimits,
        alone: Alone,
    ) -> None:
        self._execution = execution
        self._alone = alone
        self._whose: Mapping[StepId, ChangeId] = {}
        self._walk = walk
        self._predicate = predicate
        self._root = root
        self._changes = changes
        self._core_of = core_of
        self._telling = Telling(execution)
        self._limits = limits
        self._carrying = Carrying(execution, limits.interventions)
        self._behind: dict[StepId, list[StepId]] = defaultdict(list)
        self._left = limits.proofs

    def story(self) -> Story:
        """The tree of the ways to all guilty changes that were met, and of the others behind its end."""
        unlinked = tuple(in_order(self._root - self._walk.entered.keys()))
        wanted = set(self._walk.entered.values())
        end = min(self._walk.ends, default=self._predicate.step) if unlinked else None
        if end is not None and not wanted:
            wanted.add(end)
        kept: set[StepId] = set()
        for step in wanted:
            way = self._without_rounds(list(self._walk.way_from(step)))
            for at, nearer in zip(way, [*way[1:], None], strict=True):
                if at in kept:
                    break
                kept.add(at)
                if nearer is not None:
                    self._behind[nearer].append(at)
        divided = self._on_one_way()
        if divided and 1 < len(self._root) <= self._limits.alone:
            self._whose = branches(divided, self._root, self._alone)
        for step in sorted(set(self._walk.entered.values())):
            self._carrying.follow(self._path(step))
        inferred = self._predicate.is_inferred
        tree = self._cause(self._predicate, Evidence.INFERRED if inferred else Evidence.OBSERVED)
        if unlinked:
            behind = (self._not_reached(self._changes[change]) for change in unlinked)
            tree = replace(tree, steps=(*tree.steps, *behind))
        followed = NOTHING if self._predicate.by_others else self._walk.followed()
        return Story(tree, unlinked, self._carrying.runs, followed)

    def _without_rounds(self, way: list[StepId]) -> list[StepId]:
        """A way to the failure; where a loop decided at the same place in very many rounds, from the first
        of them on to the last: a tree as deep as a loop that does not end tells nothing, and cannot be kept.
        """
        if sum(self._walk.reached[at].way not in _DATA for at in way) <= self._limits.deep:
            return way
        places = [(self._walk.reached[at].way, self._execution.step(at).location) for at in way]
        last = {place: number for number, place in enumerate(places) if place[0] not in _DATA}
        short: list[StepId] = []
        number = 0
        while number < len(way):
            short.append(way[number])
            at = last.get(places[number], number)
            if at > number:
                short.append(way[at])
            number = at + 1
        return short

    def _on_one_way(self) -> list[Step]:
        """The steps that the way of one change alone goes through, where the text does not say whose they are."""
        through: dict[StepId, ChangeSet] = defaultdict(lambda: NOTHING)
        for change, at in self._walk.entered.items():
            for step in self._walk.way_from(at):
                through[step] |= {change}
        behind = (step for sources in self._behind.values() for step in sources)
        one = (self._execution.step(step) for step in behind if len(through[step]) == 1)
        return [step for step in one if not self._guilty(step)]

    def _path(self, first: StepId) -> list[StepId]:
        """The steps from one at which a change acts to the last before the failed assertion."""
        place = self._execution.step(self._predicate.step).location
        way = self._walk.way_from(first)
        return [step for step in way if self._execution.step(step).location != place]

    def _cause(self, predicate: Predicate, evidence: Evidence) -> CauseNode:
        """The steps that lead to a predicate by data, and a cause for each branch behind them."""
        proved = self._forced(predicate)
        steps: list[Step] = []
        branches: list[StepId] = []
        pending = [predicate.step]
        while pending:
            step = self._execution.step(pending.pop())
            steps.append(step)
            for source in self._behind[step.id]:
                data = self._walk.reached[source].way in _DATA
                (pending if data else branches).append(source)
        place = predicate.failed_at or self._execution.step(predicate.step).location
        told = self._each_once([step for step in steps if self._tells(step, predicate, steps)])
        return CauseNode(
            predicate=predicate.text or predicate.message,
            file=place.file,
            line=place.line,
            steps=tuple(
                shown
                for step in sorted(told, key=lambda step: -step.id)
                for shown in self._shown(step, proved)
            ),
            causes=tuple(map(self._branch, sorted(branches, reverse=True))),
            evidence=evidence,
        )

    def _tells(self, step: Step, predicate: Predicate, steps: Sequence[Step]) -> bool:
        """Whether a step says more than that the assertion failed, which is said above it.

        Under pytest ``assert a == b`` is a branch on a condition: what was compared tells it.
        """
        if self._guilty(step):
            return True
        if predicate.kind is None:
            return is_infected(step)
        own = self._execution.step(predicate.step)
        verdict = isinstance(step.value, bool) and not step.target
        same = (step.location, step.text) == (own.location, own.text)
        return is_infected(step) and not (verdict and same and len(steps) > 1)

    def _each_once(self, steps: Sequence[Step]) -> list[Step]:
        """Of the many instances of a statement in a loop, the first and the last, and what is guilty; of those
        that did the same in both runs, the last.
        """
        places: dict[object, list[StepId]] = defaultdict(list)
        same = {
            (step.location, step.target, step.rendered, step.green.shown): step.id
            for step in sorted(steps, key=lambda step: step.id)
        }
        last = set(same.values())
        for step in steps:
            if step.id in last:
                places[step.location, step.target].append(step.id)
        ends = {end for found in places.values() for end in (min(found), max(found))}
        ends |= self._carrying.carriers
        return [step for step in steps if step.id in ends or self._guilty(step)]

    def _branch(self, identifier: StepId) -> CauseNode:
        step = self._execution.step(identifier)
        other = Apply(Op.NOT, (step.term,), BOOL) if step.value else step.term
        parted = step.green.alignment in {Alignment.DIFFERENT, Alignment.ABSENT}
        evidence = Evidence.OBSERVED if parted else Evidence.INFERRED
        return self._cause(Predicate(identifier, other, step.text), evidence)

    def _forced(self, predicate: Predicate) -> frozenset[StepId]:
        """The steps of a minimal core: given them, the predicate could not have been otherwise."""
        if self._left <= 0:
            return frozenset()
        self._left -= 1
        slices = SliceLimits(first=self._limits.slice, most=self._limits.slice)
        cause = semantic_analysis(self._execution, predicate, self._core_of, slices)
        if cause.evidence is not Evidence.PROVED:
            return frozenset()
        return frozenset(step.id for step in cause.steps if not isinstance(step.term, Concrete))

    def _guilty(self, step: Step) -> list[ChangeId]:
        entered = [each for each, at in self._walk.entered.items() if at == step.id]
        return entered or [each for each in step.changes if each in self._root]

    def _not_reached(self, change: Change) -> TreeStep:
        """A guilty change to which no way leads, or that acts by what did not happen: what only the twin did, where
        that was seen.
        """
        missed = self._execution.missed(change.id)
        return not_linked(change) if missed is None else not_run(change, missed)

    def _shown(self, step: Step, proved: frozenset[StepId]) -> Iterator[TreeStep]:
        """The step; once for each change that acts there. One that acts by what did not happen stands
        behind it with that: the step's own text is not what it altered.
        """
        acting = in_order(frozenset(self._guilty(step)))
        absent = [each for each in acting if each not in step.changes]
        own: list[Change | None] = [self._changes[each] for each in acting if each not in absent]
        for change in own or [None]:
            tested = step.id in self._carrying.carriers
            told = self._telling.step(step, proved=step.id in proved, tested=tested, change=change)
            if change is None:
                told = replace(told, whose=self._whose.get(step.id, ""))
            yield told
        for each in absent:
            yield self._not_reached(self._changes[each])
