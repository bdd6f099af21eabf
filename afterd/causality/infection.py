"""What the green run beside the failing one says about a step.

An infected value is one that the green run did not have at that point. Infection *enters* at a step
whose term, on the inputs that the green run had, does not give the value that the green run had:
the step itself, or something that should have happened before it, was changed. A step whose term
does give green's value on green's inputs only carries what reached it.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum

from afterd.logic.evaluation import UNKNOWN, Evaluator, Known, evaluate, normal, same_value
from afterd.logic.terms import distinct_reads
from afterd.model.term import Read, SortKind, StepId, Term
from afterd.model.trace import Alignment, Effect, Execution, Step, StepKind

_NONE = "None"
"""How the one value is rendered of which nothing but ``None`` is recorded; all else of which that is so are objects."""


class Role(IntEnum):
    """A step's part in the infection, the most telling first."""

    ENTRY = 1  # infected, and not by its inputs
    GUARDED = 2  # not executed in green, on values as in green: the branch above decided
    CARRIER = 3  # infected by its inputs, as far as is known
    UNKNOWN = 4  # the green run says nothing
    CLEAN = 5  # as in green


def is_infected(step: Step) -> bool:
    """Whether the green run had another value here, or did not come here."""
    return step.green.alignment in {Alignment.DIFFERENT, Alignment.ABSENT}


def is_compared(step: Step) -> bool:
    """Whether the green run had a value here, and it was compared."""
    return step.green.alignment in {Alignment.SAME, Alignment.DIFFERENT}


def is_clean(step: Step) -> bool:
    """Whether the green run had the same value here."""
    return step.green.alignment is Alignment.SAME


def is_settled(step: Step) -> bool:
    """Whether a step need not be followed further back: its value is known, and as in green.

    Not for opaque values: that two objects are rendered alike does not make them one.
    """
    return is_clean(step) and step.value is not None and step.term.sort.kind is not SortKind.OPAQUE


def effect(step: Step) -> Effect:
    """Whether the good version's statement would have done something else on the same values."""
    if step.effect is not Effect.UNKNOWN or step.old is None:
        return step.effect
    if step.term.sort.kind is SortKind.OPAQUE:
        return Effect.NEUTRAL if _reads_the_same(step.old, step.term) else Effect.UNKNOWN
    before, now = evaluate(step.old), normal(step.value, step.term.sort)
    if UNKNOWN in (before, now):
        return Effect.UNKNOWN
    return Effect.NEUTRAL if same_value(before, now) else Effect.MATTERS


def _reads_the_same(one: Term, other: Term) -> bool:
    """Whether both are nothing but the value of one step: of two objects nobody knows whether they are alike."""
    return isinstance(one, Read) and isinstance(other, Read) and one.step == other.step


def is_harmless(execution: Execution, step: Step) -> bool:
    """Whether the changes of a step did nothing here: the good version's statement would have done the same.

    Not where all that it depends on is as in green, and green had something else or did not come here: what ran there
    was another statement, which is gone (a branch beside a ``return`` that stands in both versions), or it took
    another way than the good version's own branch left open (an ``elif`` that is an ``if`` now).
    """
    if effect(step) is not Effect.NEUTRAL:
        return False
    sources = [read.step for read in distinct_reads(step.term)] + list(step.choices)
    if step.control is not None:
        sources.append(step.control)
    elif step.green.alignment is Alignment.ABSENT:
        return True  # which branch led here is not known
    return not (is_infected(step) and all(is_clean(execution.step(source)) for source in sources))


class Green:
    """The green run's values; where a step was not aligned, what its inputs there make of it.

    A step that no change touched computes in the green run what its term says. So a gap in the
    alignment is bridged by evaluation, a few steps deep.
    """

    def __init__(self, execution: Execution) -> None:
        self._execution = execution
        self._values: dict[StepId, Known] = {}
        self._displaced: dict[StepId, set[StepId]] = {}

    def displace(self, definition: StepId, branch: StepId) -> None:
        """Note that green took ``branch`` another way, and there overwrote ``definition``.

        Then what is aligned with the definition is another one, and says nothing of this one.
        """
        self._displaced.setdefault(definition, set()).add(branch)

    def displaced(self, definition: StepId) -> set[StepId]:
        """The branches at which green went to overwrite what the step defined."""
        return self._displaced.get(definition, set())

    def value(self, step: Step, depth: int = 3) -> Known:
        """What the green run had at ``step``; UNKNOWN where it did not come here or none knows."""
        if step.id not in self._values:
            self._values[step.id] = self._recorded(step)
            if step.green.alignment is Alignment.UNKNOWN and not step.changes and depth:
                self._values[step.id] = self.on_green_inputs(step, depth - 1)
        return self._values[step.id]

    def on_green_inputs(self, step: Step, depth: int = 3) -> Known:
        """What the step's term gives on the inputs that the green run had."""
        if step.kind in {StepKind.INITIAL, StepKind.OPAQUE}:
            return UNKNOWN
        return self._evaluated(step.term, depth)

    def accounts_for(self, step: Step) -> bool:
        """Whether the good text of ``step``, on green's inputs, gives green's value; also where
        that cannot be told.
        """
        text = step.old if step.changes else step.term
        expected = self.value(step)
        if text is None or expected is UNKNOWN:
            return True
        got = normal(self._evaluated(text, 3), step.term.sort)
        return got is UNKNOWN or same_value(expected, got)

    def _evaluated(self, text: Term, depth: int) -> Known:
        def value_of(read: Read) -> Known:
            return self.value(self._execution.step(read.step), depth)

        return Evaluator(value_of).value(text)

    def _recorded(self, step: Step) -> Known:
        if step.green.alignment in {Alignment.ABSENT, Alignment.UNKNOWN}:
            return UNKNOWN
        clean = is_clean(step)
        value = step.value if clean else step.green.value
        shown = step.rendered if clean else step.green.rendered
        if value is None and (step.term.sort.kind is not SortKind.OPAQUE or shown != _NONE):
            return UNKNOWN  # an object, of which only what was recorded of it could be compared
        return normal(value, step.term.sort)


def role(execution: Execution, green: Green, step: Step) -> Role:
    """The part of ``step`` in the infection."""
    if is_clean(step):
        return Role.CLEAN
    if not is_infected(step):
        return Role.UNKNOWN
    if green.displaced(step.id) or step.green.elsewhere or any(_choosing_branches(execution, step)):
        return Role.CARRIER
    expected, got = green.value(step), green.on_green_inputs(step)
    if expected is not UNKNOWN and got is not UNKNOWN:
        return Role.CARRIER if same_value(expected, got) else Role.ENTRY
    return _by_inputs(execution, step)


def _choosing_branches(execution: Execution, step: Step) -> Iterator[Step]:
    """Infected branches within a statement: they gave it another value to read than green's had."""
    return filter(is_infected, map(execution.step, step.choices))


def _by_inputs(execution: Execution, step: Step) -> Role:
    """The role where green's values do not tell: clean inputs carry nothing."""
    if not all(is_clean(execution.step(read.step)) for read in distinct_reads(step.term)):
        return Role.CARRIER
    guard = _guard(execution, step)
    while guard is not None and _decides_over_itself(execution, guard, step):
        guard = _guard(execution, guard)
    if guard is None or is_clean(guard):
        return Role.ENTRY
    return Role.GUARDED if step.green.alignment is Alignment.ABSENT else Role.ENTRY


def _guard(execution: Execution, step: Step) -> Step | None:
    """The branch that decided that a step was executed."""
    return None if step.control is None else execution.step(step.control)


def _decides_over_itself(execution: Execution, guard: Step, step: Step) -> bool:
    """Whether a branch that green did not come to stands in the change that ``step`` does, on values as in green: what
    came in with it is infected by nothing else.
    """
    inputs = (execution.step(read.step) for read in distinct_reads(guard.term))
    absent = guard.green.alignment is Alignment.ABSENT
    return absent and not set(guard.changes).isdisjoint(step.changes) and all(map(is_clean, inputs))


def detours(execution: Execution, green: Green, step: Step) -> list[StepId]:
    """Branches whose other side, taken in green, wrote what ``step`` read: its infection came by a
    definition that did not happen. Empty where the step, or what it read, accounts for its value.
    """
    if not is_infected(step) or execution.omitted(step.id) or green.accounts_for(step):
        return []
    found = [
        branch
        for read in distinct_reads(step.term)
        for branch in execution.indirect_influences(step.id, read.step)
    ]
    return [branch for branch in dict.fromkeys(found) if is_infected(execution.step(branch))]


def enters_unread(execution: Execution, step: Step) -> bool:
    """Whether nothing tells how a step came to be infected: no change acts at it, and neither what it read nor a branch
    in or above it is. Then something that it read was not written.
    """
    return not step.changes and not any(carriers_into(execution, step))


def carriers_into(execution: Execution, step: Step) -> Iterator[Step]:
    """What may have infected ``step``: infected steps that it read, or that said where it was written, and branches in
    and above it.
    """
    own = [read.step for read in distinct_reads(step.term)]
    yield from filter(is_infected, map(execution.step, dict.fromkeys((*own, *step.extent))))
    yield from _choosing_branches(execution, step)
    if step.control is not None and is_infected(guard := execution.step(step.control)):
        yield guard
