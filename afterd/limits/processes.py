"""What other people's programs and afterd's own children may use, and how work is counted."""

from __future__ import annotations

from dataclasses import dataclass

from afterd.limits.sizes import GIB, MIB


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """What one run of somebody else's program may use, all its children included.

    ``timeout`` bounds the whole run, ``silence`` the time without a byte of output (None: any),
    ``output`` the bytes of standard output and error together: each ends the run with a reason of
    its own. ``memory`` is resident memory of all processes together and ``processes`` their number;
    both are watched, because an address-space limit breaks sanitizers and RLIMIT_NPROC counts the
    user's other programs (and nothing at all for root). ``address_space``, ``file_size`` and
    ``open_files`` are the kernel's limits per process. ``grace`` lies between SIGTERM and SIGKILL.
    ``repeats`` is how often a run is made again that somebody else killed. ``supervisor``: memory of what
    watches it, where the kernel counts that too. Of more processes than a ``crowd`` (chosen) the watch gets
    ahead, and must not wait for its turn. Ninja's tests start 1,025 ``processes`` at once.
    """

    timeout: float = 300.0
    starved: float = 10.0  # times ``timeout`` at most, where other programs had the processor
    silence: float | None = None
    output: int = 64 * MIB
    memory: int = 4 * GIB
    address_space: int | None = None
    processes: int = 4096
    crowd: int = 64
    file_size: int = 2 * GIB
    open_files: int = 4096
    grace: float = 2.0
    repeats: int = 3
    supervisor: int = 64 * MIB


@dataclass(frozen=True, slots=True)
class GroupLimits:
    """The control group of a run, in seconds: what was killed in it is waited for until its ``removal``, with so
    long between two looks. Chosen.
    """

    removal: float = 2.0
    look: float = 0.01


GROUP = GroupLimits()


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
class WarmLimits:
    """A warm Python process, in seconds. All chosen."""

    start: float = 20.0  # until it listens
    answer: float = 30.0  # past a run's own until the process is given up
    prepare: float = 600.0  # to import and compile what the test needs
    life: float = 6 * 3600.0  # of one process


WARM = WarmLimits()


@dataclass(frozen=True, slots=True)
class WorkLimits:
    """Work is counted in records of a trace that are looked through, so that it ends at the same place on
    every machine and under every load. About 500 million take a ``second``; what else is done costs as
    many as can be looked through in its time: a ``question`` to a recording, a ``step`` of Python (0.2 ms
    and 1 ms, measured; in a longer trace more), a ``row`` of a Python trace that is indexed, a ``unit`` of
    z3's, a variant whose ``text`` is checked (0.3 µs and 0.05 s, chosen
    after measured ones), a byte of preprocessed text that a ``compiler`` checks for its syntax.

    A byte is 0.47 µs, as measured on 2026-11-23 with zig 0.17.1: 0.32 to 0.56 CPU seconds a megabyte of text
    without line markers, preprocessed and read, over nine files of six projects from 0.1 MB of C to 2.8 MB of C++.
    """

    second: int = 500_000_000
    unit: int = 150
    compiler: int = 235
    text: int = 25_000_000
    question: int = 100_000
    step: int = 500_000
    step_rows: int = 285_000  # of both traces, with which a step costs as much again (astroid: 4.5 million, 17 ms)
    row: int = 3_900  # 8 µs, measured on the same
    predicate: int = 5_000_000_000  # to explain one
    conduct: int = (
        5_000_000_000  # to compare executed changes with their old text: it only orders runs
    )


WORK = WorkLimits()
