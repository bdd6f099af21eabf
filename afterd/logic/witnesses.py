"""Which constraints are needed for a contradiction, told from the run's own values: no solver is asked.

A constraint is needed where there is a *witness*: values that satisfy the goal and every constraint but it. The
run itself satisfies every constraint and not the goal, so it is a witness for the goal. From a witness for what
reads a step comes one for the step's own constraint: give the step a value with which its readers hold, and
nothing else changes (model rotation; Belov and Marques-Silva, FMCAD 2011, with the run in place of a first model).
A term that is not followed (``Concrete``) may have any value once what it reads is not as it was.
A program's chains of copies, calls and conditions are settled so in one walk. z3 needs a check for each, and is
seldom able to make one where there are texts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product

from afterd.limits import LOGIC
from afterd.logic.constraint import Constraint, Kind, Problem
from afterd.logic.evaluation import UNKNOWN, Evaluator, Known, normal, observed_value, same_value
from afterd.logic.terms import distinct_reads, nodes
from afterd.model.term import Concrete, Const, Free, Read, Sort, SortKind, StepId, Term

GOAL = -1
"""Stands for the goal where an index of a constraint is expected."""

Readers = Mapping[StepId, Sequence[int]]
"""For each step, which of some constraints read its value, and the goal where it does."""


def constraint_readers(problem: Problem, indices: Collection[int]) -> Readers:
    """Who reads what."""
    found: dict[StepId, list[int]] = {}
    for read in distinct_reads(problem.goal):
        found.setdefault(read.step, []).append(GOAL)
    for index in sorted(indices):
        for read in distinct_reads(problem.constraints[index].term):
            found.setdefault(read.step, []).append(index)
    return found


def run_values(problem: Problem, indices: Collection[int]) -> dict[StepId, Known] | None:
    """The value of each step of some constraints in the run, UNKNOWN where they do not tell it; None where an
    assumption is not seen to hold, or the goal is not seen to be false: then the run is no witness.

    What they read and do not define is as it was observed.
    """
    values: dict[StepId, Known] = {}
    evaluator = Evaluator(lambda read: values.get(read.step, observed_value(read)))
    for index in sorted(indices, reverse=True):  # execution order
        constraint = problem.constraints[index]
        value = evaluator.value(constraint.term)
        if constraint.kind is Kind.DEFINES:
            values[constraint.step] = value
        elif value is not True:
            return None
    return values if evaluator.value(problem.goal) is False else None


class Witnesses:
    """The walk from the goal to what it reads, to what that reads, and so on, as far as witnesses are found
    and as many terms as a problem may have are evaluated.

    ``evaluated`` counts them: what it took, the same on every machine.
    """

    def __init__(
        self, problem: Problem, indices: Collection[int], values: Mapping[StepId, Known]
    ) -> None:
        self.evaluated = 0
        self._problem = problem
        self._values = values
        self._readers = constraint_readers(problem, indices)
        self._makers = {
            problem.constraints[index].step: index
            for index in indices
            if problem.constraints[index].kind is Kind.DEFINES
        }
        self._parts = {index: _Parts.of(self._term(index)) for index in (GOAL, *indices)}
        self._unfollowed = Counter(
            id(node) for parts in self._parts.values() for node in parts.unfollowed
        )
        self._changed: dict[StepId, Known] = {}  # of the witness at hand, beside the run

    def needed(self) -> set[int]:
        """The constraints that have a witness. Each is given one by the first reader that can."""
        found: set[int] = set()
        pending = [self._read_by(GOAL)]
        path: list[Sequence[StepId]] = []
        while pending:
            step, reader = next(pending[-1], (None, GOAL))
            if step is None:
                pending.pop()
                self._take_back(path.pop() if path else ())
                continue
            maker = self._makers[step]
            if maker in found:
                continue
            if changed := self._change(step, reader):
                found.add(maker)
                path.append(changed)
                pending.append(self._read_by(maker))
        return found

    def _read_by(self, reader: int) -> Iterator[tuple[StepId, int]]:
        reads = distinct_reads(self._term(reader))
        return ((read.step, reader) for read in reads if read.step in self._makers)

    def _term(self, index: int) -> Term:
        return self._problem.goal if index == GOAL else self._problem.constraints[index].term

    def _change(self, step: StepId, reader: int) -> Sequence[StepId]:
        """Give a step another value with which all constraints but its own hold, and what follows from it the
        values that follow, as far as they are not given yet. Which steps were given one; none where it cannot be.
        """
        sort = self._problem.constraints[self._makers[step]].sort
        for candidate in self._candidates(step, sort, reader):
            value = normal(candidate, sort)
            if self.evaluated > LOGIC.terms:
                break
            if value is UNKNOWN or same_value(value, self._values[step]):
                continue
            given = [step]
            self._changed[step] = value
            if self._followed(given):
                return given
            self._take_back(given)
        return ()

    def _followed(self, given: list[StepId]) -> bool:
        """Give what reads ``given`` steps the values that follow, and so on; False where a constraint breaks."""
        for step in given:  # it grows
            for index in self._readers.get(step, ()):
                if self._holds(index):
                    continue
                constraint = None if index == GOAL else self._problem.constraints[index]
                if constraint is None or constraint.kind is Kind.ASSUMES:
                    return False
                value = _Chosen(self._value, {}).value(constraint.term)
                if constraint.step in self._changed or value is UNKNOWN:
                    return False
                self._changed[constraint.step] = value
                given.append(constraint.step)
        return True

    def _take_back(self, given: Sequence[StepId]) -> None:
        for step in given:
            del self._changed[step]

    def _candidates(self, step: StepId, sort: Sort, reader: int) -> Iterator[Known]:
        """Values to be tried: what a copy must have, any other one, and what the reader compares with."""
        term = self._term(reader)
        wanted: Known = UNKNOWN
        if reader != GOAL and self._problem.constraints[reader].kind is Kind.DEFINES:
            wanted = self._changed[self._problem.constraints[reader].step]
            yield wanted
        yield from _others(self._values[step], sort, step)
        if isinstance(term, Concrete | Read):
            return
        yield from self._compared_values(reader, sort, step)
        yield from self._on_a_line(step, term, wanted)

    def _on_a_line(self, step: StepId, term: Term, wanted: Known) -> Iterator[Known]:
        """Where a sum, a difference or a multiple would have the value that is wanted, by two points of it."""
        value = self._values[step]
        if not isinstance(value, int) or not isinstance(wanted, int):
            return
        here, near = self._at(step, value, term), self._at(step, value + 1, term)
        if isinstance(here, int) and isinstance(near, int) and here != near:
            yield value + (wanted - here) // (near - here)

    def _at(self, step: StepId, value: Known, term: Term) -> Known:
        """A term's value where one step has this one."""

        def value_of(read: Read) -> Known:
            return normal(value, read.sort) if read.step == step else self._value(read)

        return Evaluator(value_of).value(term)

    def _compared_values(self, index: int, sort: Sort, step: StepId) -> Iterator[Known]:
        """The values of a sort that stand in a constraint's term, and values near to them."""
        for node in self._parts[index].leaves:
            if node.sort == sort:
                value = self._value(node) if isinstance(node, Read) else normal(node.value, sort)
                yield value
                yield from _others(value, sort, step)

    def _holds(self, index: int) -> bool:
        """Whether a constraint holds, or can with some value of what it has that is not followed."""
        term, parts = self._term(index), self._parts[index]
        free: list[Concrete | Free] = [*parts.free]
        free += [node for node in parts.unfollowed if self._is_free(node)]
        self.evaluated += 1
        if any(node is term for node in free):
            return True
        chosen = [[*self._free_values(index, node)] for node in free]
        for values in islice(product(*chosen), LOGIC.mixed):
            self.evaluated += parts.size
            found = _Chosen(self._value, dict(zip(map(id, free), values, strict=True))).value(term)
            if self._is_held(index, found):
                return True
        return False

    def _is_free(self, term: Concrete) -> bool:
        """Whether a term that is not followed stands here alone, and reads what has another value than in the run:
        then it may have any.
        """
        alone = self._unfollowed[id(term)] == 1
        return alone and any(read.step in self._changed for read in term.reads)

    def _free_values(self, index: int, node: Concrete | Free) -> Iterator[Known]:
        """Values to be tried of what may have any: the run's, the constraint's own, and those near or compared."""
        value = normal(node.value, node.sort) if isinstance(node, Concrete) else UNKNOWN
        if index != GOAL and self._problem.constraints[index].kind is Kind.DEFINES:
            yield normal(self._held(self._problem.constraints[index]), node.sort)
        yield value
        yield from _others(value, node.sort, 0)
        yield from self._compared_values(index, node.sort, 0)

    def _is_held(self, index: int, value: Known) -> bool:
        """Whether this value of its term is what a constraint asks for."""
        constraint = None if index == GOAL else self._problem.constraints[index]
        if constraint is None or constraint.kind is Kind.ASSUMES:
            return value is True
        held = self._held(constraint)  # what nothing tells is as its term will have it
        return held is UNKNOWN or (value is not UNKNOWN and same_value(value, held))

    def _held(self, constraint: Constraint) -> Known:
        step = constraint.step
        return self._changed[step] if step in self._changed else self._values[step]

    def _value(self, read: Read) -> Known:
        if read.step in self._changed:
            return normal(self._changed[read.step], read.sort)
        return normal(self._values.get(read.step, observed_value(read)), read.sort)


@dataclass(frozen=True, slots=True)
class _Parts:
    """What a term has: how many terms, those that are not followed, those that are free, and its leaves."""

    size: int
    unfollowed: tuple[Concrete, ...]
    free: tuple[Free, ...]
    leaves: tuple[Const | Read, ...]

    @classmethod
    def of(cls, term: Term) -> _Parts:
        """The parts of a term, in one walk."""
        every = list(nodes(term))
        return cls(
            len(every),
            tuple(node for node in every if isinstance(node, Concrete)),
            tuple(node for node in every if isinstance(node, Free)),
            tuple(node for node in every if isinstance(node, Const | Read)),
        )


class _Chosen(Evaluator):
    """Evaluates terms where what is not followed has the values that were ``chosen``, by identity."""

    def __init__(self, value_of: Callable[[Read], Known], chosen: Mapping[int, Known]) -> None:
        super().__init__(value_of)
        self._chosen = chosen

    def _node(self, term: Term) -> Known:
        if id(term) in self._chosen:
            return normal(self._chosen[id(term)], term.sort)
        return super()._node(term)


def _others(value: Known, sort: Sort, step: StepId) -> Iterator[Known]:
    """Values near to one, and one that no other is."""
    match sort.kind, value:
        case SortKind.BOOL, _:
            yield value is not True
        case ((SortKind.INT | SortKind.BITVEC), int()):
            yield from (value + 1, value - 1, 0)
        case SortKind.FLOAT, float():
            yield from (value + 1.0, 0.0)
        case SortKind.STRING, str():
            yield from (f"{value}\N{REPLACEMENT CHARACTER}", "")
        case SortKind.OPAQUE, _:
            yield f"\N{REPLACEMENT CHARACTER} none of the run's, of step {step}"
