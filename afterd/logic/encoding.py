"""Program formulas as clauses: encoded once, shared by techniques, iterations and failing tests.

A statement has one selector wherever it appears. ``selector → (value = term)`` for what it defines;
the values and terms themselves are a circuit that holds whatever is selected. So a formula that
grew (an iteration of OFC) or another test's adds only what is new, and a set of statements that
contradicted a formula contradicts every formula that says more about the same input.

Which statements decide all that others have to say (Mangassarian et al., ICCAD 2011).

A statement *dominates* another one if whatever the other defines reaches the obligations only
through what it defines itself. Dropping the dominator then repairs all that dropping the other one
does, so that a solver need not be asked.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from afterd.limits import LOGIC
from afterd.logic.bitblast import Blaster
from afterd.logic.gates import TRUE, Gates, Literal, Word
from afterd.logic.program_formula import (
    Definition,
    ProgramFormula,
    Statement,
    TooLargeError,
    Violated,
)
from afterd.logic.terms import distinct_reads, terms_of_known
from afterd.model.term import BOOL, Apply, Op, Sort, StepId, Term

Dominators = Mapping[Literal, frozenset[Literal]]
"""Selector → the selectors of the statements that dominate its statement, without itself."""


def dominators(
    definitions: Sequence[Definition],
    needed: Collection[StepId],
    roots: Iterable[Term],
    selectors: Mapping[tuple[str, int], Literal],
) -> Dominators:
    """Of the statements whose definitions are ``needed`` for the roots.

    One pass from the last definition to the first: every reader's dominators are known by then.
    """
    lines = {line: 1 << at for at, line in enumerate(selectors)}
    over: dict[StepId, int] = {}  # per step the lines, as bits, on every way from it to a root
    of_line: dict[tuple[str, int], int] = {}

    def read(term: Term, by: int, met: set[int] | None = None) -> None:
        for found in distinct_reads(term, met):
            over[found.step] = over.get(found.step, -1) & by

    of_roots: set[int] = set()
    for root in roots:
        read(root, 0, of_roots)
    for definition in reversed(definitions):
        if definition.step not in needed:
            continue
        above = over.get(definition.step, 0)
        if definition.statement is not None:
            line = definition.statement.line
            above |= lines[line]
            of_line[line] = of_line.get(line, -1) & above
        read(definition.term, above)
    return {
        selectors[line]: frozenset(selectors[d] for d, bit in lines.items() if above & bit)
        - {selectors[line]}
        for line, above in of_line.items()
    }


@dataclass(frozen=True, slots=True)
class Encoded:
    """A formula in a shared encoding.

    ``hard``: literals to assume; ``bound``: those that give the inputs their values.
    ``statements``: what the obligations depend on, each with its selector; ``frontier``: per
    frontier of the formula, whether it is taken; ``violated`` and ``path``: the obligations and
    the branches' conditions; ``inputs``: the inputs' words; ``dominators`` of the statements.
    """

    hard: tuple[Literal, ...]
    bound: tuple[Literal, ...]
    statements: Mapping[Statement, Literal]
    frontier: tuple[Literal, ...]
    violated: tuple[Literal, ...]
    path: tuple[Literal, ...]
    inputs: Mapping[StepId, Word]
    dominators: Dominators


class Encoding:
    """The circuit, the selectors, and which definition is which variable."""

    def __init__(self, most_clauses: int = LOGIC.clauses) -> None:
        self.most_clauses = most_clauses
        self.over: Callable[[], bool] = lambda: False  # whether there is no time for more
        self.gates = Gates()
        self.blaster = Blaster(self.gates)
        self.selectors: dict[tuple[str, int], Literal] = {}
        self._variables: dict[tuple[object, ...], Word] = {}

    @property
    def size(self) -> int:
        """How many clauses there are."""
        return self.gates.size

    @property
    def notes(self) -> tuple[str, ...]:
        """What was made concrete."""
        return tuple(self.blaster.notes)

    def selector(self, statement: Statement) -> Literal:
        """The literal that says that the statement is as written."""
        if statement.line not in self.selectors:
            self.selectors[statement.line] = self.gates.new()
        return self.selectors[statement.line]

    def encode(
        self,
        formula: ProgramFormula,
        wanted: Sequence[Violated] | None = None,
        test: int = 0,
        more: Iterable[Term] = (),
        *,
        with_path: bool = False,
    ) -> Encoded:
        """Encode a formula; ``test`` keeps the free values of several inputs' formulas apart.

        ``wanted`` are the obligations to be hard (all of the formula's); ``more`` terms are
        encoded beside them and taken for hard as well. The branches' conditions are encoded only
        ``with_path``: they would draw in statements that the obligations do not depend on.
        """
        violated = formula.violated if wanted is None else tuple(wanted)
        goals = [v.term for v in violated]
        taken = [frontier.taken for frontier in formula.frontier]
        path = [condition.condition for condition in formula.path] if with_path else []
        by_step = {definition.step: definition.term for definition in formula.definitions}
        needed = _cone(by_step, [*goals, *formula.hard, *more, *path])
        known = needed | {given.step for given in formula.inputs}
        followed = terms_of_known((t for _, t in formula.sane), known)
        sane = [(p, t) for p, t in formula.sane if id(t) in followed]
        reaching = [p for p, _ in sane if p is not None]
        needed |= _cone(by_step, [*reaching, *_touched_sides(by_step, taken, needed)])
        hard = [*formula.hard, *more, *(_implication(p, t) for p, t in sane)]
        values: dict[StepId, Word] = {}
        inputs, bound = self._inputs(formula.inputs, values, test, varied=with_path)
        statements = self._definitions(formula.definitions, needed, values, test)
        over = dominators(
            formula.definitions, needed, [*goals, *hard, *reaching, *taken, *path], self.selectors
        )
        lookup = _Lookup(self, values, test)
        parts = self.blaster.words_of([*goals, *hard, *taken, *path], lookup)
        literals = [word[0] for word in parts]
        cuts = [len(goals), len(goals) + len(hard), len(goals) + len(hard) + len(taken)]
        obligations = tuple(literals[: cuts[0]])
        always = tuple(literals[cuts[0] : cuts[1]])
        return Encoded(
            (*always, *obligations),
            bound,
            statements,
            tuple(literals[cuts[1] : cuts[2]]),
            obligations,
            tuple(literals[cuts[2] :]),
            inputs,
            over,
        )

    def _inputs(
        self, inputs: Sequence[Definition], values: dict[StepId, Word], test: int, *, varied: bool
    ) -> tuple[Mapping[StepId, Word], tuple[Literal, ...]]:
        """Each input is a word; one literal, to be assumed, says what they are on this input. Where
        nobody asks for other inputs (``varied``) they are constants, which keeps the circuit small.
        """
        found: dict[StepId, Word] = {}
        bound: list[Literal] = []
        for given in inputs:
            word = self.variable(("input", test, given.step, given.term.sort), given.term.sort)
            (known,) = self.blaster.words_of([given.term], _Lookup(self, values, test))
            if not varied:
                values[given.step] = known
                continue
            values[given.step] = found[given.step] = word
            bound += [x if y == TRUE else -x for x, y in zip(word, known, strict=True)]
        if not bound:
            return found, ()
        key = ("bound", *bound)
        fresh = key not in self._variables
        as_given = self.variable(key, BOOL)
        if fresh:
            self.gates.constrain(as_given, [[-as_given[0], bit] for bit in bound])
        return found, as_given

    def _definitions(
        self,
        definitions: Sequence[Definition],
        needed: set[StepId],
        values: dict[StepId, Word],
        test: int,
    ) -> Mapping[Statement, Literal]:
        selectors: dict[Statement, Literal] = {}
        began = self.size
        lookup = _Lookup(self, values, test)
        for definition in definitions:
            if definition.step not in needed:
                continue
            if self.size - began > self.most_clauses:
                raise TooLargeError(f"its formula has more than {self.most_clauses} clauses")
            if self.over():
                raise TooLargeError("the time for it is up")
            (term,) = self.blaster.words_of([definition.term], lookup)
            statement = definition.statement
            if statement is None:
                values[definition.step] = term
                continue
            selector = selectors[statement] = self.selector(statement)
            key = ("soft", test, definition.step, selector, term)
            fresh = key not in self._variables
            value = self.variable(key, definition.term.sort)
            values[definition.step] = value
            for bit, is_so in zip(value, term, strict=True) if fresh else ():
                as_written = [[-selector, -bit, is_so], [-selector, bit, -is_so]]
                self.gates.constrain([bit], as_written)
        return selectors

    def variable(self, key: tuple[object, ...], sort: Sort) -> Word:
        """The word that a key always means."""
        if key not in self._variables:
            self._variables[key] = self.blaster.free(sort)
        return self._variables[key]


@dataclass(frozen=True, slots=True)
class _Lookup:
    """What reads mean: what was defined, and a free word for what was not."""

    encoding: Encoding
    values: Mapping[StepId, Word]
    test: int

    def __call__(self, step: StepId, sort: Sort) -> Word:
        if step in self.values:
            return self.values[step]
        return self.encoding.variable(("free", self.test, step, sort), sort)


def _cone(by_step: Mapping[StepId, Term], terms: Iterable[Term]) -> set[StepId]:
    """The steps that the terms depend on, through any number of definitions."""
    needed: set[StepId] = set()
    waiting = list(terms)
    met: set[int] = set()
    while waiting:
        for read in distinct_reads(waiting.pop(), met):
            if read.step in by_step and read.step not in needed:
                needed.add(read.step)
                waiting.append(by_step[read.step])
    return needed


def _touched_sides(
    by_step: Mapping[StepId, Term], sides: Sequence[Term], needed: set[StepId]
) -> list[Term]:
    """The sides that are not encoded whose condition, or the way to it, is among what is needed."""
    found: list[Term] = []
    known = set(needed)
    waiting = [(side, {read.step for read in distinct_reads(side)}) for side in sides]
    while touched := [side for side, steps in waiting if not steps.isdisjoint(known)]:
        found += touched
        known |= _cone(by_step, touched)
        done = set(map(id, touched))
        waiting = [(side, steps) for side, steps in waiting if id(side) not in done]
    return found


def _implication(condition: Term | None, term: Term) -> Term:
    if condition is None:
        return term
    return Apply(Op.OR, (Apply(Op.NOT, (condition,), BOOL), term), BOOL)
