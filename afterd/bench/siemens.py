"""``afterd bench siemens DIR``: the BlockRank paper's experiment on a folder of faulty versions.

A version's tests fail where its output or exit status is not the golden one's; what is wrong in it is
how it differs.
"""

from __future__ import annotations

import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from afterd.bench.seeded_faults import differing, expanded
from afterd.bench.siemens_layout import Sources, Subject, Version
from afterd.errors import UsageError
from afterd.execution.build import diagnostics
from afterd.execution.environment import scrubbed
from afterd.execution.process import Command, ProcessResult
from afterd.execution.runners.reading import MAKEFILES, has, has_target, text
from afterd.execution.sandbox import run
from afterd.execution.toolchain import Toolchain
from afterd.limits import Limits
from afterd.localization.examination import Line
from afterd.localization.siemens import FaultyVersion
from afterd.pipeline.ranking.spectrum import CountedTest, spectrum_of_processes
from afterd.tracing.llvm.counters.build import prepared
from afterd.tracing.llvm.counters.counts import processes
from afterd.tracing.llvm.counters.program import counted_program
from afterd.tracing.llvm.modules import ModuleStore
from afterd.tracing.llvm.traced_build import environment

SECONDS = 10  # of one test
_C = frozenset([".c", ".cc", ".cpp", ".cxx"])
_HEADERS = frozenset([".h", ".hh", ".hpp"])
_ELF = b"\x7fELF"
_MOST_TEXT = 256 << 20
# One sandbox for all tests of a version: a supervisor each would take longer than the tests.
_DRIVER = """
program=$1 universe=$2 made=$3 seconds=$4 i=0
while IFS= read -r line || [ -n "$line" ]; do
    i=$((i + 1))
    mkdir "$made/$i"
    AFTERD_COUNTS="$made/$i" timeout "$seconds" sh -c "exec $program $line" \
        > "$made/$i/out" 2> "$made/$i/err" < /dev/null
    echo $? > "$made/$i/status"
done < "$universe"
"""


@dataclass(frozen=True, slots=True)
class _Tested:
    """A program that was built, in ``root / "tree"``, and run: a folder a test in ``made``."""

    root: Path
    tests: tuple[str, ...]

    @property
    def tree(self) -> Path:
        """Its sources."""
        return self.root / "tree"

    @property
    def made(self) -> Path:
        """What the tests made."""
        return self.root / "made"

    def answers(self) -> list[tuple[bytes, str]]:
        """Per test what it printed and how it ended."""
        folders = [self.made / str(number) for number in range(1, len(self.tests) + 1)]
        return [((f / "out").read_bytes(), (f / "status").read_text()) for f in folders]


def faulty_versions(
    found: Subject, toolchain: Toolchain, scratch: Path, jobs: int = 1
) -> Iterator[FaultyVersion]:
    """Every version with the spectrum of its tests, in order; ``jobs`` at the same time.

    UsageError where the golden version does not build: a version that does not, has no runs.
    """
    with ThreadPoolExecutor(jobs) as pool:

        def tested(sources: Sources, tests: tuple[str, ...], name: str) -> _Tested:
            return _run(sources, tests, found.folder, toolchain, scratch / name.replace("/", "-"))

        wanted = {(version.golden, version.tests): version.name for version in found.versions}
        names = [f"golden-{name}" for name in wanted.values()]
        runs = pool.map(tested, *zip(*wanted, strict=True), names)
        goldens = dict(zip(wanted, runs, strict=True))

        def measured(version: Version) -> FaultyVersion:
            tried = tested(version.faulty, version.tests, version.name)
            golden = goldens[version.golden, version.tests]
            program = counted_program(ModuleStore(tried.root / "counted"), tried.tree)
            spectrum = spectrum_of_processes(program, _compared(tried, golden))
            faulty = frozenset(_faulty(version, golden.tree, tried.tree, toolchain))
            shutil.rmtree(tried.root)
            return FaultyVersion(version.name, spectrum, faulty, program.calls)

        yield from pool.map(measured, found.versions)


def _compared(tried: _Tested, golden: _Tested) -> list[CountedTest]:
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


def _run(
    sources: Sources, tests: tuple[str, ...], folder: Path, toolchain: Toolchain, root: Path
) -> _Tested:
    """Build a version with counters and run its tests."""
    tested = _Tested(root, tests)
    sources.lay(tested.tree)
    program = _built(tested.tree, environment(prepared(root / "counted", toolchain), scrubbed()))
    tested.made.mkdir()
    universe = root / "universe"
    universe.write_text("\n".join(tests))
    words = (str(program), str(universe.absolute()), str(tested.made.absolute()))
    driver = ("sh", "-c", _DRIVER, "sh", *words, str(SECONDS))
    with _ended(run(Command(driver, folder.absolute(), scrubbed()), Limits().build)):
        return tested


def _built(tree: Path, surroundings: Mapping[str, str]) -> Path:
    """The program that a makefile makes, or the compiler of all sources; UsageError without one."""
    program = tree / "program"
    names = sorted(path.name for path in tree.iterdir() if path.suffix in _C)
    compiler = "c++" if any(not name.endswith(".c") for name in names) else "cc"
    line = (compiler, "-w", "-I.", "-o", program.name, *names, "-lm")
    if makefile := has(tree, *MAKEFILES):
        line = ("make", *filter(None, [has_target(text(tree / makefile), "build")]))
    before = {path: path.stat().st_mtime_ns for path in _programs(tree)}
    command = Command(line, tree, surroundings, merge=True)
    with _ended(run(command, Limits().build)) as built:
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
def _ended(result: ProcessResult) -> Iterator[ProcessResult]:
    try:
        yield result
    finally:
        result.remove()


def _faulty(version: Version, golden: Path, tree: Path, toolchain: Toolchain) -> Iterable[Line]:
    """The lines that are wrong: those that differ from the golden program's."""
    if version.faulty.seed:
        return differing(_expanded(golden, toolchain), _expanded(tree, toolchain))
    return _differing_texts(golden, version.faulty.folders[-1])


def _expanded(tree: Path, toolchain: Toolchain) -> Mapping[Line, str]:
    """Every source of a tree after the preprocessor."""
    found: dict[Line, str] = {}
    for path in sorted(tree.rglob("*")):
        if path.suffix in _C:
            line = (*toolchain.argv, "-E", "-w", "-I.", str(path.relative_to(tree)))
            with _ended(run(Command(line, tree, scrubbed()), Limits().build)) as result:
                found |= expanded(result.stdout.head(_MOST_TEXT).decode(errors="replace"))
    return found


def _differing_texts(golden: Path, version: Path) -> Iterator[Line]:
    """The lines of a version that differ from the golden one's; around a gap, both its neighbours."""
    for path in sorted(version.iterdir()):
        if path.suffix not in _C | _HEADERS or not (golden / path.name).exists():
            continue
        old = (golden / path.name).read_text(errors="replace").splitlines()
        new = path.read_text(errors="replace").splitlines()
        for tag, _, _, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            lines = (start, start + 1) if tag == "delete" else range(start + 1, end + 1)
            if tag != "equal":
                yield from ((path.name, line) for line in lines)
