"""Critical predicates: where to go on, upstream of a cause (AFTER, Definition 2 and Algorithm 3).

Only executed branches count, and only the nearest: what lies further up is met when the cause of
the nearer one is analysed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial

from afterd.causality.cause import Cause
from afterd.causality.infection import (
    carriers_into,
    enters_unread,
    is_clean,
    is_infected,
    is_settled,
)
from afterd.limits import SEARCH
from afterd.logic.terms import distinct_reads
from afterd.model.term import BOOL, Apply, Op, StepId, Term
from afterd.model.trace import Alignment, Execution, Predicate, Step, StepKind


@dataclass(frozen=True, slots=True)
class Critical:
    """A critical predicate; ``direct`` when its branch decided that a generator was executed.

    Otherwise ``definitions`` are the steps whose value would have been overwritten. ``needed``: the
    generator is one of the cause, and not only what chose between two things to read. ``only_way``: a
    generator is infected, and by nothing that it read; it may be that nobody wrote it.
    """

    predicate: Predicate
    branch: Step
    direct: bool
    definitions: tuple[StepId, ...] = ()
    needed: bool = True
    only_way: bool = False


def extract_critical_predicates(execution: Execution, cause: Cause) -> list[Critical]:
    """The branches whose other outcome could have changed a generator of ``cause``, each once.

    Algorithm 3, nearest to the failure first, with three differences. A generator whose value is as
    in green is skipped: nothing that decided it can matter. A path condition in the core is a
    branch itself, and asked for its own reasons. Where green never came to the branch that decided,
    nor to many above it, the one at which it went another way is asked as well.
    """
    overwritten: dict[StepId, dict[StepId, None]] = {}
    direct: set[StepId] = set()
    needed: set[StepId] = set()
    only_way: set[StepId] = set()
    own = {step.id for step in cause.steps}
    further = [step for step in _selecting(execution, cause) if step.id not in own]
    parting = cache(partial(_parting_branch, execution))
    influences = _influences(execution, cause, (*further, *cause.steps), parting)
    for generator, branch, definition in influences:
        met = overwritten.setdefault(branch, {})
        if generator in own:
            needed.add(branch)
        if definition is None:
            direct.add(branch)
            if generator != branch and _infected_by(execution, generator, branch):
                above = parting(branch)
                only_way.update({branch} if above is None else {branch, above})
        else:
            met[definition] = None
            if _not_written_by(execution, generator, branch):
                only_way.add(branch)
    found = [execution.step(branch) for branch in overwritten if branch != cause.predicate.step]
    return [
        Critical(
            Predicate(branch.id, other_way(branch), branch.text),
            branch,
            branch.id in direct,
            tuple(overwritten[branch.id]),
            branch.id in needed,
            branch.id in only_way,
        )
        for branch in sorted(found, key=lambda step: -step.id)
        if branch.kind is StepKind.BRANCH
    ]


def other_way(branch: Step) -> Term:
    """That the branch goes the other way: false in this run."""
    return Apply(Op.NOT, (branch.term,), BOOL) if branch.value else branch.term


def _parting_branch(execution: Execution, branch: StepId) -> StepId | None:
    """Above a branch that green never came to: the one at which it went another way, or, where green went the same
    way at all that it has, the first one that it has not: a condition that is new.

    The twenty conditions of an ``else if`` are each decided by the one before; one level after the
    other would ask all of them, and each for what its callees did, before the first.
    """
    above, below = execution.step(branch), branch
    for passed in range(SEARCH.above):
        if above.green.alignment is not Alignment.ABSENT or above.control is None:
            if passed <= SEARCH.near:
                return None
            if above.green.alignment is Alignment.DIFFERENT:
                return above.id
            return below if is_clean(above) and passed > SEARCH.near + 1 else None
        below = above.id
        above = execution.step(above.control)
    return None


def _came_all_the_same(execution: Execution, generator: Step) -> bool:
    """Whether green came to a generator, and had the same there, without the branch that decided it in the failing run:
    a condition that is new, and let through what was never kept back.
    """
    if not is_clean(generator) or generator.control is None:
        return False
    return execution.step(generator.control).green.alignment is Alignment.ABSENT


def _infected_by(execution: Execution, generator: StepId, branch: StepId) -> bool:
    """Whether a generator is infected, and of what may have infected it only by this branch."""
    step = execution.step(generator)
    return is_infected(step) and all(s.id == branch for s in carriers_into(execution, step))


def _not_written_by(execution: Execution, generator: StepId, branch: StepId) -> bool:
    """Whether a generator is infected, by nothing that it reads, and green went another way at a branch that kept it
    from being written.
    """
    step, parted = execution.step(generator), execution.step(branch).green.alignment
    infected = is_infected(step) and parted is Alignment.DIFFERENT
    return infected and enters_unread(execution, step)


def _selecting(execution: Execution, cause: Cause) -> list[Step]:
    """The infected steps behind a read that met another definition than green's, in execution order.

    That definition is as it was: a pointer or an index led to it, which a proof takes as given, or a copy wrote so far.
    Two lists in the wrong order were each what they should be.
    """
    found: dict[StepId, Step] = {}
    misled = [step for step in cause.steps if step.extent or _reads_elsewhere(execution, step)]
    while misled and len(found) < SEARCH.selecting:
        for source in carriers_into(execution, misled.pop()):
            if source.id not in found and not source.green.elsewhere:
                found[source.id] = source
                misled.append(source)
    return [found[identifier] for identifier in sorted(found)]


def _reads_elsewhere(execution: Execution, step: Step) -> bool:
    sources = (execution.step(read.step) for read in distinct_reads(step.term))
    return any(source.green.elsewhere for source in sources)


def _influences(
    execution: Execution,
    cause: Cause,
    generators: Sequence[Step],
    parting: Callable[[StepId], StepId | None],
) -> Iterator[tuple[StepId, StepId, StepId | None]]:
    """Generators and branches, and the definition whose value their other side would have overwritten."""
    asked = 0
    for generator in reversed(generators):
        if is_settled(generator) and generator.id != cause.predicate.step:
            continue
        if generator.control is not None and not _came_all_the_same(execution, generator):
            yield generator.id, generator.control, None
            above = parting(generator.control)
            if above is not None:
                yield generator.id, above, None
        for choice in generator.choices:
            yield generator.id, choice, None
        if generator.kind is StepKind.BRANCH:
            yield generator.id, generator.id, None
        own = generator.id == cause.predicate.step
        for read in distinct_reads(cause.predicate.condition if own else generator.term):
            asked += 1
            if asked <= SEARCH.reads:
                for branch in execution.indirect_influences(generator.id, read.step):
                    yield generator.id, branch, read.step
