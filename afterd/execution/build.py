"""Running the build command in a slot, incrementally, and saying what went wrong."""

from __future__ import annotations

import dataclasses
import re
import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from afterd.execution.build_record import BuildRecord, is_half_built
from afterd.execution.configured_anew import sparing_command
from afterd.execution.configured_defaults import declared_defaults, forget_defaults
from afterd.execution.failures.text import with_relative_paths
from afterd.execution.freshness import Freshness
from afterd.execution.includes import is_compiled, source_files
from afterd.execution.losses import how_lost
from afterd.execution.process import Command, Ending, ProcessResult
from afterd.execution.recipe import Recipe
from afterd.execution.sandbox import Watch, run
from afterd.execution.undeclared_links import forget_programs
from afterd.limits import ProcessLimits
from afterd.vcs.worktree import Slot

_REFUSAL = re.compile(
    r"(?:^|[\s:(])(?:fatal |internal compiler )?error(?:\[\w+\])?:|^CMake Error|^\w*Error: "
    r"|undefined reference to|undefined symbol|multiple definition of|cannot find -l"
    r"|No rule to make target|Traceback \(most recent",
    re.IGNORECASE,
)
_PERHAPS = re.compile(r"not found$|: No such file or directory|\*\*\* ", re.IGNORECASE)
"""What may end a build where nobody refused anything, and may be said in passing."""
_UNLINKED = re.compile(r"^(?:.*\s)?(?P<file>[^\s:]+):(?P<line>\d+): undefined reference to ")
_NO_ERROR = re.compile(r"^checking |^configure: (?!error)|^-- ")
_MISSING = (
    re.compile(r"make(?:\[\d+\])?: (?P<tool>\S+): (?:No such file or directory|Permission denied)"),
    re.compile(r"\b(?:sh|bash|dash)(?:: (?:line )?\d+)?: (?P<tool>[^: ]+): (?:command )?not found"),
    re.compile(r"env: ‘?(?P<tool>[^:’ ]+)’?: No such file or directory"),
    re.compile(r"Can't exec \"(?P<tool>[^\"/]+)\": No such file or directory"),  # Perl's, so Autoconf's
    re.compile(r"no acceptable (?P<tool>C compiler) found"),
    re.compile(r"No (?P<tool>CMAKE_\w+_COMPILER) could be found"),
    re.compile(r"Unknown compiler\(s\): (?P<tool>.*)"),
    re.compile(r"(?P<tool>linker) `\w+` not found"),
    # there, but older than the version asks for, or a library that is not
    re.compile(r"ERROR: (?P<tool>Meson) version is \S+ but project requires:? (?P<least>.*\S)"),
    re.compile(r"(?P<tool>CMake \S+ or higher) is required"),
    re.compile(r"(?P<tool>Autoconf version \S+ or higher) is required"),
    re.compile(r"requires? (?P<tool>go >= \S+) \(running"),
    re.compile(r"requires (?P<tool>rustc \S+ or newer)"),
    re.compile(r"ERROR: Dependency \"(?P<tool>[^\"]+)\" not found"),
    re.compile(r"Invalid version, need '(?P<tool>[^']+)' \['(?P<least>[^']+)'"),
    re.compile(r"ERROR: Program '(?P<tool>[^']+)' not found"),
    re.compile(r"configure: error: Package requirements \((?P<tool>[^)]+)\) were not met"),
)  # fmt: skip

_ENDS = frozenset({Ending.EXITED, Ending.SIGNALLED, Ending.NOT_STARTED})
"""How a run ends that nobody ended."""


@dataclass(frozen=True, slots=True)
class Built:
    """How a build ended.

    ``detail`` is its diagnostics where it failed, ``missing`` the tool that is not there (empty:
    none was missed). ``lasting`` says whether another build of the same tree would end alike: not
    after a time-out, nor where it was ``lost``, killed from outside or by the loss of a tool that it started.
    ``ran`` is False where there was nothing to run. ``cpu``: seconds of CPU.
    """

    ok: bool
    seconds: float = 0.0
    detail: str = ""
    missing: str = ""
    lasting: bool = True
    lost: bool = False
    ran: bool = True
    cpu: float = 0.0


class Builder:
    """Moves one slot from tree to tree and builds it, incrementally.

    What was built with another command or environment, or by a session that did not say how it
    left the slot, is thrown away first; so is what a build left that was cut short, where the next one fails
    upon it. The first move to another tree shows whether this project can
    be built incrementally: where that fails, it is built from nothing, and where it only failed on
    the products of another version, no such failure is believed any more. Where files came or went that is
    another question, which a build that went well does not answer: a list of dependencies that the last one
    made names headers that are gone (nasm's), and a slot may have held nearly the same tree before.
    """

    def __init__(
        self, slot: Slot, scratch: Path | None = None, cancelled: threading.Event | None = None
    ) -> None:
        self.slot = slot
        self._scratch = scratch
        self._cancelled = cancelled
        self._record = BuildRecord.load(slot.path)
        self._freshness = Freshness(slot.path, self._record.shipped)
        self._last: tuple[str, Built] | None = None  # the tree that is built, and how that ended
        self._pure = False  # whether it was built from nothing
        self._compiled: bool | None = None  # whether there is anything to compile; None: not looked
        self._believed: dict[
            bool, bool
        ] = {}  # a failure upon another tree, by whether files came or went

    def build(self, recipe: Recipe, tree: str, *, anew: bool = False) -> Built:
        """Put ``tree`` into the slot and build it: ``anew`` from nothing, unless it stands there so built.

        Raises SpaceError and RepositoryError as the slot does.
        """
        if not recipe.build:
            self._place(recipe, tree)
            return Built(ok=True, ran=False)
        cut_short = self._record.key == recipe.build_key and not self._record.whole
        if anew and not (self._pure and self._last is not None and self._last[0] == tree):
            self._forget_products()
        self._examine_products(recipe)
        before, names = self._built_tree(), self.slot.tracked_paths()
        declared = declared_defaults(self.slot.path, names)
        changed = self.slot.move_to(tree)
        self._generate(recipe)
        if self._last is not None and self._last[0] == tree and not changed:
            return dataclasses.replace(self._last[1], seconds=0.0, ran=False)
        self._last, self._pure = None, not before
        self._freshness.settle(changed, recipe.words)
        if before not in {"", tree}:
            forget_programs(self.slot.path, self.slot.tracked_paths())
        wanted = declared_defaults(self.slot.path, self.slot.tracked_paths())
        forget_defaults(self.slot.path, declared, wanted, recipe.build)
        self._save(recipe, tree, whole=False)
        built = self._run(recipe)
        if cut_short and _is_doubtful(built):
            built = self._from_nothing(recipe, tree, built)
        elif before not in {"", tree}:
            moved = names != self.slot.tracked_paths()
            built = self._upon_another(recipe, tree, built, moved=moved)
        self._save(recipe, tree, whole=built.lasting)
        self._last = (tree, built) if built.lasting else None
        return built

    def test(
        self, command: Command, limits: ProcessLimits, watch: Watch | None = None
    ) -> ProcessResult:
        """Run a test in the slot, which may build too (``make check``): what an ended one left is not trusted."""
        told = bool(self._record.key)
        if told:
            self._write(dataclasses.replace(self._record, testing=True))
        result = run(
            command,
            limits,
            scratch=self._scratch,
            cancelled=self._cancelled,
            watch=watch,
            anew=self._rebuild_all if told else None,
        )
        if told:
            whole = result.ending in _ENDS or not is_half_built(self.slot.path)
            self._last = self._last if whole else None
            whole = whole and self._record.whole
            self._write(dataclasses.replace(self._record, testing=False, whole=whole))
        return result

    def _place(self, recipe: Recipe, tree: str) -> None:
        """The slot moved to a tree, for a test that may build by itself: make must not be fooled there either."""
        if self._record.key:
            self._examine_products(recipe)
        elif self.slot.tree is not None:
            self._freshness.distrust()
        changed = self.slot.move_to(tree)
        self._generate(recipe)
        if self._is_compiled(changed):
            self._freshness.settle(changed, recipe.words)
            self._save(recipe, tree, whole=True)

    def _is_compiled(self, changed: Collection[str]) -> bool:
        """Whether the project holds anything that a compiler turns into objects."""
        if self._compiled is None:
            self._compiled = any(is_compiled(entry.name) for entry in source_files(self.slot.path))
        self._compiled = self._compiled or any(map(is_compiled, changed))
        return self._compiled

    def _built_tree(self) -> str:
        """The tree whose products are in the slot; empty where there are none."""
        return self._record.tree if self._record.shipped is not None else ""

    def _upon_another(self, recipe: Recipe, tree: str, built: Built, *, moved: bool) -> Built:
        """A build upon the products of another tree; the one from nothing where its failure may be theirs.

        ``moved``: the two trees have not the same files.
        """
        believed = self._believed.get(moved)
        if believed or not _is_doubtful(built):
            if believed is None and not moved:
                self._believed[moved] = built.ok
            return built
        anew = self._from_nothing(recipe, tree, built)
        if believed is None and anew.lasting:
            self._believed[moved] = not anew.ok
        return anew

    def _from_nothing(self, recipe: Recipe, tree: str, failed: Built) -> Built:
        """Another build, without what others left in the slot; its time is that of both."""
        self.slot.hard_reset()
        self._generate(recipe)
        self._freshness = Freshness(self.slot.path)
        self._freshness.settle(())
        self._save(recipe, tree, whole=False)
        self._pure = True
        anew = self._run(recipe)
        seconds, cpu = failed.seconds + anew.seconds, failed.cpu + anew.cpu
        return dataclasses.replace(anew, seconds=seconds, cpu=cpu)

    def _generate(self, recipe: Recipe) -> None:
        """Put the files there that git ignores and the project needs, where the tree has none."""
        for name, content in recipe.generated.items():
            path = self.slot.path / name
            if path.parent.is_dir() and not path.exists():
                path.write_text(content, encoding="utf-8")

    def _examine_products(self, recipe: Recipe) -> None:
        """Throw away another build's products; rebuild all that are of a tree nobody wrote down."""
        if self._record.key != recipe.build_key:
            self._forget_products()
        elif self._record.tree != self.slot.tree or not self._record.whole:
            self._freshness.distrust()

    def _forget_products(self) -> None:
        """Throw away all that builds left."""
        if self.slot.tree is not None:
            self.slot.hard_reset()
        self._freshness = Freshness(self.slot.path)
        self._record = BuildRecord()
        self._last = None

    def _rebuild_all(self) -> None:
        """A compiler that is killed may leave half an object, newer than its source."""
        self._freshness.distrust()
        self._freshness.settle(())

    def _save(self, recipe: Recipe, tree: str, *, whole: bool) -> None:
        shipped = self._freshness.shipped or frozenset()
        self._write(BuildRecord(recipe.build_key, tree, shipped, whole))

    def _write(self, record: BuildRecord) -> None:
        self._record = record
        record.save(self.slot.path)

    def _run(self, recipe: Recipe) -> Built:
        result = run(
            sparing_command(recipe.build_in(self.slot.path), self.slot),
            recipe.limits.build,
            scratch=self._scratch,
            cancelled=self._cancelled,
            anew=self._rebuild_all,
        )
        try:
            return _build_outcome(result, recipe, self.slot.path)
        finally:
            result.remove()


def _build_outcome(result: ProcessResult, recipe: Recipe, slot: Path) -> Built:
    """How the build command ended, with its diagnostics, in which files are called as in the repository."""
    if result.succeeded:
        return Built(ok=True, seconds=result.seconds, cpu=result.cpu_seconds)
    text = result.stdout.text()
    text = with_relative_paths(text, map(str, (slot.absolute(), slot.resolve())))
    detail = diagnostics(text, recipe.limits.search.build_diagnostics)
    detail = _with_shown_uses(detail, (slot, slot / recipe.folder))
    if result.ending is not Ending.EXITED or not detail:
        detail = f"the build {result.describe()}\n{detail}".rstrip()
    started = result.ending is not Ending.NOT_STARTED
    lost = bool(how_lost(result))
    return Built(
        ok=False,
        seconds=result.seconds,
        detail=detail,
        missing=missing_tool(text) if started else recipe.build[0],
        lasting=not lost and result.ending in (Ending.EXITED, Ending.NOT_STARTED),
        lost=lost,
    )


def _with_shown_uses(detail: str, folders: Sequence[Path]) -> str:
    """A linker's words, with the lines of which it speaks below them, as a compiler shows them."""
    told: list[str] = []
    for said in detail.splitlines():
        told.append(said)
        if named := _UNLINKED.match(said):
            number = int(named["line"])
            lines = (_line_of(folder / named["file"], number) for folder in folders)
            told += [f"{number:5} | {line}" for line in lines if line][:1]
    return "\n".join(told)


def _line_of(path: Path, number: int) -> str:
    """A line of a file; empty where there is none."""
    try:
        lines = path.read_text(errors="replace").splitlines()
    except OSError:
        return ""
    return lines[number - 1] if 0 < number <= len(lines) else ""


def _is_doubtful(built: Built) -> bool:
    """Whether what was in the slot before may be why it failed."""
    return not built.ok and built.lasting and not built.missing


def diagnostics(text: str, lines: int) -> str:
    """The first ``lines`` lines of ``text`` from its first error on; its end where none is seen."""
    written = text.splitlines()
    for error in (_REFUSAL, _PERHAPS):
        for number, line in enumerate(written):
            if error.search(line) and not _NO_ERROR.search(line):
                return "\n".join(written[number : number + lines])
    return "\n".join(written[-lines:])


def missing_tool(text: str) -> str:
    """The compiler, tool or library whose absence a failed build reports, or that it is too old; empty where it reports
    none.
    """
    for line in text.splitlines():
        for pattern in _MISSING:
            if match := pattern.search(line):
                least = match.groupdict().get("least")
                return f"{match['tool']} {least}" if least else match["tool"]
    return ""
