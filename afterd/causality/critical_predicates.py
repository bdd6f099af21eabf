"""Critical predicates: where to go on, upstream of a cause (AFTER, Definition 2 and Algorithm 3)."""

from __future__ import annotations

from collections.abc import Iterator

from afterd.causality.cause import Cause
from afterd.model.explanation import Evidence
from afterd.model.term import BOOL, Apply, Const, Op, Read, SortKind, Term, reads
from afterd.model.trace import Execution, Predicate, Step, StepKind


def extract_critical_predicates(execution: Execution, cause: Cause) -> Iterator[tuple[Predicate, Evidence]]:
    """The executed branches that decided whether a generator of the cause could have been otherwise.

    Direct influence: the closest enclosing branch of a step. Indirect influence: a branch between a
    definition and its use whose other side redefines what was read. Beyond the paper: what external
    code read, where no term leads further (that edge is inferred from dependence alone).
    """
    for step in cause.steps:
        if step.control is not None and step.control != cause.predicate.step:
            yield from _branch(execution, step.control)
        for read in dict.fromkeys(reads(step.term)):
            for branch in execution.indirect_influences(step.id, read.step):
                yield from _branch(execution, branch)
    for read in cause.cut:
        otherwise = _otherwise(read)
        if otherwise is not None:
            step = execution.step(read.step)
            yield Predicate(step.id, otherwise, step.text), Evidence.INFERRED
    own = execution.step(cause.predicate.step)
    if own.control is not None:
        yield from _branch(execution, own.control)


def _branch(execution: Execution, branch: int) -> Iterator[tuple[Predicate, Evidence]]:
    step = execution.step(branch)
    if step.kind is StepKind.BRANCH:
        yield Predicate(step.id, other_way(step), step.text), Evidence.INFERRED


def other_way(branch: Step) -> Term:
    """That the branch had gone the other way: false in this run."""
    return Apply(Op.NOT, (branch.term,), BOOL) if branch.value else branch.term


def _otherwise(read: Read) -> Term | None:
    """That a value had been another one."""
    if read.value is None or read.sort.kind is SortKind.OPAQUE:
        return None
    op = Op.FNE if read.sort.kind is SortKind.FLOAT else Op.NE
    return Apply(op, (read, Const(read.value, read.sort)), BOOL)
