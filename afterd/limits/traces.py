"""How far one run is read, and two are compared."""

from __future__ import annotations

from dataclasses import dataclass

from afterd.limits.sizes import GIB


@dataclass(frozen=True, slots=True)
class TraceLimits:
    """A window of the trace is kept, never all of it (design, section 5): ``window`` events."""

    window: int = 1 << 24
    reexecutions: int = 12  # a process, to look further back; and more while they run through fewer
    reexecuted: int = 2_000_000_000  # records in all: about ten seconds of a program's own work
    slowdown: float = 60.0  # a traced run may take this many times the test's own time-out
    waiting: float = 5.0  # the same, where the test hangs
    recorded: int = 50_000_000_000  # records of one process of either end: two minutes at most; more are not waited for
    longer: int = 4  # times as many records as the ends have may a variant make, and so many
    beyond: int = 100_000  # more; past as many as the good one has, where the failing run hangs
    rounds: int = 4_000  # of a loop that does not end, looked back through
    memory: int = 2 * GIB

    def of_a_variant(self, longest: int) -> int:
        """How many records a variant may make where the longest process of the ends makes so many."""
        return self.longer * longest + self.beyond


@dataclass(frozen=True, slots=True)
class PythonTraceLimits:
    """How far a recorded Python run is read. All chosen; past a bound a value is taken as it was."""

    candidates: int = 400  # rows looked at before a name, an attribute or an item is given up
    imports: int = 8  # imports of imports that are followed
    depth: int = 60  # levels of one expression that become terms
    handed: int = 24  # values that callbacks gave one call
    reads: int = 40  # that one concrete value keeps
    last_rows: int = 8  # of a frame, between its RETURN and its EXIT
    rows_between: int = 20_000  # from a definition to its use, searched for a branch that decided
    calls_deep: int = 3  # whose writes count as those of a branch
    computed_bits: int = 512  # of a number that the analysis computes itself
    computed_length: int = 10_000  # characters of a text that the analysis computes itself
    names_in_string: int = 60  # characters of a string that may list names (``"x y"``)
    drawn: int = 6  # characters in which names differ that ``tempfile`` drew; of its 8, all but 1 in 1,000 do
    faults: int = 40  # that one sentence names of a variant that cannot be built
    shebang: int = 512  # bytes of a script's first line


PYTHON_TRACE = PythonTraceLimits()


@dataclass(frozen=True, slots=True)
class PythonPairLimits:
    """How far two recorded Python runs are compared. All chosen; past a bound the answer is unknown."""

    rows: int = 4_000  # of one activation
    targets: int = 40  # rows in which the targets of a loop are bound
    asked_rows: int = 20_000  # of the activations of one function, or of one's calls, that are held against green's
    sequenced: int = 400  # calls of one frame that are aligned as sequences; more by their ordinal
    green_rows: int = 400  # looked at for one question about what did not happen
    altered_rows: int = 400  # of one change, that are held against the other run's
    rows_within: int = 50_000  # one call into code that is not followed
    branches_within: int = 6  # such a call that stand for what it did not do
    reasons: int = 4  # why a value was taken as it was, that one note names
    deep: int = 3  # levels of a value's items that are compared
    intervened: int = 3_000_000  # rows of all runs with a step set otherwise: about ten seconds


PYTHON_PAIR = PythonPairLimits()


@dataclass(frozen=True, slots=True)
class CTraceLimits:
    """How far one recorded C run is read. All chosen; past a bound a value is taken as it was."""

    aggregates: int = 50  # insertions, and calls that return what another call returned
    text: int = 256  # bytes of a path or a number that the C library is given
    contents: int = 64  # copies of copies that are followed to learn what bytes were
    calls: int = 400  # of the C library that may have written one value
    reach: int = 1 << 16  # bytes: how far past a pointer unknown external code is believed to write
    handed: int = (
        4  # words of what code that is not traced is given, in which pointers are looked for
    )
    widest: int = 64  # bytes of a value that is put together from its parts
    copies: int = 40  # made by the C library, that are followed in a row
    inner_branches: int = 8  # of one statement
    influences: int = 12  # branches that are reported for one read, nearest first
    candidates: int = 2_000  # executed branches that may be one, nearest first
    farthest: int = (
        1 << 22
    )  # records from a use to one: two hundred reads of a long run took minutes
    called_back: int = (
        16  # functions, by one call of code that is not traced, whose results it goes by
    )
    deep: int = 4  # calls whose writes count as those of a branch
    format: int = 1_024  # bytes of a format of printf and scanf
    name: int = 60  # characters that are shown: the templates of a parser go on for thousands
    table: int = 1 << 24  # bytes: the contents of a larger one are left unknown
    nested: int = 20  # types that are made of each other
    scopes: int = 200  # within one another
    test_text: int = 1 << 16  # bytes of a script that is the test, for the words that it looks for


C_TRACE = CTraceLimits()


@dataclass(frozen=True, slots=True)
class CPairLimits:
    """How far two recorded C runs are compared. All chosen; past a bound the answer is unknown."""

    statements: int = (
        4_000  # of changes that are evaluated, those of the blocks executed last first
    )
    latest: int = 6  # executions of a block that are looked at: its last ones, and as many as
    spread: int = 6  # this evenly over the window,
    near: int = 1 << 21  # in so many records before its end: a scan a block took a minute
    returned: int = 64  # calls that are walked out of, to one that gave something
    callers: int = 16  # that are walked up, to one that green has as well
    nearest: int = 256  # green block instances before the point of interest
    fields: int = 8  # stores into other fields of the same byte that are looked behind
    intervened: int = 2_000_000_000  # records of all runs with a step set otherwise: ten seconds
    cases: int = 8  # blocks that a switch chooses among for its loop to be an interpreter's
    stretch: int = 1 << 14  # rounds of such a loop that are compared at once
    resuming: int = 4  # rounds in a row that are alike where two runs go on alike,
    resumed: int = 96  # after fewer rounds than this of both were left out,
    resumptions: int = 4_096  # so often in one activation
    outer: int = 2_000  # calls of code that is not traced whose results are compared,
    results: int = 12  # of which so many that gave something else are failures to explain
    text: int = 1 << 16  # bytes of a text that such a call gave
    lent: int = 1 << 12  # bytes behind a pointer that it was given, and as many stores in it
    made: int = 3  # objects of code that is not traced, made of one another, that are looked into
    moves: int = 16  # variables that a value was handed on through
    table: int = 20_000  # lines of a table that are read
    diffed: int = 20_000  # lines of an output; of a longer one only where it first departs
    paired: int = 100  # of a stretch that was replaced, that are paired by how alike they are:
    alike: float = 0.6  # as two lines are that are one written otherwise (difflib's own default)
    notes: int = 12  # of one execution
    reasons: int = 6  # why a value was taken as it was, that one note names
    siblings: int = 16  # calls in a row without a counterpart that are looked past: an interpreter makes millions
    departures: int = 200  # of an output, that are looked at for one to explain
    words: int = 8  # of its first wrong line, behind the first wrong one
    transplanted: int = 60  # levels of a term that is computed with the other version's text
    copies: int = 16  # of copies that are looked through
    drawn: int = 4  # bytes between two that another run has otherwise, which it may have by chance as they were
    levels: int = 16  # branches, or callers, above green's step that are looked at
    nested: int = 200  # instantiations within instantiations that are walked out of
    aligned: int = 400  # calls within calls that are aligned
    printed: int = 4_096  # bytes before a departure at which a printed string may begin


C_PAIR = CPairLimits()
