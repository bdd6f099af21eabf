"""``afterd bench siemens DIR``: the BlockRank paper's experiment on a folder of faulty versions.

A version's tests fail where its output or exit status is not the golden one's; what is wrong in it is
how it differs.
"""

from __future__ import annotations

import math
import shutil
import stat
import threading
from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from afterd.bench.faulty_places import Expanded, differing_lines, expanded_lines, places
from afterd.bench.siemens_layout import Sources, Subject, Version
from afterd.errors import TestError, UsageError
from afterd.execution.build import diagnostics
from afterd.execution.environment import scrubbed_environment
from afterd.execution.process import Command, ProcessResult
from afterd.execution.runners.reading import MAKEFILES, has, has_target, text
from afterd.execution.sandbox import run
from afterd.execution.toolchain import Toolchain
from afterd.limits import Limits
from afterd.localization.examination import Line
from afterd.localization.siemens import FaultyVersion
from afterd.localization.spectrum import Spectrum
from afterd.localization.suite import CountedTest, spectrum_of_processes
from afterd.spectra.c import counted_program, prepared_store, processes
from afterd.trace.c.build.modules import ModuleStore
from afterd.trace.c.build.traced_build import environment

SECONDS = 10  # of one test
_C = frozenset([".c", ".cc", ".cpp", ".cxx"])
_ELF = b"\x7fELF"
_MOST_TEXT = 256 << 20
_BLOCK = 512  # bytes, in which the shell's ulimit counts (POSIX)
# One sandbox for all tests of a version: a supervisor each would take longer than the tests. What a test that
# prints without end (status 153) had printed is not kept: hundreds of them fill a disk. One that loops without
# end is known by its time of the processor, which no other load makes longer.
_DRIVER = """
made=$1 seconds=$2 program=$3 universe=$4 blocks=$5 processor=$6 i=0
ulimit -f "$blocks"
while IFS= read -r line <&3 || [ -n "$line" ]; do
    i=$((i + 1))
    (AFTERD_COUNTS="$made/$i"; export AFTERD_COUNTS
     ulimit -t "$processor"
     exec > "$made/$i/out" 2> "$made/$i/err" < /dev/null 3<&-
     eval "exec timeout $seconds $program $line")
    status=$?
    [ $status -ne 153 ] || : > "$made/$i/out"
    echo $status > "$made/$i/status"
done 3< "$universe"
"""


@dataclass(frozen=True, slots=True)
class _Tested:
    """A program that was built, in ``root / "tree"``, and run: a folder a test in ``made``."""

    root: Path
    tests: tuple[str, ...]
    seconds: float = 0.0  # of the processor, for all tests together

    @property
    def tree(self) -> Path:
        """Its sources."""
        return self.root / "tree"

    @property
    def made(self) -> Path:
        """What the tests made."""
        return self.root / "made"

    def make_folders(self) -> None:
        """Empty ones: what a run that was lost had counted would be counted twice."""
        shutil.rmtree(self.made, ignore_errors=True)
        for number in range(1, len(self.tests) + 1):
            (self.made / str(number)).mkdir(parents=True)

    def answers(self) -> list[tuple[bytes, str]]:
        """Per test what it printed and how it ended."""
        folders = [self.made / str(number) for number in range(1, len(self.tests) + 1)]
        return [((f / "out").read_bytes(), (f / "status").read_text()) for f in folders]


def faulty_versions(
    found: Subject, toolchain: Toolchain, scratch: Path, jobs: int = 1
) -> Generator[FaultyVersion]:
    """Every version with the spectrum of its tests, in order; ``jobs`` at the same time. Closing it ends those
    that are under way.

    UsageError where a version does not build; TestError where its tests were not run to their end.
    """
    ended = threading.Event()
    with ThreadPoolExecutor(jobs) as pool, _set_at_the_end(ended):

        def tested(
            sources: Sources, tests: tuple[str, ...], name: str, seconds: float = SECONDS
        ) -> _Tested:
            wanted = _Wanted(sources, tests, scratch / name.replace("/", "-"), seconds)
            return _run(found, wanted, toolchain, ended)

        wanted = {(version.golden, version.tests): version.name for version in found.versions}
        names = [f"golden-{name}" for name in wanted.values()]
        runs = pool.map(tested, *zip(*wanted, strict=True), names)
        goldens = dict(zip(wanted, runs, strict=True))

        def measured(version: Version) -> FaultyVersion:
            golden = goldens[version.golden, version.tests]
            tried = tested(version.faulty, version.tests, version.name, golden.seconds)
            program = counted_program(ModuleStore(tried.root / "counted"), tried.tree)
            spectrum = spectrum_of_processes(program, _compared_tests(tried, golden))
            faulty = _faulty_lines(golden.tree, tried.tree, spectrum, toolchain, found.flags)
            shutil.rmtree(tried.root)
            return FaultyVersion(version.name, spectrum, faulty, program.calls)

        yield from pool.map(measured, found.versions)


def _compared_tests(tried: _Tested, golden: _Tested) -> list[CountedTest]:
    outcomes = zip(tried.tests, tried.answers(), golden.answers(), strict=True)
    return [
        CountedTest(
            name,
            seen != wanted,
            processes(tried.made / str(number), 32),
            f"status {seen[1].strip()}",
        )
        for number, (name, seen, wanted) in enumerate(outcomes, start=1)
    ]


@contextmanager
def _set_at_the_end(event: threading.Event) -> Iterator[None]:
    try:
        yield
    finally:
        event.set()


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A program to be built and run below ``root``, and how many ``seconds`` of the processor a test may take.

    A test of a faulty version that takes longer than all those of the golden one together hangs.
    """

    sources: Sources
    tests: tuple[str, ...]
    root: Path
    seconds: float


def _run(found: Subject, wanted: _Wanted, toolchain: Toolchain, ended: threading.Event) -> _Tested:
    """Build a version with counters and run its tests, until ``ended`` is set."""
    root, tests = wanted.root, wanted.tests
    tested = _Tested(root, tests)
    wanted.sources.lay(tested.tree)
    surroundings = environment(
        prepared_store(root / "counted", toolchain, scrubbed_environment()), scrubbed_environment()
    )
    program = _built_program(tested.tree, surroundings, found.flags, ended)
    tested.make_folders()
    universe = root / "universe"
    universe.write_text("\n".join(tests))
    limits = Limits().build
    limits = replace(limits, timeout=max(limits.timeout, SECONDS * len(tests)))  # all may hang
    made, seconds, blocks = str(tested.made.absolute()), str(SECONDS), str(limits.output // _BLOCK)
    processor = str(max(1, math.ceil(wanted.seconds)))
    words = (made, seconds, str(program), str(universe.absolute()), blocks, processor)
    driver = Command(
        ("sh", "-c", _DRIVER, "sh", *words), found.folder.absolute(), scrubbed_environment()
    )
    with _ended_runs(run(driver, limits, cancelled=ended, anew=tested.make_folders)) as done:
        if not done.succeeded:
            raise TestError(
                f"The tests of version {root.name} were not run to their end"
                f" (the script that runs them: {done.describe()})."
            )
        return replace(tested, seconds=done.cpu_seconds)


def _built_program(
    tree: Path, surroundings: Mapping[str, str], flags: Sequence[str], ended: threading.Event
) -> Path:
    """The program that a makefile makes, or the compiler of all sources; UsageError without one."""
    program = tree / "program"
    names = sorted(path.name for path in tree.iterdir() if path.suffix in _C)
    compiler = "c++" if any(not name.endswith(".c") for name in names) else "cc"
    line = (compiler, *flags, "-w", "-I.", "-o", program.name, *names, "-lm")
    if makefile := has(tree, *MAKEFILES):
        target = has_target(text(tree / makefile), "build")
        given = (f"CFLAGS={' '.join(flags)}",) if flags else ()
        line = ("make", *given, *filter(None, [target]))
    before = {path: path.stat().st_mtime_ns for path in _programs(tree)}
    command = Command(line, tree, surroundings, merge=True)
    with _ended_runs(run(command, Limits().build, cancelled=ended)) as built:
        if not built.succeeded:
            first = (diagnostics(built.stdout.text(), 1) or built.describe()).strip()
            raise UsageError(f"The version {tree.parent.name} does not build with clang: {first}.")
    made = [path for path in _programs(tree) if before.get(path) != path.stat().st_mtime_ns]
    if len(made) != 1:
        raise UsageError(
            f"The makefile of version {tree.parent.name} makes {len(made)} programs, not one."
        )
    return made[0].absolute()


def _programs(tree: Path) -> list[Path]:
    executable = [f for f in tree.iterdir() if f.is_file() and f.stat().st_mode & stat.S_IXUSR]
    return [path for path in executable if path.read_bytes()[: len(_ELF)] == _ELF]


@contextmanager
def _ended_runs(result: ProcessResult) -> Iterator[ProcessResult]:
    try:
        yield result
    finally:
        result.remove()


def _faulty_lines(
    golden: Path, tree: Path, spectrum: Spectrum, toolchain: Toolchain, flags: Sequence[str]
) -> frozenset[Line]:
    """The lines that are wrong: those that differ from the golden program's, or what stands for them."""
    text = _expanded_sources(tree, toolchain, flags)
    entities = (spectrum.entities[unit].location for unit in spectrum.units)
    executable = {(place.file, place.line) for place in entities}
    return places(
        differing_lines(_expanded_sources(golden, toolchain, flags), text), text, executable
    )


def _expanded_sources(tree: Path, toolchain: Toolchain, flags: Sequence[str]) -> Expanded:
    """Every source of a tree after the preprocessor."""
    found: dict[Line, str] = {}
    for path in sorted(tree.rglob("*")):
        if path.suffix in _C:
            line = (*toolchain.argv, *flags, "-E", "-w", "-I.", str(path.relative_to(tree)))
            with _ended_runs(
                run(Command(line, tree, scrubbed_environment()), Limits().build)
            ) as result:
                found |= expanded_lines(result.stdout.head(_MOST_TEXT).decode(errors="replace"))
    return found
