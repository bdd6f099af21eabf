"""``afterd bench siemens DIR``: the BlockRank paper's experiment on a folder of faulty versions.

The layout of the Siemens programs and of SIR: a golden ``source``, ``versions`` with a folder each,
and ``testplans/universe`` with a test a line (arguments and redirections). A version's tests fail
where its output or exit status is not the golden one's; what is wrong in it is how it differs.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from afterd.errors import UsageError
from afterd.execution.build import diagnostics
from afterd.execution.environment import scrubbed
from afterd.execution.process import Command, ProcessResult
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
_SOURCES = ("source", "source.alt/source.orig")
_VERSIONS = ("versions", "versions.alt/versions.orig")
_UNIVERSES = ("testplans/universe", "testplans.alt/universe")
_C = frozenset([".c", ".cc", ".cpp", ".cxx"])
_HEADERS = frozenset([".h", ".hh", ".hpp"])
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
class Subject:
    """A folder in that layout: where everything is, and its tests."""

    golden: Path
    versions: tuple[Path, ...]
    universe: Path
    tests: tuple[str, ...]
    folder: Path  # where a test's relative paths begin


def subject(directory: Path) -> Subject:
    """What is in the folder; UsageError where something of the layout is missing."""
    golden = _first(directory, _SOURCES, "a folder with the golden version")
    holder = _first(directory, _VERSIONS, "a folder of faulty versions")
    universe = _first(directory, _UNIVERSES, "the list of tests")
    versions = sorted((path for path in holder.iterdir() if path.is_dir()), key=_natural)
    tests = tuple(universe.read_text(errors="replace").splitlines())
    if not versions or not tests:
        missing = "faulty version" if not versions else "test"
        raise UsageError(f"There is no {missing} in {directory}; see docs/benchmarks.md.")
    upwards = any("../inputs" in test for test in tests)  # SIR's scripts run one folder down
    return Subject(golden, tuple(versions), universe, tests, golden if upwards else directory)


def _first(directory: Path, names: tuple[str, ...], what: str) -> Path:
    for name in names:
        if (directory / name).exists():
            return directory / name
    raise UsageError(f"{directory} has no {names[0]} ({what}); see docs/benchmarks.md.")


def _natural(path: Path) -> tuple[int, str]:
    digits = "".join(filter(str.isdigit, path.name))
    return int(digits or 0), path.name


def faulty_versions(
    found: Subject, toolchain: Toolchain, scratch: Path, jobs: int = 1
) -> Iterator[FaultyVersion]:
    """Every version with the spectrum of its tests, in order; ``jobs`` at the same time.

    UsageError where the golden version does not build: a version that does not, has no runs.
    """
    answers = _answers(
        _run(found, found.golden, toolchain, scratch / "golden")[1], len(found.tests)
    )

    def measured(version: Path) -> FaultyVersion:
        root, made = _run(found, version, toolchain, scratch / version.name)
        program = counted_program(ModuleStore(root / "counted"), root / "tree")
        tests = [
            CountedTest(
                name, seen != wanted, processes(made / str(number), 32), f"status {seen[1].strip()}"
            )
            for number, (name, seen, wanted) in enumerate(
                zip(found.tests, _answers(made, len(found.tests)), answers, strict=True), start=1
            )
        ]
        spectrum = spectrum_of_processes(program, tests)
        shutil.rmtree(root)
        faulty = frozenset(_faulty(found.golden, version))
        return FaultyVersion(version.name, spectrum, faulty, program.calls)

    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(measured, found.versions)


def _run(found: Subject, version: Path, toolchain: Toolchain, root: Path) -> tuple[Path, Path]:
    """Build a version with counters and run its tests: its folder, and that of what they made."""
    shutil.copytree(found.golden, root / "tree")
    shutil.copytree(version, root / "tree", dirs_exist_ok=True)
    store = prepared(root / "counted", toolchain)
    names = sorted(path.name for path in (root / "tree").iterdir() if path.suffix in _C)
    compiler = "c++" if any(not name.endswith(".c") for name in names) else "cc"
    line = (compiler, "-w", "-o", "program", *names, "-lm")
    surroundings = environment(store, scrubbed())
    limits = Limits()
    with _ended(run(Command(line, root / "tree", surroundings, merge=True), limits.build)) as built:
        if not built.succeeded:
            first = (diagnostics(built.stdout.text(), 1) or built.describe()).strip()
            raise UsageError(f"The version {version} does not build with clang: {first}.")
    made = root / "made"
    made.mkdir()
    words = (str(root / "tree" / "program"), str(found.universe.absolute()), str(made.absolute()))
    driver = ("sh", "-c", _DRIVER, "sh", *words, str(SECONDS))
    with _ended(run(Command(driver, found.folder.absolute(), scrubbed()), limits.build)):
        return root, made


@contextmanager
def _ended(result: ProcessResult) -> Iterator[ProcessResult]:
    try:
        yield result
    finally:
        result.remove()


def _answers(made: Path, tests: int) -> list[tuple[bytes, str]]:
    """Per test what it printed and how it ended."""
    folders = [made / str(number) for number in range(1, tests + 1)]
    return [((f / "out").read_bytes(), (f / "status").read_text()) for f in folders]


def _faulty(golden: Path, version: Path) -> Iterator[Line]:
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
