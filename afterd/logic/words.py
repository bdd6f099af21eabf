"""Arithmetic of bit-vectors as circuits: ripple-carry addition, shift and add, restoring division."""

from __future__ import annotations

from functools import cache

from afterd.limits import LOGIC
from afterd.logic.gates import FALSE, TRUE, Gates, Literal, Word


@cache
def constant(value: int, width: int) -> Word:
    """The word of a number, modulo 2^width."""
    return tuple(TRUE if value >> bit & 1 else FALSE for bit in range(width))


def is_constant(word: Word) -> bool:
    """Whether every bit is known."""
    return all(abs(bit) == TRUE for bit in word)


def inverted_word(a: Word) -> Word:
    """Every bit the other way."""
    return tuple(-bit for bit in a)


def add(gates: Gates, a: Word, b: Word, carry: Literal = FALSE) -> Word:
    """A + b + carry, modulo 2^width."""
    total = []
    for x, y in zip(a, b, strict=True):
        half = gates.differ(x, y)
        total.append(gates.differ(half, carry))
        carry = gates.majority(x, y, carry)
    return tuple(total)


def subtract(gates: Gates, a: Word, b: Word) -> Word:
    """A - b, modulo 2^width."""
    return add(gates, a, inverted_word(b), TRUE)


def negate(gates: Gates, a: Word) -> Word:
    """-a."""
    return add(gates, constant(0, len(a)), inverted_word(a), TRUE)


def choose(gates: Gates, condition: Literal, a: Word, b: Word) -> Word:
    """A where ``condition`` holds, else b."""
    return tuple(gates.choose(condition, x, y) for x, y in zip(a, b, strict=True))


def multiply(gates: Gates, a: Word, b: Word) -> Word:
    """A · b, modulo 2^width; a constant factor decides which rows there are."""
    if is_constant(a):
        a, b = b, a
    width = len(a)
    total = constant(0, width)
    for shift, bit in enumerate(b):
        if bit != FALSE:
            row = (FALSE,) * shift + tuple(gates.both(x, bit) for x in a[: width - shift])
            total = add(gates, total, row)
    return total


def less_than(gates: Gates, a: Word, b: Word) -> Literal:
    """A < b, unsigned: the borrow of a - b."""
    borrow = FALSE
    for x, y in zip(a, b, strict=True):
        borrow = gates.majority(-x, y, borrow)
    return borrow


def below_signed(gates: Gates, a: Word, b: Word) -> Literal:
    """A < b in two's complement: the signs count the other way."""
    return less_than(gates, (*a[:-1], -a[-1]), (*b[:-1], -b[-1]))


def equality(gates: Gates, a: Word, b: Word) -> Literal:
    """A = b. Of comparisons of one word with many constants (a table's places, a switch's cases) the
    digits are compared once.
    """
    same = tuple(-gates.differ(x, y) for x, y in zip(a, b, strict=True))
    if len(same) <= LOGIC.digit or not (is_constant(a) or is_constant(b)):
        return gates.all_of(same)
    low = [gates.all_of(same[at : at + LOGIC.digit]) for at in range(0, LOGIC.digits, LOGIC.digit)]
    return gates.all_of((*low, gates.all_of(same[LOGIC.digits :])))


def divide(gates: Gates, a: Word, b: Word) -> tuple[Word, Word]:
    """Unsigned quotient and remainder; by zero as in SMT-LIB, which is what the circuit gives. After so many digits
    of the dividend the rest has no more: each step is of as many bits as that.
    """
    if is_constant(b) and any(bit == TRUE for bit in b):
        return divide_by(gates, a, b)
    rest: Word = ()
    quotient: list[Literal] = []
    small = _small_words(gates, b)
    for known, bit in enumerate(reversed(a), start=1):
        rest, divisor = (bit, *rest), b[:known]
        fits = gates.both(small[known], -less_than(gates, rest, divisor))
        quotient.append(fits)
        rest = choose(gates, fits, subtract(gates, rest, divisor), rest)
    return tuple(reversed(quotient)), rest


def _small_words(gates: Gates, word: Word) -> list[Literal]:
    """For each number of bits, whether the word's value has no more."""
    found = [TRUE]
    for bit in reversed(word):
        found.append(gates.both(found[-1], -bit))
    return found[::-1]


def divide_by(gates: Gates, a: Word, b: Word) -> tuple[Word, Word]:
    """By a constant: the q and r that give q · b + r = a with r < b. A tenth of the circuit's size."""
    width = len(a)
    value = sum(1 << at for at, bit in enumerate(b) if bit == TRUE)
    low = value.bit_length()
    if value == 1 << (low - 1):
        shift_by = low - 1
        return (*a[shift_by:], *(FALSE,) * shift_by), (
            *a[:shift_by],
            *(FALSE,) * (width - shift_by),
        )
    quotient = (*(gates.new() for _ in range(width - low + 1)), *(FALSE,) * low)
    rest = (*(gates.new() for _ in range(low)), *(FALSE,) * (width + 1 - low))
    total = add(gates, multiply(gates, quotient, constant(value, width + 1)), rest)
    gates.constrain(
        [bit for bit in (*quotient, *rest) if bit != FALSE],
        [
            *_same_word_clauses(total, (*a, FALSE)),
            [less_than(gates, rest, constant(value, width + 1))],
        ],
    )
    return quotient[:-1], rest[:-1]


def _same_word_clauses(a: Word, b: Word) -> list[list[Literal]]:
    """Clauses that say that two words are equal."""
    pairs = zip(a, b, strict=True)
    return [clause for x, y in pairs for clause in ([-x, y], [x, -y])]


def divide_signed(gates: Gates, a: Word, b: Word) -> tuple[Word, Word]:
    """Quotient towards zero, and the remainder with the dividend's sign."""
    value = sum(1 << at for at, bit in enumerate(b) if bit == TRUE)
    if is_constant(b) and 0 < value < 1 << (len(b) - 1):
        return divide_signed_by(gates, a, value)
    quotient, rest = divide(gates, absolute(gates, a), absolute(gates, b))
    opposite = gates.differ(a[-1], b[-1])
    return (
        choose(gates, opposite, negate(gates, quotient), quotient),
        choose(gates, a[-1], negate(gates, rest), rest),
    )


def divide_signed_by(gates: Gates, a: Word, value: int) -> tuple[Word, Word]:
    """By a positive constant: the q and r with q · value + r = a, |r| < value, r of a's sign or 0."""
    width, low, sign = len(a), value.bit_length(), a[-1]
    if value == 1 << (low - 1):
        up = add(gates, a, (sign,) * (low - 1) + (FALSE,) * (width - low + 1))
        quotient = extended_word(up[low - 1 :], width)
        return quotient, subtract(gates, a, shifted_word(quotient, low - 1))
    quotient = tuple(gates.new() for _ in range(width - low + 1))
    rest = tuple(gates.new() for _ in range(low + 1))
    wide = width + 2
    product = multiply(gates, extended_word(quotient, wide), constant(value, wide))
    bounds = [
        [below_signed(gates, rest, constant(value, low + 1))],
        [below_signed(gates, constant(-value, low + 1), rest)],
        [sign, -rest[-1]],
        [-sign, rest[-1], gates.all_of(inverted_word(rest))],
    ]
    total = add(gates, product, extended_word(rest, wide))
    gates.constrain(
        (*quotient, *rest), [*_same_word_clauses(total, extended_word(a, wide)), *bounds]
    )
    return extended_word(quotient, width), extended_word(rest, width)


def extended_word(a: Word, width: int) -> Word:
    """A in so many bits, with its sign."""
    return (*a[:width], *(a[-1],) * (width - len(a)))


def shifted_word(a: Word, by: int) -> Word:
    """A · 2^by, modulo 2^width."""
    return (*(FALSE,) * by, *a[: len(a) - by])


def divide_floor(gates: Gates, a: Word, b: Word) -> tuple[Word, Word]:
    """Quotient towards minus infinity, and the remainder with the divisor's sign: Python's."""
    quotient, rest = divide_signed(gates, a, b)
    uneven = -equality(gates, rest, constant(0, len(a)))
    down = gates.both(uneven, gates.differ(a[-1], b[-1]))
    minus_one = constant(-1, len(a))
    return (
        choose(gates, down, add(gates, quotient, minus_one), quotient),
        choose(gates, down, add(gates, rest, b), rest),
    )


def absolute(gates: Gates, a: Word) -> Word:
    """|a| as an unsigned word."""
    return choose(gates, a[-1], negate(gates, a), a)


def shift(gates: Gates, a: Word, amount: Word, fill: Literal, *, left: bool) -> Word:
    """A shifted by a word; past the width only ``fill`` is left (a barrel shifter)."""
    width = len(a)
    for place, bit in enumerate(amount):
        by = min(1 << place, width) if place < width.bit_length() else width
        blank = (fill,) * by
        moved = (*blank, *a[: width - by]) if left else (*a[by:], *blank)
        a = choose(gates, bit, moved, a)
    return a
