"""Every budget in one place: how long, how much, how many. Sizes in bytes, times in seconds.

The numbers with a source are measured or quoted in ``references/reliability.md`` (sections 13, 14
and 16); the others are starting points that a configuration may change.
"""

from __future__ import annotations

from dataclasses import dataclass, field

KIB = 1 << 10
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
    """

    timeout: float = 300.0
    silence: float | None = None
    output: int = 64 * MIB
    memory: int = 4 * GIB
    address_space: int | None = None
    processes: int = 1024
    file_size: int = 2 * GIB
    open_files: int = 4096
    grace: float = 2.0


@dataclass(frozen=True, slots=True)
class WorkerLimits:
    """What a long-lived child (solver, LLVM) may use; ``request`` seconds for one answer."""

    request: float = 60.0
    start: float = 30.0
    address_space: int | None = 4 * GIB
    message: int = 512 * MIB


@dataclass(frozen=True, slots=True)
class SolverLimits:
    """z3: ``rlimit`` repeats exactly but is not time, ``timeout`` is soft, ``wall`` is a kill.

    ``wall`` is 1.5 x ``timeout`` + 1 second (reliability.md, section 14). ``memory`` is z3's own
    ``memory_max_size``; the address-space limit of the worker stands above it.
    """

    rlimit: int = 20_000_000
    timeout: float = 10.0
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
    reexecutions: int = 12  # a process, to look further back; and more while they are this short:
    reexecution: float = 10.0  # seconds, for all of a process
    slowdown: float = 60.0  # a traced run may take this many times the test's own time-out
    memory: int = 2 * GIB
    code_generation: float = 300.0  # one LLVM request: parse, instrument, emit


@dataclass(frozen=True, slots=True)
class ChangeLimits:
    """Beyond these a range is looked at file by file, and the answer says so (section 13)."""

    changes: int = 5_000
    lines: int = 200_000
    files: int = 3_000
    file_size: int = 1 * MIB
    tree_files: int = 200_000
    tree_size: int = 2 * GIB


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """How far the search for a root and for the last green revision goes."""

    variants: int = 200
    confirmations: int = 20  # runs of one end at most before it is called flaky or firm
    revisions: int = 500  # how far back a last green revision is looked for
    causes: int = 50
    build_diagnostics: int = 20  # lines kept of a failed build


@dataclass(frozen=True, slots=True)
class Limits:
    """All of them."""

    test: ProcessLimits = field(default_factory=ProcessLimits)
    build: ProcessLimits = field(
        default_factory=lambda: ProcessLimits(timeout=1800.0, memory=8 * GIB, file_size=8 * GIB)
    )
    probe: ProcessLimits = field(
        default_factory=lambda: ProcessLimits(timeout=60.0, output=4 * MIB)
    )
    worker: WorkerLimits = field(default_factory=WorkerLimits)
    solver: SolverLimits = field(default_factory=SolverLimits)
    trace: TraceLimits = field(default_factory=TraceLimits)
    change: ChangeLimits = field(default_factory=ChangeLimits)
    search: SearchLimits = field(default_factory=SearchLimits)
