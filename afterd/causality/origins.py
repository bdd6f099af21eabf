"""Where a cause's infection comes from, where its core does not say.

A minimal core is one way in which a predicate had to be false: arithmetic may force it whatever an element
of a table was, and a slice that was cut takes values as they were. Then an infected step of the core reads
another infected one that the core leaves out, and the change behind that one would be met by nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from afterd.causality.infection import is_infected
from afterd.limits import SEARCH
from afterd.logic.terms import distinct_reads
from afterd.model.term import StepId
from afterd.model.trace import Execution, Step


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
    sources = (execution.step(read.step) for read in distinct_reads(step.term))
    return [source for source in sources if is_infected(source)]
