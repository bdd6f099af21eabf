"""The failing test and the green one run with the language's own coverage, where no tracer reads it.

Only the environment is set, so that the project's own commands stay as they are: ``NODE_V8_COVERAGE``,
``GOFLAGS``, ``RUSTFLAGS`` with ``LLVM_PROFILE_FILE``, and what has Ruby and PHP load a file first. The counts
tell which changes were executed and which functions went another way than in green.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path

from afterd.compare.coverage.execution import CoveredExecution
from afterd.compare.coverage.scopes import is_known
from afterd.compare.coverage.variant_text import VariantText
from afterd.errors import ToolchainError, TraceError
from afterd.execution.build import Builder
from afterd.execution.environment import scrubbed_environment
from afterd.execution.process import Command, ProcessResult
from afterd.execution.recipe import Recipe
from afterd.execution.sandbox import run
from afterd.model.change import FileKind
from afterd.pipeline.tracers.variant_files import variant_files
from afterd.trace.coverage.counts import LineCounts, merged_counts, of_go, of_lcov, of_v8
from afterd.vcs.enclosing import symbols
from afterd.vcs.kinds import FileRules, kind_of
from afterd.vcs.tokens import language_of
from afterd.vcs.trees import TreeReader
from afterd.vcs.worktree import Slot
from afterd.workspace import FailingTest, Range, Workspace

_FRAME = re.compile(r"(?P<file>[\w./@+-]+\.(?:[cm]?[jt]sx?|go|rs|rb|php)):(?P<line>\d+)")
_PROGRAM = re.compile(r"\((?P<path>\S*target/\S+/deps/\S+)\)")
_LLVM = (
    "Rust's coverage needs llvm-profdata and llvm-cov of LLVM 19 or newer; install llvm-19 (or"
    " `rustup component add llvm-tools`)."
)
_PCOV = "PHP's coverage needs its extension pcov; install php-pcov."
_COUNTERS = resources.files("afterd.trace.coverage") / "counters"
_LONGEST, _MOST_PLACES = 60, 3
"""Lines of a test that are read for names, from each of so many places where its name stands."""


@dataclass(frozen=True, slots=True)
class Covered:
    """The execution of counts, what its text says against variants, the seconds that both runs took, and
    why a language was not counted.
    """

    execution: CoveredExecution
    text: VariantText
    seconds: float
    uncounted: str = ""


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
        languages, uncounted = languages - {"rust"}, str(error)
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
    execution = CoveredExecution(
        wanted.changes.changes, (bad, green), functions, text, list(_stack(said, root, here))
    )
    variants = VariantText(files_of, reader.read, wanted.everything, wanted.changes.live)
    return Covered(execution, variants, seconds, uncounted)


def _countable(languages: frozenset[str], recipe: Recipe) -> tuple[frozenset[str], str]:
    """Those whose counts can be read here, and what is missing for the others."""
    missing = {}
    if "rust" in languages and next(_llvm_tools(), None) is None:
        missing["rust"] = _LLVM
    if "php" in languages and "pcov" not in _tool(("php", "-m"), Path("/"), recipe)[1].split():
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
        result = run(recipe.test_in(self.slot.path), recipe.limits.test)
        try:
            said = f"{result.stdout.text()}\n{result.stderr.text()}"
            return self._counts(into, root, result), said, root
        finally:
            result.remove()
            shutil.rmtree(into, ignore_errors=True)

    def _counts(self, into: Path, root: Path, result: ProcessResult) -> LineCounts:
        found: dict[str, Mapping[int, int]] = {}
        if "js" in self.languages:
            found.update(of_v8(into / "v8", root))
        if "go" in self.languages:
            found.update(of_go(into / "go", root))
        if "rust" in self.languages:
            found.update(of_lcov(_llvm_lines(into, root, result, self.recipe), root))
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
    if "go" in of:
        added("GOFLAGS", f"-covermode=count -coverpkg=./... -coverprofile={into / 'go'}")
    if "rust" in of:
        added("RUSTFLAGS", "-C instrument-coverage")
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


def _llvm_lines(into: Path, root: Path, result: ProcessResult, recipe: Recipe) -> Iterator[str]:
    """LLVM's line counts of the programs that Cargo ran; the first of its tools that reads them is taken."""
    raw = sorted(into.glob("*.profraw"))
    said = f"{result.stdout.text()}\n{result.stderr.text()}"
    programs = list(dict.fromkeys(root / match["path"] for match in _PROGRAM.finditer(said)))
    if not raw or not programs:
        return
    for tools in _llvm_tools():
        merged = into / "merged"
        merge = (
            str(tools / "llvm-profdata"),
            "merge",
            "-sparse",
            *map(str, raw),
            "-o",
            str(merged),
        )
        if not _tool(merge, into, recipe)[0]:
            continue
        objects = [word for path in programs for word in ("-object", str(path))][1:]
        export = (
            str(tools / "llvm-cov"),
            "export",
            "-format=lcov",
            f"-instr-profile={merged}",
            *objects,
        )
        done, report = _tool(export, into, recipe)
        if done:
            yield from report.splitlines()
            return
    raise ToolchainError(_LLVM)


def _llvm_tools() -> Iterator[Path]:
    """The folders that hold LLVM's tools: rustup's, the system's, newest first, and the path's."""
    home = Path(os.environ.get("RUSTUP_HOME", Path.home() / ".rustup"))
    folders = [*home.glob("toolchains/*/lib/rustlib/*/bin"), *Path("/usr/lib").glob("llvm-*/bin")]
    numbered = sorted(
        folders, key=lambda path: int((re.findall(r"\d+", path.parent.name) or ["99"])[0])
    )
    which = shutil.which("llvm-profdata")
    for folder in (*reversed(numbered), *([Path(which).parent] if which else [])):
        if (folder / "llvm-profdata").exists() and (folder / "llvm-cov").exists():
            yield folder


def _tool(argv: tuple[str, ...], folder: Path, recipe: Recipe) -> tuple[bool, str]:
    result = run(Command(argv, folder, scrubbed_environment()), recipe.limits.build)
    try:
        return result.succeeded, result.stdout.text(recipe.limits.build.output)
    finally:
        result.remove()


def _stack(said: str, root: Path, files: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    """The places of the program that the output names, in its order: the innermost first."""
    seen: dict[tuple[str, int], None] = {}
    for match in _FRAME.finditer(said.replace(f"{root}/", "")):
        path = match["file"].removeprefix("./")
        if path in files and kind_of(path, FileRules()) is FileKind.SOURCE:
            seen.setdefault((path, int(match["line"])))
    return iter(seen)


def _test_text(files: Mapping[str, str], reader: TreeReader, test: FailingTest) -> Iterator[str]:
    """The failing test's own lines, where its name stands in a file."""
    named = re.split(
        r"::|[\s/>]+ ?", test.recipe.test_id.rpartition(" > ")[2] or test.recipe.test_id
    )
    title = test.recipe.test_id.rpartition(" > ")[2]
    wanted = (title if title in test.recipe.test_id and " " in title else named[-1]).encode()
    left = _MOST_PLACES
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
