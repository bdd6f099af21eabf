"""A Boolean circuit as clauses: every gate once, constants folded (Tseitin 1968).

A literal is a non-zero integer as in DIMACS; ``TRUE`` is always true. A *word* is a tuple of
literals, the lowest bit first. Clauses only ever get more: what was encoded for one formula is
there for the next one. Which clauses say what a variable means is known, so that a solver gets the
*cone* of what it is asked about and nothing else: it assigns every variable that it has.

Clauses by the hundred thousand: numbers in one array, each clause with a 0 behind it (DIMACS).

As lists of lists they cost more, in a message and in memory, than solving them does.
"""

from __future__ import annotations

from array import array
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence

from afterd.limits import DEMAND
from afterd.logic.program_formula import TooLargeError

INT32 = "i"


def packed_clauses(numbers: array[int]) -> str:
    """The numbers as text."""
    return b64encode(numbers.tobytes()).decode("ascii")


def unpacked_clauses(text: str) -> Iterator[list[int]]:
    """The clauses of a text."""
    return split_clauses(array(INT32, b64decode(text)).tolist())


def split_clauses(numbers: list[int]) -> Iterator[list[int]]:
    """Clauses as lists, for a solver."""
    start = 0
    while start < len(numbers):
        end = numbers.index(0, start)
        yield numbers[start:end]
        start = end + 1


Literal = int
Word = tuple[Literal, ...]

TRUE: Literal = 1
FALSE: Literal = -1


class Gates:
    """Gives out literals for gates; ``size`` is how many clauses define them."""

    def __init__(self) -> None:
        self.size = 1
        self._known: dict[tuple[Literal, ...], Literal] = {}
        self._numbers = array(INT32, [TRUE, 0])
        self._spans = [(0, 0), (0, 2)]  # per variable: where its clauses are
        self._rests: list[tuple[Literal, ...]] = [(), ()]  # per variable: what else is in them

    @property
    def top(self) -> Literal:
        """The last literal that was given out."""
        return len(self._spans) - 1

    def new(self) -> Literal:
        """A literal that nothing is known about."""
        self._spans.append((0, 0))
        self._rests.append(())
        return len(self._spans) - 1

    def constrain(self, literals: Sequence[Literal], clauses: Iterable[Sequence[Literal]]) -> None:
        """Say what new literals mean, all together."""
        given = list(clauses)
        numbers = [number for clause in given for number in (*clause, 0)]
        first, *others = map(abs, literals)
        self._rests[first] = tuple({abs(n) for n in numbers} - {0, first})
        self._spans[first] = self._store(numbers, len(given))
        for other in others:
            self._rests[other] = (first,)

    def cone(
        self, roots: Iterable[Literal], known: set[Literal], over: Callable[[], bool] | None = None
    ) -> array[int]:
        """The clauses that the roots' meaning rests on, but for ``known`` variables; that set grows. Raises
        TooLargeError where the time for it is ``over``.
        """
        rests, spans, numbers = self._rests, self._spans, self._numbers
        waiting = list({abs(root) for root in roots} - known)
        known.update(waiting)
        found = array(INT32)
        until_look = DEMAND.looks
        while waiting:
            until_look -= 1
            if not until_look:
                until_look = DEMAND.looks
                if over is not None and over():
                    raise TooLargeError("the time for it is up")
            variable = waiting.pop()
            start, end = spans[variable]
            found += numbers[start:end]
            for literal in rests[variable]:
                other = abs(literal)
                if other not in known:
                    known.add(other)
                    waiting.append(other)
        return found

    def _define(
        self, literal: Literal, rests: tuple[Literal, ...], *clauses: tuple[Literal, ...]
    ) -> Literal:
        numbers = [number for clause in clauses for number in (*clause, 0)]
        self._spans.append(self._store(numbers, len(clauses)))
        self._rests.append(rests)
        return literal

    def _store(self, numbers: Sequence[int], clauses: int) -> tuple[int, int]:
        start = len(self._numbers)
        self._numbers.extend(numbers)
        self.size += clauses
        return start, len(self._numbers)

    def both(self, a: Literal, b: Literal) -> Literal:
        """A ∧ b."""
        if FALSE in (a, b) or a == -b:
            return FALSE
        if a in (TRUE, b):
            return b
        if b == TRUE:
            return a
        key = (0, a, b) if a < b else (0, b, a)
        found = self._known.get(key)
        if found is None:
            f = self._known[key] = len(self._spans)
            found = self._define(f, (a, b), (-f, a), (-f, b), (f, -a, -b))
        return found

    def either(self, a: Literal, b: Literal) -> Literal:
        """A ∨ b."""
        return -self.both(-a, -b)

    def differ(self, a: Literal, b: Literal) -> Literal:
        """A ⊕ b; the signs of the operands are taken out first, so that ¬a ⊕ b is the same gate."""
        if abs(a) == TRUE:
            return -b if a == TRUE else b
        if abs(b) == TRUE:
            return -a if b == TRUE else a
        if abs(a) == abs(b):
            return FALSE if a == b else TRUE
        x, y = sorted((abs(a), abs(b)))
        found = self._known.get((1, x, y))
        if found is None:
            f = self._known[1, x, y] = len(self._spans)
            found = self._define(f, (x, y), (-f, x, y), (-f, -x, -y), (f, -x, y), (f, x, -y))
        return found if (a > 0) == (b > 0) else -found

    def choose(self, condition: Literal, a: Literal, b: Literal) -> Literal:
        """A where ``condition`` holds, else b."""
        if a == b or condition == TRUE:
            return a
        if condition == FALSE:
            return b
        if condition < 0:
            condition, a, b = -condition, b, a
        if abs(a) == TRUE or a in (condition, -condition):
            chosen = a in (TRUE, condition)
            return self.either(condition, b) if chosen else self.both(-condition, b)
        if abs(b) == TRUE or b in (condition, -condition):
            chosen = b in (TRUE, -condition)
            return self.either(-condition, a) if chosen else self.both(condition, a)
        if a == -b:
            return -self.differ(condition, a)
        key = (2, condition, a, b)
        found = self._known.get(key)
        if found is None:
            c, f = condition, len(self._spans)
            self._known[key] = f
            found = self._define(
                f, (c, a, b), (-c, -a, f), (-c, a, -f), (c, -b, f), (c, b, -f),
                (-a, -b, f), (a, b, -f),
            )  # fmt: skip
        return found

    def majority(self, a: Literal, b: Literal, c: Literal) -> Literal:
        """Whether at least two of three hold: the carry of a full adder."""
        if abs(c) == TRUE:
            return self.either(a, b) if c == TRUE else self.both(a, b)
        if abs(a) == TRUE or a == b:
            return self.majority(b, c, a) if a != b else a
        if abs(b) == TRUE or b == c or a in (-b, c, -c) or b == -c:
            return self.choose(self.differ(a, b), c, a)
        if (a < 0) + (b < 0) + (c < 0) > 1:  # a borrow is the carry of the complement
            return -self.majority(-a, -b, -c)
        key = (3, *sorted((a, b, c)))
        found = self._known.get(key)
        if found is None:
            m = self._known[key] = len(self._spans)
            found = self._define(
                m, (a, b, c), (-a, -b, m), (-a, -c, m), (-b, -c, m),
                (a, b, -m), (a, c, -m), (b, c, -m),
            )  # fmt: skip
        return found

    def all_of(self, literals: Word) -> Literal:
        """The conjunction of any number, as one gate."""
        distinct = set(literals) - {TRUE}
        if FALSE in distinct or any(-literal in distinct for literal in distinct):
            return FALSE
        given = tuple(sorted(distinct))
        if len(given) < 3:
            return self.both(*(*given, TRUE, TRUE)[:2])
        key = (4, *given)
        found = self._known.get(key)
        if found is None:
            f = self._known[key] = len(self._spans)
            every = [(-f, literal) for literal in given]
            found = self._define(f, given, *every, (f, *(-literal for literal in given)))
        return found
