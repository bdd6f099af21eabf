"""Branches in an execution: which sides are executed, in which order, and where they meet again.

A branch is *open* until its sides meet. The side that the run takes is executed first; then, for
each other side that is wanted, memory goes back to the branch and the side is forced (execution
hijacking, Jin and Orso III-B1); where the sides meet, a φ chooses. What is not wanted is free.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from afterd.logic import Branch, PathCondition, TooLargeError
from afterd.model.term import BOOL, Const, Term
from afterd.symbolic import branches, effects
from afterd.symbolic.branches import Arrival, OpenBranch, Position, Side
from afterd.symbolic.code import Code, Operand
from afterd.symbolic.collecting import TRUE, Collector, any_of, conjunction_of, negation_of
from afterd.symbolic.frames import Bounds, Finished, Frame, innermost_open
from afterd.symbolic.loading import Image
from afterd.symbolic.memory import Memory
from afterd.symbolic.observing import NO_MORE, Observer
from afterd.symbolic.operations import Known
from afterd.symbolic.origins import Decision, Origins
from afterd.symbolic.pieces import written_over
from afterd.symbolic.refusal import SideEndedError
from afterd.symbolic.rounds import Loop
from afterd.symbolic.world import World

Wanted = Callable[[Branch], bool]
Meeting = tuple[dict[str, Known], int]
"""The φs' values of an arrival, and which open branch of the frame it arrives at."""
RETURN = -1


class Control(ABC):
    """The control flow of one execution; what instructions compute is the machine's business."""

    image: Image
    memory: Memory
    collector: Collector
    observer: Observer
    bounds: Bounds
    world: World
    frames: list[Frame]
    positions: tuple[Position, ...]
    instances: int
    ending: str
    origins: Origins | None
    rounds: dict[Loop, int]

    def __init__(
        self,
        wanted: Wanted,
        bounds: Bounds,
        *,
        trace_only: bool,
        symbolic_from: int,
        alternatives: bool,
    ) -> None:
        self.bounds = bounds
        self._wanted = wanted
        self._alternatives = alternatives
        self._whole_sides = alternatives and bounds.whole_sides
        self._trace_only = trace_only
        self._symbolic_from = symbolic_from
        self._forced = 0  # how many of the open branches are on a side that the run did not take
        self._continued = 0  # how many of these are what would have come after a run that was over
        self._deviations = 0  # branches forced on the way that gave the values that there are
        self._sides = 0
        self._in_sides = 0  # instances of forced sides that have met again
        self._hypothetical_until = 0

    def ask(self, wanted: Wanted, bounds: Bounds, symbolic_from: int, *, trace_only: bool) -> None:
        """Other sides, and terms from elsewhere on, than it was begun with."""
        self.bounds = bounds
        self._wanted, self._trace_only, self._symbolic_from = wanted, trace_only, symbolic_from
        self._whole_sides = self._alternatives and bounds.whole_sides

    @property
    def real(self) -> bool:
        """Whether this is what the run did."""
        return self._forced == 0

    @property
    def own_instances(self) -> int:
        """Those that count for a forced side's bound: sides within it have bounds of their own."""
        return self.instances - self._in_sides

    @property
    def symbolic(self) -> bool:
        """Whether terms are kept."""
        return self.instances >= self._symbolic_from

    @abstractmethod
    def operand(self, frame: Frame, operand: Operand) -> Known:
        """The value of an operand and its term."""

    @abstractmethod
    def define(self, frame: Frame, code: Code, known: Known) -> Known:
        """The name of what a statement defines."""

    @abstractmethod
    def key(self, frame: Frame) -> int:
        """The number of this instance of the current instruction."""

    @abstractmethod
    def leave(self, frame: Frame, known: Known) -> None:
        """Return from an activation."""

    def goto(self, frame: Frame, target: int) -> None:
        """Enter a block, unless sides meet there."""
        phis = self._phis(frame, target, frame.block)
        at = frame.meeting(target)
        if at is not None:
            frame.before, frame.block = frame.block, target
            self.arrived(frame, phis, at)
            return
        self._begin(frame, target, phis)

    def _begin(self, frame: Frame, target: int, phis: dict[str, Known]) -> None:
        self._met(frame, target)
        frame.before, frame.block, frame.at = frame.block, target, 0
        frame.visits[target] = frame.visits.get(target, 0) + 1
        frame.rounds.count(frame.body, frame.before, target, self.rounds if self.real else None)
        frame.registers.update(phis)

    def _phis(self, frame: Frame, target: int, source: int) -> dict[str, Known]:
        return {
            name: self.operand(frame, incoming[source])
            for name, _, incoming in frame.body.blocks[target].phis
            if source in incoming
        }

    def branch(self, frame: Frame, code: Code) -> None:
        """A jump, the check of an assertion, or a conditional statement."""
        if isinstance(code.detail, int):
            self.goto(frame, code.detail)
            return
        value, term = self.operand(frame, code.operands[0])
        if not code.operands[0].register or not self.symbolic or code.statement is None:
            self._decided(frame, code, term, code.detail, code.detail[0 if value else 1])
            self.goto(frame, code.detail[0 if value else 1])
            return
        failing = [frame.body.blocks[target].asserts for target in code.detail]
        if any(failing) and not all(failing):
            self._assertion(frame, code, (value, term), failing.index(False))
            return
        guard = self.define(frame, code, (bool(value), term))[1]
        assert guard is not None
        self._diverge(frame, code, branches.sides_of(guard, code.detail), 0 if value else 1)

    def _assertion(self, frame: Frame, code: Code, known: Known, good: int) -> None:
        """A branch to the failure of an assertion is what must hold, not a statement."""
        value, term = known
        held = bool(value) == (good == 0)
        condition = term or Const(bool(value), BOOL)
        condition = condition if good == 0 else negation_of(condition)
        if self.real and code.statement is not None:
            self.collector.conditions.append(
                PathCondition(condition if held else negation_of(condition), code.statement)
            )
        name = str(code.statement.location) if code.statement else ""
        self.observer.asserted(name, condition, held=held, real=self.real)
        if not held and self.real:
            self.ending = f"the assertion at {name} failed"
            raise SideEndedError(self.ending)
        self.goto(frame, code.detail[good])

    def switch(self, frame: Frame, code: Code) -> None:
        """A conditional statement with more than two sides."""
        cases, default = code.detail
        value, term = self.operand(frame, code.operands[0])
        if not self.symbolic or code.statement is None:
            targets = (*cases.values(), default)
            self._decided(frame, code, term, targets, cases.get(value, default))
            self.goto(frame, cases.get(value, default))
            return
        sort = code.operands[0].sort
        selected = Const(value, sort) if term is None else term
        key = (self.key(frame), "case")
        selected = self.collector.define(key, selected, value, code.statement)
        sides = branches.cases_of(selected, cases, default)
        target = cases.get(value, default)
        taken = next(side.number for side in sides if side.target == target)
        self._diverge(frame, code, sides, taken)

    def _decided(
        self, frame: Frame, code: Code, condition: Term | None, targets: Sequence[int], taken: int
    ) -> None:
        """Before terms are kept: what follows is so because of the condition, until the sides meet, and
        so is what the sides that are not taken would have written.
        """
        if self.origins is None or self.symbolic:
            return
        own = self.origins.of(condition) | self.origins.statement(code.statement)
        join, mark = frame.body.joins[frame.block], self.memory.mark()
        for target in targets:
            if target not in {taken, join}:
                for address, size in self._effects(frame, target, join).items():
                    self.origins.add(address, size, own)
        again = bool(frame.deciding) and frame.deciding[-1].join == join
        if again:
            before = frame.deciding.pop()
            own, mark = own | before.own, before.mark
        frame.deciding.append(Decision(join, own, frame.control | own, mark, again))

    def _met(self, frame: Frame, block: int) -> None:
        """The sides of branches before terms were kept meet in a block."""
        while frame.deciding and frame.deciding[-1].join == block:
            decision = frame.deciding.pop()
            if self.origins is not None:
                self.origins.met(decision)

    def _effects(self, frame: Frame, target: int, join: int) -> Mapping[int, int]:
        if target not in frame.effects:
            found = effects.effects_of(self.image, frame.body, target, join, frame.slots)
            frame.effects[target] = found.written
        return frame.effects[target]

    def _diverge(self, frame: Frame, code: Code, sides: list[Side], taken: int) -> None:
        """Open a branch and take the side of the run; then those that are wanted."""
        chosen = sides[taken]
        if self.real and code.statement is not None:
            self.collector.conditions.append(PathCondition(chosen.condition, code.statement))
        key, join = self.key(frame), frame.body.joins[frame.block]
        first = join if self._trace_only else frame.body.meetings[frame.block]
        if first != join and frame.meeting(join) is None:
            beyond = self.collector.names.of((key, "beyond"))
            self._open(frame, beyond, join, Side(chosen.number, TRUE, chosen.target))
        branch = self._open(frame, key, first, chosen)
        self._sort_sides(frame, branch, [side for side in sides if side is not chosen])
        self._take(frame, branch, chosen)

    def _open(self, frame: Frame, key: int, join: int, chosen: Side) -> OpenBranch:
        branch = OpenBranch(
            key, frame.block, join, self.collector.path, self.memory.mark(),
            {}, self.world.state(), self.positions, [], chosen, self.real,
        )  # fmt: skip
        branch.frame_key, branch.forced = frame.key, self._deviations
        branch.rounds = frame.rounds.copy()
        frame.open.append(branch)
        return branch

    def _sort_sides(self, frame: Frame, branch: OpenBranch, others: list[Side]) -> None:
        """Which other sides are executed, which are free, and which lie beyond a bound."""
        for side in others:
            if self._trace_only:
                self._unexplored(frame, branch, side)
            elif (at := frame.meeting(side.target)) is not None:
                phis = self._phis(frame, side.target, frame.block)
                arrival = Arrival(
                    side, {}, phis, branch.positions, taken=False,
                    forced=branch.forced + 1, world=branch.world,
                )  # fmt: skip
                self._stand(frame, branch, arrival, at)
            elif not self._is_wanted(
                Branch(frame.body.name, branch.block, side.number, branch.key)
            ):
                self._unexplored(frame, branch, side)
            elif reason := self._beyond(frame, branch, side):
                self.collector.notes[reason] = None
                self.collector.require(negation_of(side.condition))
                branch.closed += 1
            else:
                branch.sides.append(side)
                self._sides += 1
        if branch.sides:
            branch.registers = dict(frame.registers)

    def _is_wanted(self, branch: Branch) -> bool:
        """A forced side is executed with all sides within it, where that was asked for; what would have come
        after the run has those that are asked for, as the run has.
        """
        whole = self._whole_sides and self._forced > self._continued
        return whole or self._wanted(branch)

    def _beyond(self, frame: Frame, branch: OpenBranch, side: Side) -> str:
        """Which bound keeps a side from being executed, if one does."""
        if self._sides >= self.bounds.sides or self.instances > self.bounds.total + self.spent:
            if self.bounds.all_or_none:
                raise TooLargeError("its paths have more instructions than are encoded")
            return "more sides than are encoded"
        if self.bounds.once and self._forced > self._continued:
            return "no path leaves the run's way again before it is back"
        body = frame.body
        around = set(body.headers[branch.block]) & set(body.headers[side.target])
        others = [target for target in body.successors[branch.block] if target != side.target]
        stays = {loop for other in others for loop in around - set(body.headers[other])}
        forced = sum(b.block == branch.block and b.limit > 0 and not b.left for b in frame.open)
        if not stays or forced < self.bounds.extra:
            return ""
        if frame.rounds.fewer_than(self.bounds.rounds, body, stays):
            return ""
        return "loops are unrolled as often as the run did at once, and once more"

    @property
    def spent(self) -> int:
        """Instructions before terms were kept: they do not count against the formula's budget."""
        return self._symbolic_from

    def _unexplored(self, frame: Frame, branch: OpenBranch, side: Side) -> None:
        """A side that is not executed: what it may write is free where every way has met."""
        join = frame.body.joins[branch.block]
        found = effects.effects_of(self.image, frame.body, side.target, join, frame.slots)
        phis = {
            name: branches.any_value(incoming)
            for name, _, incoming in (frame.body.blocks[join].phis if join >= 0 else ())
        }
        arrival = branches.unexplored_side(
            branch, side, self.memory, self.collector, found.written, phis,
            trace_only=self._trace_only,
        )  # fmt: skip
        at = frame.meeting(join)
        assert at is not None  # it was opened with the branch
        self._stand(frame, branch, arrival, at)
        if self._trace_only and found.known:
            return
        taken = conjunction_of(branch.path, side.condition)
        identity = Branch(frame.body.name, branch.block, side.number, branch.key)
        self.collector.leave(identity, taken, effects_known=found.known)

    def _stand(self, frame: Frame, branch: OpenBranch, arrival: Arrival, at: int) -> None:
        """A side arrives where the sides of an open branch meet without being executed."""
        home = frame.open[at]
        if home is not branch:
            condition = conjunction_of(branch.path, arrival.side.condition)
            arrival = replace(
                arrival,
                side=replace(arrival.side, condition=condition),
                changed=written_over(self.memory.changed(home.mark), arrival.changed),
            )
            home.split = branch.lost = True
            for between in frame.open[at + 1 :]:
                if between is not branch:
                    between.lost = between.split = True
        home.arrivals.append(arrival)

    def _take(self, frame: Frame, branch: OpenBranch, side: Side) -> None:
        branch.now = side
        self.collector.narrow((branch.key, side.number), branch.path, side.condition)
        self.goto(frame, side.target)

    def arrived(self, frame: Frame, phis: dict[str, Known], at: int | None) -> None:
        """The current side reached the place where the sides of an open branch meet, the one ``at`` that
        place (None: the innermost); so may those around it, at once.
        """
        following: Meeting | None = (phis, len(frame.open) - 1 if at is None else at)
        while following is not None:
            self._arrive(frame, *following)
            following = self._next_side(frame, frame.open[-1])

    def _arrive(self, frame: Frame, phis: dict[str, Known], at: int) -> None:
        """One more arrival; where it went past others, what is left of them is not what the run did."""
        branch, passed = frame.open[at], frame.open[at + 1 :]
        is_run = self.real or not branch.real  # not what would have come after it
        first = is_run and not any(around.limit for around in frame.open[at:])
        side = branch.now
        if passed or branch.split:
            side = replace(side, condition=self.collector.path or TRUE)
        changed = self.memory.changed(branch.mark)
        arrival = Arrival(
            side, changed, phis, self.positions, forced=self._deviations, world=self.world.state()
        )
        branch.arrivals.insert(0 if first else len(branch.arrivals), arrival)
        if first:  # what the run did gives the values
            branch.first_arrived, branch.visits = True, frame.visits
        if not passed:
            return
        branch.split = True
        for around in passed:
            around.lost = around.split = True
            around.left = around.left or first
        for around in frame.open[at:] if first else ():
            around.since = self.own_instances
            around.limit = around.since + self.bounds.forced
            self._forced += 1

    def ended(self, reason: str) -> None:
        """The current side ends before the sides meet; what it owed was required there."""
        while self.frames and not self.frames[-1].open:
            self.frames.pop()
        if not self.frames:
            self.finish(reason)
        frame = self.frames[-1]
        if not self.real and reason not in _ORDERLY:
            self.collector.notes[f"a forced side ended: {reason}"] = None
            self.collector.require(negation_of(TRUE))
        frame.open[-1].lost = True
        following = self._next_side(frame, frame.open[-1])
        if following is not None:
            self.arrived(frame, *following)

    def _next_side(self, frame: Frame, branch: OpenBranch) -> Meeting | None:
        """Go back to the branch and take the next side, or merge what arrived.

        The φs' values and the branch where the sides of one around it meet in the same place. What meets may be
        more work than what was executed: the time is looked at.
        """
        self.bounds.look_at_time()
        self.memory.undo(branch.mark)
        self.world.restore(branch.world)
        self.positions = branch.positions
        if branch.sides:
            if not branch.limit:
                self._forced += 1
                branch.since = self.own_instances
            branch.limit = self.own_instances + self.bounds.forced
            branch.split = False
            side = branch.sides.pop(0)
            frame.registers, frame.rounds = dict(branch.registers), branch.rounds.copy()
            frame.block = branch.block
            self._deviations = branch.forced + 1
            # A forced side has names of its own, so that those of the run do not depend on it.
            frame.key = self.collector.names.of((branch.key, "side", side.number))
            frame.visits = {}
            self._take(frame, branch, side)
            return None
        if branch.limit:
            self._forced -= 1
            self._in_sides += self.own_instances - branch.since
        frame.open.pop()
        self.collector.path, frame.rounds = branch.path, branch.rounds
        if not branch.arrivals:
            raise SideEndedError("no side goes on")
        if branch.first_arrived:
            frame.key, frame.visits = branch.frame_key, branch.visits
        else:  # the run does not come here: its own names are those of what it did elsewhere
            frame.key = self.collector.names.of((branch.key, "after"))
            frame.visits = {}
        return self._merged(frame, branch)

    def _merged(self, frame: Frame, branch: OpenBranch) -> Meeting | None:
        if not branch.first_arrived:
            branch.arrivals.sort(key=branches.distance)
            if not branch.arrivals[0].known:
                self._hand_on(frame, branch)
                raise SideEndedError("only sides that are not encoded go on")
            if branch.left:
                self._go_on_elsewhere(frame, branch)
            elif branch.real:  # the run is over: from here on all is what would have been
                self._forced += 1
                self._continued += 1
                self._hypothetical_until = self.own_instances + self.bounds.forced
        first = branch.arrivals[0]
        self.world.restore(first.world or branch.world)
        self._deviations = first.forced
        phis, self.positions = branches.merge(branch, self.memory, self.collector)
        if branch.lost:
            conditions = [arrival.side.condition for arrival in branch.arrivals]
            self.collector.narrow((branch.key, "on"), branch.path, any_of(conditions))
            around = innermost_open(self.frames)
            if around is not None:  # of its ways, too, not every one goes on
                around.lost = around.split = True
        at = frame.meeting(branch.join)
        if branch.join == RETURN:
            phis = {"return": phis.get("return", (0, None))}
            if at is None:
                self.leave(frame, phis["return"])
                return None
        frame.block = branch.block
        if at is not None:
            return phis, at
        self._begin(frame, branch.join, phis)
        return None

    def _hand_on(self, frame: Frame, branch: OpenBranch) -> None:
        """What was executed went past a branch: its sides that are not encoded meet it further out."""
        home = frame.meeting(branch.join)
        if home is not None:
            for arrival in branch.arrivals:
                self._stand(frame, branch, arrival, home)

    def _go_on_elsewhere(self, frame: Frame, branch: OpenBranch) -> None:
        """The run went past where the sides meet, other sides did not: that too is a side, free unless
        it is wanted. Raises SideEndedError where it is not.
        """
        name, block = frame.body.name, branch.block
        met = [arrival.side for arrival in branch.arrivals if not arrival.taken]
        wanted = any(self._wanted(Branch(name, block, side.number, branch.key)) for side in met)
        whole = self._whole_sides and not branch.real
        if wanted or whole or len(met) < len(branch.arrivals):
            return
        home = frame.meeting(frame.body.joins[block])
        if home is not None:
            for side in met:
                self._unexplored(frame, branch, replace(side, target=branch.join))
            raise SideEndedError("no side goes on")

    def finish(self, reason: str) -> None:
        """Nothing is left to execute."""
        self.ending = self.ending or reason
        raise Finished


_ORDERLY = {
    "no side goes on", "only sides that are not encoded go on", "it ended", "it printed otherwise",
    NO_MORE,
}  # fmt: skip
