"""Regressions of made-up programs: real values, real branches, hundreds of changes, 1–3 guilty.

A program is a list of assignments and branches over a few variables, in a good and a bad text. Most
changes are harmless: another expression of the same value, or a value that differs but is masked
before it matters. The test passes with all of them. Then guilty changes are put in until it fails.
The oracle runs the text that a reversion leaves; the trace is the bad run with the good one beside
it, steps aligned by statement.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from made_changes import FAIL, PASS, change
from recorded import Recorded, aligned

from afterd.logic.terms import distinct_reads, nodes
from afterd.model.change import Change, ChangeId, ChangeSet
from afterd.model.outcome import Outcome
from afterd.model.term import BOOL, Apply, Const, Op, Read, StepId, Term, Value, bitvec
from afterd.model.trace import Alignment, GreenValue

WORD = bitvec(32)
Name = int
"""A variable; in the text of a program a read of it is ``Read(name, WORD)``."""


@dataclass(frozen=True)
class Line:
    """A statement: ``target`` None makes it a branch over ``body``. A text of None is no text."""

    number: int
    target: Name | None
    good: Term | None
    bad: Term | None
    change: ChangeId = ""
    body: tuple[Line, ...] = ()


@dataclass
class Run:
    """One execution: for each (line, occurrence) the value; and, if traced, its steps."""

    values: dict[int, Value] = field(default_factory=dict)
    variables: dict[Name, Value] = field(default_factory=dict)


def literal(value: int) -> Const:
    return Const(value % (1 << 32), WORD)


def binary(op: Op, left: Term, right: Term) -> Term:
    return Apply(op, (left, right), WORD)


def execute(lines: Sequence[Line], reverted: ChangeSet) -> Run:
    """Run the program with some changes reverted."""
    run = Run()
    _execute(lines, reverted, run)
    return run


def _execute(lines: Sequence[Line], reverted: ChangeSet, run: Run) -> None:
    for line in lines:
        text = line.good if line.change in reverted else line.bad
        if text is None:
            continue
        value = _compiled(text)(run.variables)
        run.values[line.number] = value
        if line.target is not None:
            run.variables[line.target] = value
        elif value:
            _execute(line.body, reverted, run)


@cache
def _compiled(text: Term) -> Callable[[Mapping[Name, Value]], int]:
    """The text as a function of the variables; ``evaluate`` would do, but it is run millions of
    times here (and the two are compared in a test).
    """
    match text:
        case Const():
            assert isinstance(text.value, int)
            constant = text.value
            return lambda _: constant
        case Read():
            name = text.step
            return lambda variables: variables[name]  # type: ignore[return-value]  # ints alone
        case Apply():
            left, right = (_compiled(arg) for arg in text.args)
            operation = _OPERATIONS[text.op]
            return lambda variables: operation(left(variables), right(variables))
    raise AssertionError


_OPERATIONS: dict[Op, Callable[[int, int], int]] = {
    Op.ADD: lambda a, b: (a + b) & 0xFFFFFFFF,
    Op.SUB: lambda a, b: (a - b) & 0xFFFFFFFF,
    Op.MUL: lambda a, b: (a * b) & 0xFFFFFFFF,
    Op.BITXOR: lambda a, b: a ^ b,
    Op.BITOR: lambda a, b: a | b,
    Op.BITAND: lambda a, b: a & b,
    Op.ULT: lambda a, b: a < b,
    Op.UGT: lambda a, b: a > b,
    Op.NE: lambda a, b: a != b,
    Op.EQ: lambda a, b: a == b,
}


@dataclass
class Regression:
    """A program, its changes, and the guilty ones that were put in."""

    lines: tuple[Line, ...]
    output: Name
    holds: Term
    changes: Mapping[ChangeId, Change]
    guilty: ChangeSet

    def outcome(self, reverted: ChangeSet) -> Outcome:
        run = execute(self.lines, reverted)
        return PASS if _compiled(self.holds)(run.variables) else FAIL

    def passes(self) -> bool:
        """Whether the bad version passes."""
        return self.outcome(frozenset()) is PASS

    def trace(
        self,
        chance: random.Random,
        unknown: float = 0.0,
        wrong: float = 0.0,
        old_text: float = 0.0,
    ) -> Recorded:
        """The bad run with the good one beside it.

        A share of ``unknown`` steps has no alignment, and one of ``wrong`` the wrong one; the old
        text is known for a share of ``old_text`` changed steps.
        """
        green = execute(self.lines, frozenset(self.changes))
        tracer = _Tracer(green)
        tracer.run(self.lines, None)
        recorded = aligned(tracer.recorded)
        for step in list(recorded.steps.values()):
            if chance.random() < unknown:
                lost = GreenValue(Alignment.UNKNOWN)
                recorded.steps[step.id] = replace(step, green=lost)
            if step.changes and chance.random() > old_text:
                recorded.steps[step.id] = replace(recorded.steps[step.id], old=None)
            if chance.random() < wrong:
                swapped = GreenValue(Alignment.DIFFERENT, 77, "77")
                recorded.steps[step.id] = replace(recorded.steps[step.id], green=swapped)
        condition = tracer.read(self.holds)
        recorded.fail(10**6, condition)
        return recorded


class _Tracer:
    def __init__(self, green: Run) -> None:
        self.recorded = Recorded()
        self._green = green
        self._defined: dict[Name, Read] = {}
        self._skipped: list[tuple[StepId, set[Name]]] = []  # branches not taken, what they write
        self._next = 1

    def run(self, lines: Sequence[Line], control: StepId | None) -> None:
        for line in lines:
            if line.bad is None:
                continue
            term, step = self.read(line.bad), self._next
            old = self.read(line.good) if line.good is not None and line.change else None
            self._next += 1
            green = self._green.values.get(line.number, Alignment.ABSENT)
            changes = [line.change] if line.change else []
            if line.target is None:
                self.recorded.branch(
                    step, term, green=green, control=control, changes=changes, line=line.number
                )
                self.recorded.steps[step] = replace(self.recorded.steps[step], old=old)
                self._influenced(step, term)
                if self.recorded.steps[step].value:
                    self.run(line.body, step)
                else:
                    writes = {inner.target for inner in _flat(line.body)}
                    self._skipped.append((step, {name for name in writes if name is not None}))
                continue
            self._defined[line.target] = self.recorded.assign(
                step, f"v{line.target}", term, green=green, control=control, changes=changes,
                line=line.number,
            )  # fmt: skip
            self.recorded.steps[step] = replace(self.recorded.steps[step], old=old)
            self._influenced(step, term)

    def _influenced(self, step: StepId, term: Term) -> None:
        """Note the branches between each definition and its use that could have redefined it."""
        for read in distinct_reads(term):
            name = int(read.name[1:])
            found = [b for b, names in self._skipped if read.step < b < step and name in names]
            if found:
                self.recorded.influences[step, read.step] = found[::-1]

    def read(self, text: Term) -> Term:
        """The text with its variables resolved to the steps that defined them."""
        if isinstance(text, Read):
            return self._defined[text.step]
        if isinstance(text, Apply):
            return replace(text, args=tuple(self.read(arg) for arg in text.args))
        return text


class Maker:
    """Makes one regression from a seed."""

    def __init__(self, seed: int, *, changes: int, chain: int, variables: int = 24) -> None:
        self._chance = random.Random(seed)
        self._variables = variables
        self._wanted = changes
        self._chain = chain
        self._line = 0
        self._changed = 0

    def make(self, guilty: int) -> Regression | None:
        """A regression with ``guilty`` changes that must all be reverted; None if none came out."""
        lines = [self._assign(name, literal(self._chance.randrange(1, 50)), fixed=True)
                 for name in range(self._variables)]  # fmt: skip
        lines += self._block(self._chain, depth=0)
        output = self._live(lines)[-1]
        lines += self._rest()
        harmless = tuple(lines)
        holds = self._assertion(harmless, output)
        if holds is None:
            return None
        return self._infect(harmless, output, holds, guilty)

    def _block(self, count: int, depth: int) -> list[Line]:
        lines: list[Line] = []
        while count > 0:
            if depth < 2 and self._chance.random() < 0.12:
                size = self._chance.randrange(2, 6)
                lines.append(self._branch(self._block(size, depth + 1)))
                count -= size
            else:
                lines.append(self._assign(self._target(), self._expression()))
                count -= 1
        return lines

    def _target(self) -> Name:
        """Low names change often: the chain to the output runs through them."""
        return int(self._variables * self._chance.random() ** 2)

    def _expression(self) -> Term:
        left, right = self._operand(), self._operand()
        op = self._chance.choice((Op.ADD, Op.ADD, Op.SUB, Op.BITXOR, Op.BITOR, Op.BITAND, Op.MUL))
        return binary(op, left, right)

    def _operand(self) -> Term:
        if self._chance.random() < 0.2:
            return literal(self._chance.randrange(1, 16))
        return Read(self._target(), WORD)

    def _condition(self) -> Term:
        op = self._chance.choice((Op.ULT, Op.UGT, Op.NE))
        return Apply(op, (self._operand(), self._operand()), BOOL)

    def _number(self) -> int:
        self._line += 1
        return self._line

    def _assign(self, name: Name, text: Term, *, fixed: bool = False) -> Line:
        if fixed or self._chance.random() > 0.45 or self._changed >= self._wanted:
            return Line(self._number(), name, text, text)
        self._changed += 1
        return Line(self._number(), name, text, self._harmless(text), f"c{self._changed}")

    def _branch(self, body: list[Line]) -> Line:
        condition = self._condition()
        return Line(self._number(), None, condition, condition, body=tuple(body))

    def _harmless(self, text: Term) -> Term:
        """Another way to write the same, or a difference in bits that seldom matter."""
        kind = self._chance.random()
        if kind < 0.45:
            return binary(Op.SUB, binary(Op.ADD, text, literal(7)), literal(7))
        if kind < 0.88 and isinstance(text, Apply) and text.op is not Op.SUB:
            return replace(text, args=tuple(reversed(text.args)))
        if kind < 0.94:
            return binary(Op.BITXOR, text, literal(1 << self._chance.randrange(24, 32)))
        return binary(Op.ADD, text, literal(1 << self._chance.randrange(20, 28)))

    def _rest(self) -> list[Line]:
        """Changes elsewhere: executed, but after what matters; and never executed."""
        lines: list[Line] = []
        never = Apply(Op.NE, (literal(1), literal(1)), BOOL)
        hidden: list[Line] = []
        while self._changed < self._wanted - 3:
            line = self._assign(self._variables + 1, self._expression())
            (lines if self._chance.random() < 0.4 else hidden).append(line)
        return [*lines, Line(self._number(), None, never, never, body=tuple(hidden))]

    def _live(self, lines: Sequence[Line]) -> list[Name]:
        return [line.target for line in lines if line.target is not None]

    def _assertion(self, lines: tuple[Line, ...], output: Name) -> Term | None:
        """The low bits of the output are as in green; with all harmless changes they still are."""
        everything = frozenset(line.change for line in _flat(lines) if line.change)
        green, bad = execute(lines, everything), execute(lines, frozenset())
        mask = self._chance.choice((0xFF, 0xFFFF, 0xFFFFF))
        wanted, got = green.variables[output], bad.variables[output]
        assert isinstance(wanted, int)
        assert isinstance(got, int)
        if (wanted ^ got) & mask:
            return None
        low = binary(Op.BITAND, Read(output, WORD), literal(mask))
        return Apply(Op.EQ, (low, literal(wanted & mask)), BOOL)

    def _infect(
        self, lines: tuple[Line, ...], output: Name, holds: Term, count: int
    ) -> Regression | None:
        """Put wrong expressions into some lines until all of them must be reverted."""
        plain = [line for line in _flat(lines) if not line.change and line.target is not None
                 and line.number > self._variables]  # fmt: skip
        telling = [line for line in plain if not self._with(lines, output, holds, [line]).passes()]
        for _ in range(60 if len(telling) >= count else 0):
            made = self._with(lines, output, holds, self._chance.sample(telling, count))
            if _needs_all(made):
                return made
        return None

    def _with(
        self, lines: tuple[Line, ...], output: Name, holds: Term, where: Sequence[Line]
    ) -> Regression:
        chosen = {line.number: f"c{self._changed + 1 + i}" for i, line in enumerate(where)}
        infected = tuple(self._wrong(line, chosen) for line in lines)
        ids = [line.change for line in _flat(infected) if line.change]
        changes = {c: change(int(c[1:]), f"{int(c[1:]) // 12}.c", c) for c in ids}
        return Regression(infected, output, holds, changes, frozenset(chosen.values()))

    def _wrong(self, line: Line, chosen: Mapping[int, ChangeId]) -> Line:
        body = tuple(self._wrong(inner, chosen) for inner in line.body)
        if line.number not in chosen or line.good is None:
            return replace(line, body=body)
        bad = binary(Op.ADD, line.good, literal(self._chance.randrange(1, 9)))
        return replace(line, bad=bad, change=chosen[line.number], body=body)


def _flat(lines: Iterable[Line]) -> Iterable[Line]:
    for line in lines:
        yield line
        yield from _flat(line.body)


def _needs_all(made: Regression) -> bool:
    """The bad version fails, and reverting the guilty changes passes only if it is all of them."""
    if made.outcome(frozenset()) is PASS or made.outcome(made.guilty) is not PASS:
        return False
    if made.outcome(frozenset(made.changes)) is not PASS:
        return False
    if any(made.outcome(made.guilty - {c}) is PASS for c in made.guilty):
        return False
    return len(made.guilty) == 1 or all(made.outcome(frozenset({c})) is FAIL for c in made.guilty)


def regression(seed: int, guilty: int, *, changes: int = 300, chain: int = 220) -> Regression:
    """The first regression that comes out of ``seed`` and its followers."""
    for attempt in range(200):
        made = Maker(1000 * seed + attempt, changes=changes, chain=chain).make(guilty)
        if made is not None:
            return made
    raise AssertionError("no regression came out of this seed")


def size(term: Term) -> int:
    """How many distinct nodes a term has."""
    return sum(1 for _ in nodes(term))
