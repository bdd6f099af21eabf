"""Every budget in one place: how long, how much, how many. Sizes in bytes, times in seconds.

The numbers with a source are measured or quoted in ``references/reliability.md`` (sections 13, 14
and 16); the others are starting points that a configuration may change.
"""

from __future__ import annotations

from dataclasses import dataclass, field

MIB = 1 << 20
GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """What one run of somebody else's program may use, all its children included.

    ``timeout`` bounds the whole run, ``silence`` the time without a byte of output (None: any),
    ``output`` the bytes of standard output and error together: each ends the run with a reason of
    its own. ``memory`` is resident memory of all processes together and ``processes`` their number;
    both are watched, because an address-space limit breaks sanitizers and RLIMIT_NPROC counts the
    user's other programs (and nothing at all for root). ``address_space``, ``file_size`` and
    ``open_files`` are the kernel's limits per process. ``grace`` lies between SIGTERM and SIGKILL.
    ``repeats`` is how often a run is made again that somebody else killed.
    """

    timeout: float = 300.0
    starved: float = 10.0  # times ``timeout`` at most, where other programs had the processor
    silence: float | None = None
    output: int = 64 * MIB
    memory: int = 4 * GIB
    address_space: int | None = None
    processes: int = 1024
    file_size: int = 2 * GIB
    open_files: int = 4096
    grace: float = 2.0
    repeats: int = 3


@dataclass(frozen=True, slots=True)
class WorkerLimits:
    """What a long-lived child (solver, LLVM) may use; ``request`` seconds for one answer.

    ``repeats`` is how often a question is asked again whose child somebody else killed.
    """

    request: float = 60.0
    start: float = 30.0
    address_space: int | None = 4 * GIB
    message: int = 512 * MIB
    repeats: int = 3


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
class TraceLimits:
    """A window of the trace is kept, never all of it (design, section 5): ``window`` events."""

    window: int = 1 << 24
    reexecutions: int = 12  # a process, to look further back; and more while they run through fewer
    reexecuted: int = 2_000_000_000  # records in all: about ten seconds of a program's own work
    slowdown: float = 60.0  # a traced run may take this many times the test's own time-out
    waiting: float = 5.0  # the same, where the test hangs
    beyond: int = 100_000  # records of a run that hangs, past as many as the good one has
    rounds: int = 4_000  # of a loop that does not end, looked back through
    memory: int = 2 * GIB


@dataclass(frozen=True, slots=True)
class WorkLimits:
    """Work is counted in records of a trace that are looked through, so that it ends at the same place on
    every machine and under every load. About 500 million take a ``second``; what else is done costs as
    many as can be looked through in its time: a ``question`` to a recording, a ``step`` of Python (0.2 ms
    and 1 ms, measured), a ``unit`` of z3's, a file that a ``compiler`` checks, a variant whose ``text``
    is (0.3 µs, 0.5 s and 0.05 s, chosen after measured ones).
    """

    second: int = 500_000_000
    unit: int = 150
    compiler: int = 250_000_000
    text: int = 25_000_000
    question: int = 100_000
    step: int = 500_000
    predicate: int = 5_000_000_000  # to explain one
    conduct: int = (
        5_000_000_000  # to compare executed changes with their old text: it only orders runs
    )


WORK = WorkLimits()


@dataclass(frozen=True, slots=True)
class FormulaLimits:
    """What formulas of failing tests may cost: ``inputs`` tests at most, as many as together execute
    ``instructions`` (two in any case); ``seconds`` of CPU time for one technique on all of them.
    """

    inputs: int = 5
    instructions: int = 2_000
    seconds: float = 90.0


@dataclass(frozen=True, slots=True)
class ChangeLimits:
    """Beyond these a range is looked at file by file, and the answer says so (section 13)."""

    changes: int = 5_000
    lines: int = 200_000
    files: int = 3_000
    file_size: int = 64 * MIB
    tree_files: int = 200_000
    tree_size: int = 2 * GIB


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """How far the search for a root and for the last green revision goes."""

    variants: int = 200
    confirmations: int = 20  # runs of one end at most before it is called flaky or firm
    revisions: int = 500  # how far back a last green revision is looked for
    causes: int = 50
    few: int = 3  # tests that are red at both ends and are walked back for without being asked
    cheap_revisions: int = 12  # how far back then
    crashes: int = 20  # times that a suite is gone on with after a test took its process down
    build_diagnostics: int = 20  # lines kept of a failed build
    neighbours: int = 200  # tests of the failing one's file that are run with the answer undone


@dataclass(frozen=True, slots=True)
class VariantTextLimits:
    """What is told of a variant by its text, in languages whose syntax tree-sitter reads."""

    faults: int = 40  # that speak against it
    files: int = 3000  # besides those that changed, that are read for the names they define


VARIANT_TEXT = VariantTextLimits()


@dataclass(frozen=True, slots=True)
class LoopLimits:
    """How many of each thing one round of the loop looks at: steps, changes, runs or builds."""

    # causes
    level: int = (
        12  # predicates of a level that are explained before it is asked whether the root is met
    )
    instances: int = 4  # of one branch statement that are explained: a loop has thousands
    reads: int = (
        200  # of one cause that are asked for indirect influences, nearest to the failure first
    )
    selecting: int = (
        60  # infected steps behind a cause that are walked where another definition was read
    )
    near: int = 3  # branches above a step that are met level by level, as in the paper
    above: int = 300  # that are walked to where green went another way
    omissions: int = 200  # steps that are asked what writer is missing
    letters: int = 3  # and digits of a line of output that is no mere punctuation
    shown: int = 40  # steps of one cause, the root's own first

    # suspects
    looked_at: int = 40  # that are asked before a run whether they can be undone alone
    asked: int = 400  # of all changes of a range that are
    leaders: int = 3  # suspects whose kin are searched first
    otherwise: int = 2  # other failures that are traced
    clashing: int = 12  # changes around old text; of more none is told
    kin: int = 12  # that a name ties together; more mention it where it is the program's vocabulary
    many: int = 24  # stands for those that must go along where few are not enough

    # hypotheses
    listed: int = 5000  # most suspicious changes that are a hypothesis each
    listed_pairs: int = 48  # of which all pairs are
    listed_triples: int = 14
    predicted: int = 60  # that get predictions
    predicted_pairs: int = 12
    foreseen: int = 60  # leading ones of which a set is looked for that is predicted to pass
    cuts: int = (
        24  # places at which what follows each other is cut in two; fewer changes are not cut
    )
    commits: int = 3  # at which the range is cut in two, and as many of which each is undone alone

    # runs
    guided: int = 10  # that hypotheses may ask for in a row; after them evidence has given out
    followed: int = 4  # times in a row that what another failure speaks of is undone as well
    put_back: int = 6  # changes that are put back one by one at once; more are halved first
    put_to_test: int = (
        12  # that went along and are left out one by one; of more, delta debugging asks
    )

    # builds
    few_along: int = 12  # changes that may go along with a suspect alone
    many_along: int = 50  # with any set
    leaner: int = 4  # that may go along and are made fewer at once, by a syntax check each
    complaints: int = 24  # of a compiler that are answered before its answer is given up
    auxiliary: int = 64  # candidates of which prefixes are tried
    builds: int = 90  # of all searches together
    least_builds: int = 30  # of one when the others have used up theirs
    builds_when_told: int = 20  # of one where a compiler tells most of the answer


SEARCH = LoopLimits()


@dataclass(frozen=True, slots=True)
class StoryLimits:
    """How far the story of a root is followed, and tested in so many ``interventions`` (a path of a hundred
    steps costs seven, and one where its change acts), of which each ``runs_a_test`` runs that the answer took
    before allow one: testing adds a quarter to it. ``steps`` that differ are walked from each of so many
    ``failures``; so many ``proofs`` are asked of the solver, each of a ``slice`` of steps. An expression
    with its values put in has ``infix`` characters and so many levels, a text in it ``literal`` ones.
    A line that was taken away is what a statement was where so much of the two is ``alike``.
    """

    failures: int = 4
    steps: int = 3_000
    interventions: int = 8
    runs_a_test: int = 4
    proofs: int = 8
    slice: int = 200
    infix: int = 60
    infix_depth: int = 5
    literal: int = 24
    alike: float = 0.5


STORY = StoryLimits()


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
    faults: int = 40  # that one sentence names of a variant that cannot be built
    shebang: int = 512  # bytes of a script's first line


PYTHON_TRACE = PythonTraceLimits()


@dataclass(frozen=True, slots=True)
class WarmLimits:
    """A warm Python process, in seconds. All chosen."""

    start: float = 20.0  # until it listens
    answer: float = 30.0  # past a run's own until the process is given up
    prepare: float = 600.0  # to import and compile what the test needs
    life: float = 6 * 3600.0  # of one process


WARM = WarmLimits()


@dataclass(frozen=True, slots=True)
class PythonPairLimits:
    """How far two recorded Python runs are compared. All chosen; past a bound the answer is unknown."""

    rows: int = 4_000  # of one activation
    targets: int = 40  # rows in which the targets of a loop are bound
    activations: int = 60  # of one function
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


C_PAIR = CPairLimits()


@dataclass(frozen=True, slots=True)
class LogicLimits:
    """What a formula and a question to a solver may be. All chosen but where a source is named."""

    terms: int = 300_000  # of one problem: about what is sent and read in the default time-out
    depth: int = 100  # levels of a term that are one expression of z3
    integer_bits: int = 1 << 13  # of an integer that is computed: Python prints 4300 digits at most
    float_bits: int = 1024  # of an integer that becomes a float (IEEE 754 binary64)
    shift: int = 1024  # places that an unbounded integer is shifted by in z3
    decimal_bits: int = 1_000  # of an integer sent in decimal: int() and str() refuse 4300 digits
    clauses: int = 400_000  # that one formula may add: what the solver takes within its time
    circuit: int = 3_000_000  # clauses after which products and divisions become points
    unbounded_bits: int = 64  # of an unbounded integer in a circuit
    digit: int = 4  # bits of a word that are compared together
    digits: int = 12  # that are compared so: those in which a table's indices differ
    interned_bits: int = 32  # of a string or an opaque value in a circuit: its number
    mixed: int = 150  # inputs that a core is tried on, mixed of those that were seen
    evaluated: int = 30_000  # constraints (10 µs each) before a core is let pass
    unanswered: int = 2  # checks after which a core is left as it is
    seeds: int = 12  # constraints that are checked first, so that others need no check
    outside: int = 6  # sets that need a side outside of the formula, after which it grows
    trims: int = 1  # times that a core is asked for again
    always: int = 2  # sizes of sets that are looked for whatever smaller ones there are
    minimised: int = 12  # members of a core that is made minimal: of larger ones few go


LOGIC = LogicLimits()


@dataclass(frozen=True, slots=True)
class DemandLimits:
    """How formulas of a whole run grow on demand, in clauses of all of them. All chosen."""

    iterations: int = 60
    factor: int = 3  # by which a formula may grow at once
    small: int = 5_000  # encoded and solved in no time: it need not grow by a factor
    large: int = 20_000  # all its sets are asked for before it grows: growth may not come to an end
    most: int = 1_000_000  # with more of them growth is not tried again in small steps
    short_run: int = 3_000  # instructions; of a longer run an address is the one that it had
    looks: int = 512  # instructions between two looks at the time


DEMAND = DemandLimits()


@dataclass(frozen=True, slots=True)
class GitLimits:
    """How large what git gives may be, beside ChangeLimits."""

    name: int = 255  # bytes of a file's name (NAME_MAX)
    path: int = 4_000  # bytes: PATH_MAX is 4096, the rest is for the slot's own directory
    furthest: int = 1_000  # lines that a hunk may stand away from where its header says (chosen)
    blamed_commits: int = 500  # of a range (chosen)
    blame_questions: int = 200_000  # commits times changed files (chosen)
    blamed_statements: int = (
        2_000  # of one added block, of which each is asked for its commits (chosen)
    )
    remembered: int = 500_000  # entries of trees (100 MB): a flat directory has one tree a variant
    renames: int = 1_000  # git's own diff.renameLimit: similarity costs added times deleted files
    patch: int = (
        1 << 16
    )  # characters of a patch that are kept; no variant is made from this text (chosen)
    binary: int = 8_000  # bytes in which git looks for a NUL
    line: int = 2_000  # bytes: a longer line is data, and comparing it is quadratic (chosen)
    widest: int = (
        400  # lines of a hunk that is searched for similar ones, which is quadratic (chosen)
    )
    parses: int = 64  # of one Python file, to tell which hunks leave its tree (chosen)


GIT = GitLimits()


@dataclass(frozen=True, slots=True)
class ReportLimits:
    """How much a page or a terminal shows. All chosen for a reader, but where a source is named."""

    terminal_message: int = 400  # characters of a failure's message
    terminal_patch: int = 12  # lines of an undone change
    terminal_changes: int = 12  # of the root, and as many auxiliary ones
    terminal_causes: int = 20  # of a tree
    story: int = 12  # lines of the story of a failure
    story_value: int = 44  # characters of one of two values beside each other
    story_was: int = 28  # of what a statement was, shown whole
    story_width: int = 100  # columns of its lines, where the terminal is not narrower
    statement: int = 160  # characters
    value: int = 80  # characters
    progress_width: int = 100  # characters of a line while it works
    suspects: int = 8  # changes that a line of progress names
    named: int = 3  # tests or files that a sentence names
    faults: int = 5  # faults of a trace that an answer names
    story_beside: int = 60  # columns that a story's statements have at least beside their files
    story_known: int = 13  # columns of how a step is known
    bar: int = 24  # characters of a bar of progress
    estimate: int = 10  # tests after which an estimate is more than a guess
    ranked: int = 10  # lines of a ranking
    edge_steps: int = 4  # of a long cause at each end
    repeats: int = 2  # of the same changed statement between them
    page_changes: int = 20  # of the root in Markdown
    page_causes: int = 10  # of a tree in Markdown
    page_message: int = 4_000  # characters of what a test said
    page_name: int = 200  # characters
    page_patch: int = 6_000  # characters
    page: int = 60_000  # characters: GitHub refuses comments over 65,536
    page_explanation: int = 1_500  # characters that one needs to say anything
    comment: int = 4_000  # characters in which a comment can still say what it has to
    verdicts: int = 30  # in a comment
    graph_nodes: int = 8  # of a mermaid graph
    graph_label: int = 40  # characters
    commit: int = 10  # characters of a commit id that a person reads
    gist: int = 16  # hexadecimal digits: one in 2**64 comments would be taken for another
    names: int = 8  # in a list within a sentence
    secret: int = 8  # characters: a shorter secret would blot out ordinary words
    source_context: int = (
        2  # lines of a page's source above and below one that a story went through
    )


REPORT = ReportLimits()


@dataclass(frozen=True, slots=True)
class PictureLimits:
    """The picture of a story's way, in units of its own: a page scales it. Chosen for a reader."""

    width: int = 760
    box: int = 62
    gap: int = 30
    line: int = 18  # between two lines of text
    characters: int = 92  # of a line within a box


PICTURE = PictureLimits()


@dataclass(frozen=True, slots=True)
class ReceivedLimits:
    """What is read of a document that nobody vouches for. Chosen, but where a source is named."""

    document: int = 16 * MIB  # bytes
    tests: int = 1_000
    text: int = 1 << 20  # characters
    path: int = 4_096  # characters (PATH_MAX)
    items: int = 100_000  # of one list
    changes: int = 10_000  # of the root, and commits of one change
    notes: int = 10_000
    words: int = 1_000  # of a command
    votes: int = 100  # for one line
    causes: int = 1_000  # of one cause
    deepest: int = 100  # causes below causes; what is deeper is shown by no comment
    integer: int = 1 << 53  # what JSON readers agree on (RFC 8259, section 6)


RECEIVED = ReceivedLimits()


@dataclass(frozen=True, slots=True)
class Limits:
    """All of them."""

    test: ProcessLimits = field(default_factory=ProcessLimits)
    build: ProcessLimits = field(
        default_factory=lambda: ProcessLimits(timeout=1800.0, memory=8 * GIB, file_size=8 * GIB)
    )
    suite: ProcessLimits = field(  # a test that says nothing for as long as ``test`` allows ends it
        default_factory=lambda: ProcessLimits(timeout=14400.0, output=512 * MIB, memory=12 * GIB)
    )
    probe: ProcessLimits = field(
        default_factory=lambda: ProcessLimits(timeout=60.0, output=4 * MIB)
    )
    worker: WorkerLimits = field(default_factory=WorkerLimits)
    solver: SolverLimits = field(default_factory=SolverLimits)
    trace: TraceLimits = field(default_factory=TraceLimits)
    change: ChangeLimits = field(default_factory=ChangeLimits)
    search: SearchLimits = field(default_factory=SearchLimits)
    story: StoryLimits = field(default_factory=StoryLimits)
