"""Where a cause's infection comes from, where its core does not say.

A minimal core is one way in which a predicate had to be false: arithmetic may force it whatever an element
of a table was, and a slice that was cut takes values as they were. Then an infected step of the core reads
another infected one that the core leaves out, and the change behind that one would be met by nothing.
Code that is not followed (a stream of C++'s library) keeps what it was given where nobody sees it: there the
infected step reads what seems as in green, and who gave it something else is found behind that.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from afterd.causality.infection import is_infected
from afterd.limits import SEARCH
from afterd.logic.terms import distinct_reads
from afterd.model.term import Read, StepId
from afterd.model.trace import Alignment, Execution, Step, StepKind


def origins(execution: Execution, core: Iterable[Step]) -> tuple[Step, ...]:
    """The infected steps outside a core from which its steps have what none in it gave them, by data alone.

    Nearest in the data flow first, ``LoopLimits.origins`` of them at most.
    """
    known = {step.id for step in core}
    found: dict[StepId, Step] = {}
    waiting = deque(_unaccounted_steps(execution, core, known))
    while waiting and len(found) < SEARCH.origins:
        for source in _infected_reads(execution, waiting.popleft()):
            if source.id not in found and source.id not in known:
                found[source.id] = source
                waiting.append(source)
    return tuple(found.values())


def _unaccounted_steps(
    execution: Execution, core: Iterable[Step], known: set[StepId]
) -> Iterator[Step]:
    """Infected steps of a core that read nothing infected in it, the nearest to the failure first."""
    for step in sorted(core, key=lambda step: -step.id):
        if is_infected(step) and not step.green.elsewhere:
            sources = _infected_reads(execution, step)
            if known.isdisjoint(source.id for source in sources):
                yield step


def _infected_reads(execution: Execution, step: Step) -> list[Step]:
    """What infected a step: what it read, else what was given to the code that it has its value from."""
    found = [source for source in _reads(execution, step) if is_infected(source)]
    return found or _given_unseen(execution, step)


def _given_unseen(execution: Execution, step: Step) -> list[Step]:
    """The infected steps that were given to code that is not followed, on the way to a value that differs from
    green's though nothing that it was made of is seen to: nearest first, and of those that green has none beside
    only where it has one beside none.
    """
    if step.green.alignment is not Alignment.DIFFERENT or step.changes:
        return []
    known, found, waiting = {step.id}, list[Step](), deque([step])
    while waiting and len(known) < SEARCH.unseen:
        for source in _reads(execution, waiting.popleft()):
            if source.id in known:
                continue
            known.add(source.id)
            if is_infected(source):
                found.append(source)
            elif source.kind is StepKind.OPAQUE or isinstance(source.term, Read):
                waiting.append(source)
    told = [source for source in found if source.green.alignment is Alignment.DIFFERENT]
    return told or found


def _reads(execution: Execution, step: Step) -> Iterator[Step]:
    return (execution.step(read.step) for read in distinct_reads(step.term))
