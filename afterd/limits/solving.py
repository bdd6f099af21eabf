"""What formulas, and questions to a solver, may cost."""

from __future__ import annotations

from dataclasses import dataclass

from afterd.limits.sizes import GIB


@dataclass(frozen=True, slots=True)
class SolverLimits:
    """z3: ``rlimit`` repeats exactly but is not time, ``timeout`` is soft, ``wall`` is a kill.

    ``wall`` is 1.5 x ``timeout`` + 1 second (reliability.md, section 14). ``memory`` is z3's own
    ``memory_max_size``; the address-space limit of the worker stands above it.
    """

    rlimit: int = 20_000_000
    timeout: float = 30.0  # far beyond what ``rlimit`` allows: it decides, under load as well
    memory: int = 2 * GIB
    address_space: int = 4 * GIB
    queries: int = 5_000

    @property
    def wall(self) -> float:
        """Seconds after which the parent kills the solver."""
        return 1.5 * self.timeout + 1.0


@dataclass(frozen=True, slots=True)
class FormulaLimits:
    """What formulas of failing tests may cost: ``inputs`` tests at most, as many as together execute
    ``instructions`` (two in any case); ``seconds`` of CPU time for one technique on all of them. They are
    chosen from the ``tried`` shortest.
    """

    inputs: int = 5
    tried: int = 20
    instructions: int = 2_000
    seconds: float = 90.0


@dataclass(frozen=True, slots=True)
class LogicLimits:
    """What a formula and a question to a solver may be. All chosen but where a source is named."""

    terms: int = 300_000  # of one problem: about what is sent and read in the default time-out
    depth: int = 100  # levels of a term that are one expression of z3
    integer_bits: int = 1 << 13  # of an integer that is computed: Python prints 4300 digits at most
    float_bits: int = 1024  # of an integer that becomes a float (IEEE 754 binary64)
    shift: int = 1024  # places that an unbounded integer is shifted by in z3
    decimal_bits: int = 1_000  # of an integer sent in decimal: int() and str() refuse 4300 digits
    clauses: int = 3_000_000  # that one formula may add, for its memory; how long it takes is bounded in seconds
    circuit: int = 3_000_000  # clauses after which products and divisions become points
    unbounded_bits: int = 64  # of an unbounded integer in a circuit
    digit: int = 4  # bits of a word that are compared together
    digits: int = 12  # that are compared so: those in which a table's indices differ
    interned_bits: int = 32  # of a string or an opaque value in a circuit: its number
    mixed: int = 150  # inputs that a core is tried on, mixed of those that were seen
    evaluated: int = 30_000  # constraints (10 µs each) before a core is let pass
    units_a_term: int = (
        33  # z3's resource units (0.3 µs each) that evaluating a constraint takes as long as
    )
    units_a_node: int = 300  # that translating a term for z3 takes as long as (0.1 ms, measured)
    unanswered: int = 2  # checks after which a core is left as it is
    seeds: int = 12  # constraints that are checked first, so that others need no check
    outside: int = 6  # sets that need a side outside of the formula, after which it grows
    trims: int = 1  # times that a core is asked for again
    always: int = 2  # sizes of sets that are looked for whatever smaller ones there are
    piece: int = 10_000  # clauses that a solver is given between two looks at that time
    alarm: float = 0.01  # seconds at least between two looks at the CPU time of a question
    minimised: int = 12  # members of a core that is made minimal: of larger ones few go


LOGIC = LogicLimits()


@dataclass(frozen=True, slots=True)
class DemandLimits:
    """How formulas of a whole run grow on demand, in clauses of all of them. All chosen."""

    iterations: int = 60
    factor: int = 3  # by which a formula may grow at once
    small: int = 5_000  # encoded and solved in no time: it need not grow by a factor
    large: int = 20_000  # all its sets are asked for before it grows: growth may not come to an end
    most: int = 1_000_000  # with more no growth is tried again in small steps, nor a wider window begun: 10 s of CPU
    short_run: int = 3_000  # instructions; of a longer run an address is the one that it had
    looks: int = 512  # instructions between two looks at the time
    whole: int = 1_000  # instructions of a run that is asked for at once: seconds of CPU
    windows: tuple[int, ...] = (100, 300, 1_000, 3_000)  # of a longer one, one after the other

    def windows_of(self, length: int) -> tuple[int, ...]:
        """The ends of a run that formulas are about, in instructions, the whole run last."""
        return (*(size for size in self.windows if size < length), length)


DEMAND = DemandLimits()


@dataclass(frozen=True, slots=True)
class MachineLimits:
    """What a run that is executed symbolically may hold. All chosen; beyond, it is refused by name or left concrete."""

    elements: int = 32  # of an array that a pointer may point to
    objects: int = 12  # that a pointer may point to, the newest
    file_bytes: int = 8  # that one into a file may: the sides of a branch stand only a few apart
    deep: int = 5  # calls within a side that was not executed
    numbers: int = 64  # of a program of Python, that a repair may change
    string: int = 1 << 16  # bytes
    memory: int = 256 << 20  # bytes
    places: int = 12  # in memory that one access may be of


MACHINE = MachineLimits()
