"""The failing test and the green one run with the language's own coverage, where no tracer reads it.

Only the environment is set, so that the project's own commands stay as they are: ``NODE_V8_COVERAGE`` (and a file
that Node loads first),
``GOFLAGS``, ``RUSTFLAGS`` with ``LLVM_PROFILE_FILE``, ``JAVA_TOOL_OPTIONS``, what has Ruby and PHP load a file
first, and a ``PATH`` on which Swift's programs are asked to count. The counts tell which changes were executed and
which functions went another way than in green.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path

from afterd.compare.coverage.execution import CoveredExecution
from afterd.compare.coverage.scopes import is_known
from afterd.compare.coverage.variant_text import VariantText
from afterd.errors import ToolchainError, TraceError
from afterd.execution.build import Builder
from afterd.execution.environment import NODE_OPTIONS
from afterd.execution.failures.java import java_places, meant_source
from afterd.execution.recipe import Recipe
from afterd.execution.sandbox import run
from afterd.model.change import FileKind
from afterd.pipeline.tracers.counting_tools import tool_said
from afterd.pipeline.tracers.jacoco import LACKS_JACOCO, Jacoco, jacoco
from afterd.pipeline.tracers.llvm_lines import (
    LACKS_LLVM,
    LACKS_SWIFT,
    cargo_programs,
    counted_programs,
    llvm_lines,
    llvm_tools,
    swift_shims,
)
from afterd.pipeline.tracers.variant_files import variant_files
from afterd.trace.coverage.counts import LineCounts, merged_counts, of_go, of_lcov, of_v8
from afterd.vcs.enclosing import symbols
from afterd.vcs.kinds import FileRules, kind_of
from afterd.vcs.tokens import language_of
from afterd.vcs.trees import TreeReader
from afterd.vcs.worktree import Slot
from afterd.workspace import FailingTest, Range, Workspace

_FRAME = re.compile(r"(?P<file>[\w./@+-]+\.(?:[cm]?[jt]sx?|go|rs|rb|php|swift)):(?P<line>\d+)")
_OF_CLASS = re.compile(r"(?P<method>\w+)\([\w.$]+\)|(?:\w+\.)+[A-Z][\w$]*\.(?P<last>\w+)")
"""A test of JUnit's: ``method(package.Class)``, or ``package.Class.method``."""
_JAVA_OPTIONS = "JAVA_TOOL_OPTIONS"
_PCOV = "PHP's coverage needs its extension pcov; install php-pcov."
_COUNTERS = resources.files("afterd.trace.coverage") / "counters"
_LONGEST, _MOST_PLACES = 60, 3
"""Lines of a test that are read for names, from each of so many places where its name stands."""


@dataclass(frozen=True, slots=True)
class Covered:
    """The execution of counts (``counted``: whether there are any), what its text says against variants, the seconds
    that both runs took, and why a language was not counted.
    """

    execution: CoveredExecution
    text: VariantText
    seconds: float
    uncounted: str = ""
    counted: bool = True


def covered_runs(
    workspace: Workspace, wanted: Range, test: FailingTest, counted: frozenset[str]
) -> Covered:
    """Run the test at both ends with the coverage of the languages ``counted``.

    A run that dies may leave no counts (Go's), and a tool that reads them may be missing; then the stack
    and the texts are what is known. Raises TraceError where a version does not build so.
    """
    began = time.monotonic()
    slots = workspace.trace_slots()
    languages, uncounted = _countable(counted, test.recipe)
    green: LineCounts = {}
    try:
        if languages:
            tree = wanted.variants.tree(wanted.everything)
            green, _, _ = _Run(workspace, slots[0], test.recipe, languages).counted(tree)
    except ToolchainError as error:  # the tools that are there cannot read them
        languages, uncounted = languages - {"rust", "swift", "java"}, str(error)
    bad, said, root = _Run(workspace, slots[1], test.recipe, languages).counted(wanted.variants.bad)
    seconds = time.monotonic() - began
    reader = TreeReader(workspace.objects)
    files_of = variant_files(reader, wanted)
    changed = {change.file for change in wanted.changes.live}
    here = files_of(frozenset())
    functions = {
        path: symbols(reader.read(here[path]), language_of(path))
        for path in changed
        if path in here
    }
    text = "\n".join((*_test_text(here, reader, test), said))
    stack = list(_stack(said, root, here))
    counts = (_with_left_lines(bad, stack), green)
    execution = CoveredExecution(wanted.changes.changes, counts, functions, text, stack)
    variants = VariantText(files_of, reader.read, wanted.everything, wanted.changes.live)
    return Covered(execution, variants, seconds, uncounted, any(map(bool, counts)))


def _countable(languages: frozenset[str], recipe: Recipe) -> tuple[frozenset[str], str]:
    """Those whose counts can be read here, and what is missing for the others."""
    missing = {}
    if "rust" in languages and next(llvm_tools(), None) is None:
        missing["rust"] = LACKS_LLVM
    if "swift" in languages and next(llvm_tools(), None) is None:
        missing["swift"] = LACKS_SWIFT
    if "java" in languages and jacoco() is None:
        missing["java"] = LACKS_JACOCO
    if "php" in languages and "pcov" not in tool_said(("php", "-m"), Path("/"), recipe)[1].split():
        missing["php"] = _PCOV
    return languages - missing.keys(), " ".join(missing.values())


@dataclass(frozen=True, slots=True)
class _Run:
    """One version, built and run with counters in a slot of its own."""

    workspace: Workspace
    slot: Slot
    recipe: Recipe
    languages: frozenset[str]

    def counted(self, tree: str) -> tuple[LineCounts, str, Path]:
        """The counts, what the test printed, and where it ran."""
        root, into = (
            self.slot.path.resolve(),
            self.slot.path.with_name(f"{self.slot.path.name}.counts"),
        )
        recipe = replace(self.recipe, extra=_environment(self.recipe, root, into, self.languages))
        into.mkdir(parents=True, exist_ok=True)  # what a build runs may count, too
        built = Builder(self.slot).build(recipe, tree)
        if not built.ok:
            first = next(iter(built.detail.splitlines()), "")
            raise TraceError(f"With coverage the project does not build ({first}).")
        shutil.rmtree(into, ignore_errors=True)
        into.mkdir(parents=True)
        counted = jacoco() if "java" in self.languages else None
        if counted:  # the test alone: a compiler runs in a JVM, too
            options = counted.options(into, recipe.environment(into).get(_JAVA_OPTIONS, ""))
            recipe = replace(recipe, extra={**recipe.extra, _JAVA_OPTIONS: options})
        result = run(recipe.test_in(self.slot.path), recipe.limits.test)
        try:
            said = f"{result.stdout.text()}\n{result.stderr.text()}"
            return self._counts(into, root, said, counted), said, root
        finally:
            result.remove()
            shutil.rmtree(into, ignore_errors=True)

    def _counts(self, into: Path, root: Path, said: str, counted: Jacoco | None) -> LineCounts:
        found: dict[str, Mapping[int, int]] = {}
        if "js" in self.languages:
            found.update(of_v8(into / "v8", root))
        if "go" in self.languages:
            found.update(of_go(into / "go", root))
        if "rust" in self.languages:
            found.update(of_lcov(llvm_lines(into, cargo_programs(root, said), self.recipe), root))
        if "swift" in self.languages:
            found.update(of_lcov(llvm_lines(into, counted_programs(root), self.recipe), root))
        if counted:
            found.update(of_lcov(counted.lines(into, root, self.recipe), root))
        for report in into.glob("*.lcov"):
            found = merged_counts(found, of_lcov(report.read_text().splitlines(), root))
        return found


def _environment(recipe: Recipe, root: Path, into: Path, of: frozenset[str]) -> dict[str, str]:
    """The recipe's own, with what makes each language count the files below ``root`` into a folder."""
    extra, counters = dict(recipe.extra), str(_COUNTERS)
    inherited = recipe.environment(into)

    def added(name: str, more: str) -> None:
        extra[name] = f"{inherited.get(name, '')} {more}".strip()

    if "js" in of:
        extra["NODE_V8_COVERAGE"] = str(into / "v8")
        options = recipe.scrubbed(recipe.extra).get(NODE_OPTIONS, "")
        extra[NODE_OPTIONS] = f'{options} --require "{counters}/afterd_counts.cjs"'.strip()
    if "go" in of:
        added("GOFLAGS", f"-covermode=count -coverpkg=./... -coverprofile={into / 'go'}")
    if "rust" in of:
        added("RUSTFLAGS", "-C instrument-coverage")
        extra["LLVM_PROFILE_FILE"] = str(into / "%p-%8m.profraw")
    if "swift" in of:
        shims, path = into.with_name(f"{into.name}.shims"), inherited.get("PATH", "")
        if swift_shims(shims, path):
            extra["PATH"] = os.pathsep.join([str(shims), path])
        extra["LLVM_PROFILE_FILE"] = str(into / "%p-%8m.profraw")
    if "ruby" in of:
        extra["RUBYLIB"] = os.pathsep.join(filter(None, [counters, inherited.get("RUBYLIB")]))
        added("RUBYOPT", "-rafterd_counts")
    if "php" in of:
        extra["PHP_INI_SCAN_DIR"] = f"{inherited.get('PHP_INI_SCAN_DIR', '')}:{counters}"
        extra |= {"AFTERD_COUNTER": f"{counters}/afterd_counts.php", "AFTERD_COUNTED": str(root)}
    extra["AFTERD_COUNTS"] = str(into)
    extra["RUST_BACKTRACE"] = "1"
    return extra


def _stack(said: str, root: Path, files: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    """The places of the program that the output names, in its order: the innermost first."""
    frames = _FRAME.finditer(said.replace(f"{root}/", ""))
    named = [(frame["file"].removeprefix("./"), int(frame["line"])) for frame in frames]
    of_java = ((meant_source(path, files), line) for path, line in java_places(said))
    for path, line in dict.fromkeys([*named, *of_java]):
        if path in files and kind_of(path, FileRules()) is FileKind.SOURCE:
            yield path, line


def _with_left_lines(counts: LineCounts, stack: Sequence[tuple[str, int]]) -> LineCounts:
    """JaCoCo counts no line that an exception left: those on the failure's stack were executed all the same."""
    left: dict[str, dict[int, int]] = {}
    for file, line in stack:
        if file.endswith(".java") and file in counts:
            left.setdefault(file, {})[line] = 1
    return merged_counts(counts, left) if left else counts


def _test_text(files: Mapping[str, str], reader: TreeReader, test: FailingTest) -> Iterator[str]:
    """The failing test's own lines, where its name stands in a file."""
    left = _MOST_PLACES
    wanted = _test_name(test.recipe.test_id).encode()
    if len(wanted) < 3:
        return
    for path, identifier in files.items():
        if not is_known(path) or left == 0:
            continue
        lines = reader.read(identifier).split(b"\n")
        for number, line in enumerate(lines):
            if wanted in line and left:
                left -= 1
                yield b"\n".join(lines[number : number + _LONGEST]).decode("utf-8", "replace")
                break


def _test_name(test_id: str) -> str:
    """What stands in the test's own text of its id: a title, or the last part of a name."""
    if of_class := _OF_CLASS.fullmatch(test_id):
        return of_class["method"] or of_class["last"]
    title = test_id.rpartition(" > ")[2]
    if title in test_id and " " in title:
        return title
    return re.split(r"::|[\s/>]+ ?", title or test_id)[-1]
