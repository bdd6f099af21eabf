"""A Boolean circuit as clauses: every gate once, constants folded (Tseitin 1968).

A literal is a non-zero integer as in DIMACS; ``TRUE`` is always true. A *word* is a tuple of
literals, the lowest bit first. Clauses only ever get more: what was encoded for one formula is
there for the next one, and a solver that was given the first clauses needs only the new ones.
"""

from __future__ import annotations

Literal = int
Word = tuple[Literal, ...]

TRUE: Literal = 1
FALSE: Literal = -1


class Gates:
    """Gives out literals for gates; ``clauses`` define them."""

    def __init__(self) -> None:
        self.clauses: list[list[Literal]] = [[TRUE]]
        self.top = TRUE
        self._known: dict[tuple[Literal, ...], Literal] = {}

    def new(self) -> Literal:
        """A literal that nothing is known about."""
        self.top += 1
        return self.top

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
            found = self._known[key] = self.new()
            self.clauses += ([-found, a], [-found, b], [found, -a, -b])
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
            found = self._known[1, x, y] = self.new()
            self.clauses += ([-found, x, y], [-found, -x, -y], [found, -x, y], [found, x, -y])
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
            c = condition
            found = self._known[key] = self.new()
            self.clauses += ([-c, -a, found], [-c, a, -found], [c, -b, found], [c, b, -found])
            self.clauses += ([-a, -b, found], [a, b, -found])
        return found

    def majority(self, a: Literal, b: Literal, c: Literal) -> Literal:
        """Whether at least two of three hold: the carry of a full adder."""
        if abs(c) == TRUE:
            return self.either(a, b) if c == TRUE else self.both(a, b)
        if abs(a) == TRUE or a == b:
            return self.majority(b, c, a) if a != b else a
        if abs(b) == TRUE or b == c or a in (-b, c, -c) or b == -c:
            return self.choose(self.differ(a, b), c, a)
        key = (3, *sorted((a, b, c)))
        found = self._known.get(key)
        if found is None:
            m = self._known[key] = found = self.new()
            self.clauses += ([-a, -b, m], [-a, -c, m], [-b, -c, m])
            self.clauses += ([a, b, -m], [a, c, -m], [b, c, -m])
        return found

    def all_of(self, literals: Word) -> Literal:
        """The conjunction of any number."""
        result = TRUE
        for literal in literals:
            result = self.both(result, literal)
        return result
